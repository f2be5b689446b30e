# Small results, whose arrays are used again: included by _layout.pyx.
#
# NumPy takes as long to make an array and to free it as a kernel takes to write a thousand numbers
# there. So the last ones are remembered; one that nobody else holds is the next result of its shape
# and type.

cdef enum:
    SMALL = 1 << 12             # bytes of such a result at most
    SLOTS = 16                  # results that are remembered: each has one slot where it can be

cdef PyObject* remembered[SLOTS]


cdef inline int slot_of(cnp.npy_intp size, cnp.dtype dtype) noexcept:
    """Its top bits differ where any bits of the size or the type do, mostly."""
    return (<uint32_t> size * <uint32_t> 2654435769 + <uint32_t> dtype.num * 40503) >> 28


cdef bint is_as_made(
    PyArrayObject_fields* x, int ndim, const cnp.npy_intp* sizes, cnp.dtype dtype
) noexcept:
    """Whether an array is as one of this shape and type is made: users may have changed it."""
    cdef cnp.npy_intp stride = dtype.itemsize
    cdef int axis = ndim
    if (
        x.nd != ndim or x.descr != <cnp.PyArray_Descr*> dtype or x.base != NULL
        or x.weakreflist != NULL
        or x.flags | cnp.NPY_ARRAY_F_CONTIGUOUS
        != cnp.NPY_ARRAY_CARRAY | cnp.NPY_ARRAY_F_CONTIGUOUS | cnp.NPY_ARRAY_OWNDATA
    ):
        return False
    while axis:
        axis -= 1
        if x.dimensions[axis] != sizes[axis] or x.strides[axis] != stride:
            return False
        stride *= sizes[axis]
    return True


cdef cnp.ndarray small_room(
    int ndim, cnp.npy_intp* sizes, cnp.dtype dtype, cnp.npy_intp size
):
    """An array of so many bytes in C order."""
    cdef int slot = slot_of(size, dtype)
    cdef PyObject* before = remembered[slot]
    cdef cnp.ndarray result
    if before != NULL and Py_REFCNT(before) == 1:
        if is_as_made(<PyArrayObject_fields*> before, ndim, sizes, dtype):
            return <cnp.ndarray> before
    result = new_array(ndim, sizes, dtype, NULL)
    before = remembered[slot]
    Py_INCREF(result)
    remembered[slot] = <PyObject*> result
    Py_XDECREF(before)
    return result
