# Images that lie in any order, and squares of their bytes, transposed.

cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t

cdef extern from "qconv/transpose_channels.h":
    void transpose_block(
        const uint8_t* source, Py_ssize_t source_step, int channels, uint8_t* target,
        Py_ssize_t target_step, int exact,
    ) nogil

cdef enum:
    TRANSPOSED = 16                 # pixels, and channels at most, of a block


# Images as they lie. Steps are bytes from one to the next: of images, channels, depth, height,
# width; of dimensions with one place, or none, they mean nothing.
cdef struct Source:
    const uint8_t* x
    Py_ssize_t batch, channels
    int64_t[3] size
    Py_ssize_t[5] step
    bint is_real                # float32, with what makes bytes of them
    float inverse, offset


cdef inline void look_at(Source* s, cnp.ndarray x) except *:
    cdef int missing = 5 - cnp.PyArray_NDIM(x)
    cdef int axis
    if not cnp.PyArray_ISNOTSWAPPED(x):
        raise TypeError(f"x must be in the byte order of this machine, got {x.dtype.str}")
    s.x, s.batch = <const uint8_t*> cnp.PyArray_DATA(x), cnp.PyArray_DIM(x, 0)
    s.channels = cnp.PyArray_DIM(x, 1)
    s.step[0], s.step[1] = cnp.PyArray_STRIDE(x, 0), cnp.PyArray_STRIDE(x, 1)
    for axis in range(3):
        s.size[axis] = 1
        s.step[2 + axis] = 0
        if axis >= missing:
            s.size[axis] = cnp.PyArray_DIM(x, 2 + axis - missing)
            s.step[2 + axis] = cnp.PyArray_STRIDE(x, 2 + axis - missing)


cdef inline bint has_channels_last(const Source* s) noexcept nogil:
    """Return True if bytes lie pixel after pixel with channels innermost, or if there are none."""
    cdef Py_ssize_t expected = s.channels
    cdef int axis
    if s.is_real:
        return False
    if s.channels * s.size[0] * s.size[1] * s.size[2] == 0:
        return True
    if s.channels > 1 and s.step[1] != 1:
        return False
    for axis in range(2, -1, -1):
        if s.size[axis] > 1 and s.step[2 + axis] != expected:
            return False
        expected *= s.size[axis]
    return s.batch == 1 or s.step[0] == expected
