# Numbers that lie apart, side by side, with zeros beside them.

from libc.stdint cimport uint8_t
from libc.string cimport memset

cdef extern from "simd/copy.h":
    void copy_bytes(uint8_t* target, const uint8_t* source, Py_ssize_t n) nogil

cdef enum:
    WORK_PER_THREAD = 1 << 16       # elements that are worth a thread
    PRODUCTS_PER_THREAD = 1 << 20   # multiplications that are


cdef inline void copy_floats(float* target, const float* source, Py_ssize_t n) noexcept nogil:
    copy_bytes(<uint8_t*> target, <const uint8_t*> source, n * sizeof(float))


cdef inline void gather(
    float* target, const float* source, Py_ssize_t stride, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t i
    if stride == 1:
        copy_floats(target, source, n)
    elif stride == 2:
        for i in range(n):
            target[i] = source[2 * i]
    else:
        for i in range(n):
            target[i] = source[stride * i]


cdef inline Py_ssize_t places_before(
    Py_ssize_t end, Py_ssize_t stride, Py_ssize_t n
) noexcept nogil:
    """Count the places ``0, stride, ...``, at most ``n``, that lie before ``end``."""
    if end <= 0:
        return 0
    if stride == 1:                 # without a division
        return min(end, n)
    return min((end + stride - 1) // stride, n)


cdef inline void zero_floats(float* target, Py_ssize_t n) noexcept nogil:
    if n == 1:                      # most padding
        target[0] = 0
    elif n > 0:
        memset(target, 0, n * sizeof(float))
