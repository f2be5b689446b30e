# Elementary functions of a vector of float32, which functions.h defines over the primitives.

from pyqref._kernels.simd.primitives cimport f32v

cdef extern from "simd/functions.h":
    f32v exp_of(f32v x) nogil
    f32v sigmoid_of(f32v x) nogil
    f32v tanh_of(f32v x) nogil
