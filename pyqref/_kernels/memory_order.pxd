# In which order the elements of an array lie, as layout.py has it.

cimport numpy as cnp


cdef inline bint lies_in_c_order(cnp.ndarray x) noexcept:
    return cnp.PyArray_CHKFLAGS(x, cnp.NPY_ARRAY_C_CONTIGUOUS)


cdef inline int nth_of_channels_last(int place, int ndim) noexcept:
    """The axis that varies fastest (``place`` 0), second fastest, ..."""
    return 1 if place == 0 else 0 if place == ndim - 1 else ndim - place


cdef inline bint has_channels_innermost(cnp.ndarray x) noexcept:
    """Return True if the elements lie without gaps, axis 1 fastest and the others in order."""
    cdef int ndim = cnp.PyArray_NDIM(x)
    cdef cnp.npy_intp expected = cnp.PyArray_ITEMSIZE(x)
    cdef int place, axis
    for place in range(ndim):
        axis = nth_of_channels_last(place, ndim)
        if cnp.PyArray_DIM(x, axis) != 1 and cnp.PyArray_STRIDE(x, axis) != expected:
            return False
        expected *= cnp.PyArray_DIM(x, axis)
    return True


cdef inline bint has_channels_last(cnp.ndarray x) noexcept:
    """Return True if an image or a volume lies without gaps, with its channels innermost."""
    return 4 <= cnp.PyArray_NDIM(x) <= 5 and has_channels_innermost(x)


cdef inline bint lies_in_result_order(cnp.ndarray x) noexcept:
    return lies_in_c_order(x) or has_channels_last(x)


cdef inline bint has_no_gaps(cnp.ndarray x) noexcept:
    """Return True if the elements leave no gaps in memory, whichever axis varies fastest."""
    cdef cnp.npy_intp expected = cnp.PyArray_ITEMSIZE(x)
    cdef int ndim = cnp.PyArray_NDIM(x)
    cdef int found = 0
    cdef int before = -1
    cdef int axis
    if lies_in_c_order(x):
        return True
    while found != before:          # each time, one more axis at least
        before = found
        for axis in range(ndim):
            if cnp.PyArray_DIM(x, axis) != 1 and cnp.PyArray_STRIDE(x, axis) == expected:
                expected *= cnp.PyArray_DIM(x, axis)
                found += 1
    return expected == cnp.PyArray_NBYTES(x)


cdef inline bint are_plain(cnp.ndarray x) noexcept:
    """Return True if elements are aligned, and their bytes in the order of this machine."""
    return cnp.PyArray_CHKFLAGS(x, cnp.NPY_ARRAY_ALIGNED) and cnp.PyArray_ISNOTSWAPPED(x)
