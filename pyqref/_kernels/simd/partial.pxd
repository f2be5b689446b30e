# The first n lanes of a vector, where fewer numbers than it has lanes are left: see partial.h.

from libc.stdint cimport uint8_t
from pyqref._kernels.simd.primitives cimport f32v, i32v

cdef extern from "simd/partial.h":
    f32v load_n_f32(const float* source, Py_ssize_t n) nogil
    void store_n_f32(float* target, f32v value, Py_ssize_t n) nogil
    i32v load_n_bytes(const uint8_t* source, bint is_signed, Py_ssize_t n) nogil
    void store_n_low_bytes(uint8_t* target, i32v value, Py_ssize_t n) nogil
