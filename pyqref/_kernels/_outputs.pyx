"""Arrays for results: where they lie in memory, and what a caller may bring for one.

On a small activation a kernel is done sooner than NumPy's functions are called from Python.
"""

cimport numpy as cnp
from cpython.ref cimport Py_INCREF

import numpy as np

from pyqref._kernels.memory cimport buffer
from pyqref._kernels.memory_order cimport (
    are_plain, has_channels_innermost, has_channels_last, has_no_gaps, lies_in_c_order,
    lies_in_result_order, nth_of_channels_last,
)

cdef extern from "numpy/arrayobject.h":
    cnp.ndarray PyArray_NewLikeArray(
        cnp.ndarray prototype, cnp.NPY_ORDER order, cnp.PyArray_Descr* stolen, int subok
    )
    cnp.ndarray PyArray_NewFromDescr(
        type subtype, cnp.PyArray_Descr* stolen, int ndim, const cnp.npy_intp* shape,
        const cnp.npy_intp* strides, void* data, int flags, object parent
    )

cnp.import_array()

cdef enum:
    MOST_AXES = 32
    MOST_OF_NUMPY = 64

cdef type np_ndarray = np.ndarray


cdef cnp.ndarray buffer_with_channels_last(int ndim, cnp.npy_intp* sizes, cnp.dtype dtype):
    """Return a new array in which axis 1 varies fastest and the other axes follow in order."""
    cdef cnp.npy_intp[MOST_AXES] strides
    cdef cnp.npy_intp stride = dtype.itemsize
    cdef int place, axis
    for place in range(ndim):
        axis = nth_of_channels_last(place, ndim)
        strides[axis] = stride
        stride *= sizes[axis]
    return buffer(ndim, sizes, dtype, strides)


def empty(tuple shape, cnp.dtype dtype):
    """Return an array as ``np.empty`` does, but begin a large one at a cache line.

    Kernels take up to half as much time again to write real numbers to an array that begins
    elsewhere. Besides, a very large array gets pages that were used before (``memory.pyx``).
    """
    cdef cnp.npy_intp[MOST_AXES] sizes
    cdef int ndim = len(shape)
    cdef int axis
    if ndim > MOST_AXES:
        return np.empty(shape, dtype)
    for axis in range(ndim):
        sizes[axis] = shape[axis]
    return buffer(ndim, sizes, dtype)


cpdef cnp.ndarray output_like(cnp.ndarray x, cnp.dtype dtype):
    """Return an array as ``np.empty_like`` does, but begin a large one at a cache line."""
    if lies_in_c_order(x):
        return buffer(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), dtype)
    if has_channels_last(x):
        return buffer_with_channels_last(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), dtype)
    Py_INCREF(dtype)
    return PyArray_NewLikeArray(x, cnp.NPY_KEEPORDER, <cnp.PyArray_Descr*> dtype, 0)


def expanded(cnp.ndarray x, tuple shape):
    """Return a view of ``x`` with axes of length 1 repeated, and new ones in front; not read-only.

    ``np.broadcast_to`` takes ten times as long.
    """
    cdef cnp.npy_intp[MOST_OF_NUMPY] sizes
    cdef cnp.npy_intp[MOST_OF_NUMPY] strides
    cdef cnp.ndarray result
    cdef cnp.dtype dtype = x.descr
    cdef int ndim = len(shape)
    cdef int extra = ndim - cnp.PyArray_NDIM(x)
    cdef int axis
    if extra < 0 or ndim > MOST_OF_NUMPY:
        raise ValueError(f"an array of shape {(<object> x).shape} cannot be expanded to {shape}")
    for axis in range(ndim):
        sizes[axis], strides[axis] = shape[axis], 0
        if axis >= extra and cnp.PyArray_DIM(x, axis - extra) == sizes[axis]:
            strides[axis] = cnp.PyArray_STRIDE(x, axis - extra)
        elif axis >= extra and cnp.PyArray_DIM(x, axis - extra) != 1:
            raise ValueError(
                f"an array of shape {(<object> x).shape} cannot be expanded to {shape}"
            )
    Py_INCREF(dtype)
    result = PyArray_NewFromDescr(
        np_ndarray, <cnp.PyArray_Descr*> dtype, ndim, sizes, strides, cnp.PyArray_DATA(x),
        cnp.PyArray_FLAGS(x) & cnp.NPY_ARRAY_WRITEABLE, None,
    )
    cnp.set_array_base(result, x)
    return result


cdef bint has_plain_elements(x):
    return isinstance(x, cnp.ndarray) and are_plain(x)


# Results that a caller brings. Whatever a kernel would write beside, or write wrongly, is refused
# here, and nowhere else.

cdef inline int kind_of(cnp.dtype dtype) noexcept:
    """The one of Kinds that such elements are, or 0."""
    cdef char kind = dtype.kind
    cdef Py_ssize_t itemsize = dtype.itemsize
    if kind == b"u" or kind == b"i":
        if itemsize == 1:
            return OF_UINT8 if kind == b"u" else OF_INT8
        if kind == b"i":
            return OF_INT32 if itemsize == 4 else OF_INT64 if itemsize == 8 else 0
    if kind == b"f" and itemsize == 4:
        return OF_FLOAT32
    return OF_BOOL if kind == b"b" else 0


cdef str names_of(int kinds):
    names = ("uint8", "int8", "int32", "int64", "float32", "bool")
    return " or ".join(name for bit, name in enumerate(names) if kinds >> bit & 1)


cdef bint lies_beside(cnp.ndarray x, cnp.ndarray other) noexcept:
    """Return True if equal indices lie equally many elements behind the first in both arrays."""
    cdef int axis
    if cnp.PyArray_SIZE(x) == 0:
        return True
    for axis in range(cnp.PyArray_NDIM(x)):
        if cnp.PyArray_DIM(x, axis) != 1 and (
            cnp.PyArray_STRIDE(x, axis) * cnp.PyArray_ITEMSIZE(other)
            != cnp.PyArray_STRIDE(other, axis) * cnp.PyArray_ITEMSIZE(x)
        ):
            return False
    return True


cdef bint lies_in(cnp.ndarray x, Order order) noexcept:
    cdef int last = cnp.PyArray_NDIM(x) - 1
    cdef Py_ssize_t itemsize = cnp.PyArray_ITEMSIZE(x)
    if cnp.PyArray_SIZE(x) == 0:
        return True
    if order == ANY_ORDER:
        return has_no_gaps(x)
    if order == CHANNELS_LAST:
        return has_channels_innermost(x)
    if order == ROWS_APART:
        return last == 1 and cnp.PyArray_STRIDE(x, 0) % itemsize == 0 and (
            cnp.PyArray_DIM(x, 1) <= 1 or cnp.PyArray_STRIDE(x, 1) == itemsize
        )
    return lies_in_c_order(x)


cdef int require_elements(str name, out, int kinds) except -1:
    """An array of one of these types, in memory that a kernel may write to."""
    if not isinstance(out, cnp.ndarray):
        raise TypeError(f"{name} must be an array, got {type(out).__name__}")
    cdef cnp.ndarray array = out
    if not kind_of(array.descr) & kinds:
        raise TypeError(f"{name} must be of {names_of(kinds)}, got {array.dtype}")
    if not cnp.PyArray_ISNOTSWAPPED(array):
        raise TypeError(f"{name} must be in the byte order of this machine, got {array.dtype.str}")
    if not cnp.PyArray_ISWRITEABLE(array):
        raise ValueError(f"{name} must be writeable, got a read-only array")
    if not cnp.PyArray_CHKFLAGS(array, cnp.NPY_ARRAY_ALIGNED):
        raise ValueError(f"{name} must be aligned, got an array at an odd address")
    return 0


cdef int require_output(
    str name, out, int kinds, int ndim, const cnp.npy_intp* sizes, Order order=C_ORDER
) except -1:
    cdef cnp.ndarray array
    cdef int axis
    cdef bint fits
    require_elements(name, out, kinds)
    array = out
    fits = cnp.PyArray_NDIM(array) == ndim
    for axis in range(ndim if fits else 0):
        fits = fits and cnp.PyArray_DIM(array, axis) == sizes[axis]
    if not fits:
        wanted = tuple([sizes[axis] for axis in range(ndim)])
        raise ValueError(f"{name} must be of shape {wanted}, got {(<object> array).shape}")
    if not lies_in(array, order):
        asked = (
            "in C order", "with its channels last", "without gaps",
            "row by row, each in one piece",
        )[<int> order]
        raise ValueError(f"{name} must lie {asked}, got strides {(<object> array).strides}")
    return 0


cdef int require_output_beside(str name, out, int kinds, cnp.ndarray x) except -1:
    require_elements(name, out, kinds)
    if not cnp.PyArray_SAMESHAPE(out, x):
        raise ValueError(f"{name} must be of shape {(<object> x).shape}, got {out.shape}")
    if not lies_beside(x, out):
        raise ValueError(
            f"{name} must lie in memory as the input does, of strides {(<object> x).strides}, "
            f"got {out.strides}"
        )
    return 0


cdef int require_rows(
    str name, out, int kinds, Py_ssize_t rows, Py_ssize_t columns
) except -1:
    cdef cnp.ndarray array
    cdef int last
    require_elements(name, out, kinds)
    array = out
    last = cnp.PyArray_NDIM(array) - 1
    if last < 0 or cnp.PyArray_DIM(array, last) != columns or (
        cnp.PyArray_SIZE(array) != rows * columns
    ):
        raise ValueError(
            f"{name} must be {rows} rows of {columns}, got shape {(<object> array).shape}"
        )
    if not lies_in_c_order(array):
        raise ValueError(f"{name} must lie in C order, got strides {(<object> array).strides}")
    return 0


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
    return buffer_with_channels_last(ndim, shape, array.dtype)
