# How kernels see an array in C order along one axis: as (outer, channels, inner).

cimport numpy as cnp


cdef inline bint is_in_c_order(x) noexcept:
    return isinstance(x, cnp.ndarray) and (
        cnp.PyArray_CHKFLAGS(<cnp.ndarray> x, cnp.NPY_ARRAY_C_CONTIGUOUS)
    )


cdef inline Py_ssize_t elements_per_channel(cnp.ndarray x, int axis) noexcept:
    """``inner`` where the channels are at ``axis``."""
    cdef Py_ssize_t inner = 1
    cdef int ndim = cnp.PyArray_NDIM(x)
    cdef int each
    for each in range(1 + (axis if axis >= 0 else axis + ndim), ndim):
        inner *= cnp.PyArray_DIM(x, each)
    return inner
