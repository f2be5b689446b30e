"""The functions of :mod:`.layout`, compiled: see there what they do.

On a small activation a kernel is done sooner than NumPy's functions are called from Python.
"""

cimport numpy as cnp
from cpython.ref cimport Py_INCREF

import numpy as np

from pyqref._kernels import layout

from pyqref._kernels.memory cimport buffer

cdef extern from "numpy/arrayobject.h":
    cnp.ndarray PyArray_NewLikeArray(
        cnp.ndarray prototype, cnp.NPY_ORDER order, cnp.PyArray_Descr* stolen, int subok
    )

cnp.import_array()


cdef enum:
    MOST_AXES = 32


cdef cnp.ndarray room_with_channels_last(int ndim, cnp.npy_intp* sizes, cnp.dtype dtype):
    """The same with axis 1 varying fastest, the others in order."""
    cdef cnp.npy_intp[MOST_AXES] strides
    cdef cnp.npy_intp stride = dtype.itemsize
    cdef int place, axis
    for place in range(ndim):
        axis = nth_of_channels_last(place, ndim)
        strides[axis] = stride
        stride *= sizes[axis]
    return buffer(ndim, sizes, dtype, strides)


def empty(tuple shape, cnp.dtype dtype):
    cdef cnp.npy_intp[MOST_AXES] sizes
    cdef int ndim = len(shape)
    cdef int axis
    if ndim > MOST_AXES:
        return layout.empty(shape, dtype)
    for axis in range(ndim):
        sizes[axis] = shape[axis]
    return buffer(ndim, sizes, dtype)


cdef inline bint lies_in_c_order(cnp.ndarray x) noexcept:
    return cnp.PyArray_CHKFLAGS(x, cnp.NPY_ARRAY_C_CONTIGUOUS)


cdef inline int nth_of_channels_last(int place, int ndim) noexcept:
    """The axis that varies fastest (``place`` 0), second fastest, ..."""
    return 1 if place == 0 else 0 if place == ndim - 1 else ndim - place


cdef bint has_channels_innermost(cnp.ndarray x) noexcept:
    """Whether the elements lie without gaps, axis 1 varying fastest, the others in order."""
    cdef int ndim = cnp.PyArray_NDIM(x)
    cdef cnp.npy_intp expected = cnp.PyArray_ITEMSIZE(x)
    cdef int place, axis
    for place in range(ndim):
        axis = nth_of_channels_last(place, ndim)
        if cnp.PyArray_DIM(x, axis) != 1 and cnp.PyArray_STRIDE(x, axis) != expected:
            return False
        expected *= cnp.PyArray_DIM(x, axis)
    return True


cdef bint has_channels_last(cnp.ndarray x) noexcept:
    """The same of an image or a volume."""
    return 4 <= cnp.PyArray_NDIM(x) <= 5 and has_channels_innermost(x)


cdef bint lies_in_result_order(cnp.ndarray x) noexcept:
    return lies_in_c_order(x) or has_channels_last(x)


cdef bint has_no_gaps(cnp.ndarray x) noexcept:
    """Whether each element lies right behind another one, whichever axis varies fastest."""
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


cdef bint lie_alike(cnp.ndarray first, cnp.ndarray other) noexcept:
    cdef int axis
    if first is other or (lies_in_c_order(first) and lies_in_c_order(other)):
        return True
    for axis in range(cnp.PyArray_NDIM(first)):
        if cnp.PyArray_STRIDE(first, axis) != cnp.PyArray_STRIDE(other, axis):
            return False
    return True


cdef inline bint are_plain(cnp.ndarray x) noexcept:
    """Whether elements are aligned, and their bytes in the order of this machine."""
    return cnp.PyArray_CHKFLAGS(x, cnp.NPY_ARRAY_ALIGNED) and cnp.PyArray_ISNOTSWAPPED(x)


def contiguous(x):
    cdef cnp.ndarray array = np.asarray(x) if type(x) is not np.ndarray else x
    if lies_in_c_order(array) and are_plain(array):
        return array
    return layout.copied(array, "C")


cpdef cnp.ndarray dense(cnp.ndarray x):
    if are_plain(x) and has_no_gaps(x):
        return x
    return layout.copied(x, "K")


def in_result_order(x):
    cdef cnp.ndarray array = np.asarray(x) if type(x) is not np.ndarray else x
    if are_plain(array) and lies_in_result_order(array):
        return array
    return layout.copied(array, "C")


def in_one_order(arrays):
    cdef cnp.ndarray array
    cdef bint in_c_order = True
    cdef bint last = True
    for array in arrays:
        in_c_order = in_c_order and lies_in_c_order(array)
        last = last and has_channels_last(array)
    return in_c_order or last


def laid_as(cnp.ndarray first, cnp.ndarray other):
    if lie_alike(first, other):
        return other
    copy = np.empty_like(first, other.dtype)
    np.copyto(copy, other)
    return copy


cdef cnp.ndarray output_as(cnp.ndarray x, cnp.dtype dtype):
    return buffer(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), dtype)


cpdef cnp.ndarray output_like(cnp.ndarray x, dtype):
    cdef cnp.dtype kind = dtype if isinstance(dtype, cnp.dtype) else np.dtype(dtype)
    if lies_in_c_order(x):
        return buffer(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), kind)
    if has_channels_last(x):
        return room_with_channels_last(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), kind)
    Py_INCREF(kind)
    return PyArray_NewLikeArray(x, cnp.NPY_KEEPORDER, <cnp.PyArray_Descr*> kind, 0)


cdef bint has_plain_elements(x):
    return isinstance(x, cnp.ndarray) and are_plain(x)


include "outputs.pxi"


cdef cnp.ndarray output_beside(x, int of, out, int kinds, bint any_order):
    cdef cnp.ndarray array
    cdef cnp.dtype dtype
    if not has_plain_elements(x):
        return None
    array = x
    dtype = array.descr
    if not kind_of(dtype) & of:
        return None
    if not (has_no_gaps(array) if any_order else lies_in_result_order(array)):
        return None
    if isinstance(out, cnp.ndarray):
        require_output_beside("out", out, kinds, array)
        return out
    if out is not None:
        dtype = out if isinstance(out, cnp.dtype) else np.dtype(out)
    return output_like(array, dtype) if kind_of(dtype) & kinds else None


cdef cnp.ndarray output_for_rows(x, out, int kinds, Py_ssize_t columns):
    cdef cnp.npy_intp[MOST_AXES] shape
    cdef cnp.ndarray array
    cdef cnp.dtype dtype
    cdef Py_ssize_t rows = 1
    cdef int ndim, axis
    if not has_plain_elements(x):
        return None
    array = x
    ndim = cnp.PyArray_NDIM(array)
    if not 1 <= ndim <= MOST_AXES:
        return None
    for axis in range(ndim - 1):
        shape[axis] = cnp.PyArray_DIM(array, axis)
        rows *= shape[axis]
    if isinstance(out, cnp.ndarray):
        require_rows("out", out, kinds, rows, columns)
        return out
    if not lies_in_c_order(array):
        return None
    shape[ndim - 1] = columns
    dtype = array.descr if out is None else out
    return buffer(ndim, shape, dtype) if kind_of(dtype) & kinds else None


cdef cnp.ndarray output_for_images(x, out, const cnp.npy_intp* sizes, bint either):
    cdef cnp.npy_intp[MOST_AXES] shape
    cdef cnp.ndarray array
    cdef int ndim, axis
    cdef bint in_c_order, last
    if not has_plain_elements(x):
        return None
    array = x
    ndim = cnp.PyArray_NDIM(array)
    if not 3 <= ndim <= 5:
        return None
    in_c_order = either and lies_in_c_order(array)
    if not in_c_order and not has_channels_innermost(array):
        return None
    shape[0], shape[1] = cnp.PyArray_DIM(array, 0), cnp.PyArray_DIM(array, 1)
    for axis in range(2, ndim):
        shape[axis] = sizes[axis - 2]
    if isinstance(out, cnp.ndarray):
        # What lies in both orders may have a result in either.
        last = not in_c_order or has_channels_innermost(array)
        if last and in_c_order and lies_in_c_order(out):
            last = False
        require_output(
            "out", out, kind_of(array.descr), ndim, shape, CHANNELS_LAST if last else C_ORDER
        )
        return out
    if in_c_order:
        return buffer(ndim, shape, array.dtype)
    return room_with_channels_last(ndim, shape, array.dtype)


def images(cnp.ndarray q, tuple sizes, bint either=True):
    cdef cnp.npy_intp[MOST_AXES] shape
    cdef cnp.ndarray result
    cdef int axis
    if not 3 <= cnp.PyArray_NDIM(q) <= 5 or len(sizes) != cnp.PyArray_NDIM(q) - 2:
        return layout.images(q, sizes, either)
    for axis in range(cnp.PyArray_NDIM(q) - 2):
        shape[axis] = sizes[axis]
    result = output_for_images(q, None, shape, either)
    return layout.images(q, sizes, either) if result is None else (q, result)


def side_by_side(tuple arrays, int axis):
    cdef cnp.npy_intp[MOST_AXES] shape
    cdef cnp.npy_intp[MOST_AXES] order
    cdef cnp.npy_intp[MOST_AXES] back
    cdef cnp.ndarray array, out
    cdef int ndim
    cdef cnp.npy_intp total = 0
    cdef cnp.npy_intp rows = 1
    cdef bint in_c_order = True
    cdef bint last = True
    cdef int place
    cdef cnp.PyArray_Dims dims
    if not arrays:
        return layout.side_by_side(arrays, axis)
    array = arrays[0]
    ndim = cnp.PyArray_NDIM(array)
    for array in arrays:
        if cnp.PyArray_NDIM(array) != ndim or not 0 <= axis < ndim:
            return layout.side_by_side(arrays, axis)
        in_c_order = in_c_order and lies_in_c_order(array)
        last = last and has_channels_last(array)
        total += cnp.PyArray_DIM(array, axis)
    if ndim > MOST_AXES or not (in_c_order or last):
        return layout.side_by_side(arrays, axis)
    for place in range(ndim):
        order[place] = place
        if place > 0 and not in_c_order:
            order[place] = place + 1 if place + 1 < ndim else 1
        back[order[place]] = place
        shape[place] = total if order[place] == axis else cnp.PyArray_DIM(array, order[place])
    out = buffer(ndim, shape, array.dtype)
    for place in range(back[axis]):
        rows *= shape[place]
    if cnp.PyArray_SIZE(out) == 0:
        rows = 0
    if in_c_order:
        return arrays, out, rows
    dims.len, dims.ptr = ndim, order
    arrays = tuple([cnp.PyArray_Transpose(each, &dims) for each in arrays])
    dims.ptr = back
    return arrays, cnp.PyArray_Transpose(out, &dims), rows


def elements_per_channel(cnp.ndarray x, int axis):
    cdef cnp.npy_intp inner = 1
    cdef int ndim = cnp.PyArray_NDIM(x)
    cdef int each
    if not -ndim <= axis < ndim:
        return layout.elements_per_channel(x, axis)
    for each in range(1 + (axis if axis >= 0 else axis + ndim), ndim):
        inner *= cnp.PyArray_DIM(x, each)
    return inner
