# Memory for results: see memory.pyx.

cimport numpy as cnp

# A block of whole pages that is in use.
cdef class Pages:
    cdef void* first
    cdef size_t size                # of the block; the result may be smaller

# An array without gaps, in C order by default, whose elements are not set.
cdef cnp.ndarray buffer(
    int ndim, cnp.npy_intp* sizes, cnp.dtype dtype, cnp.npy_intp* strides=*
)
