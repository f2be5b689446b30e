# Results that a caller brings: included by _layout.pyx. Whatever a kernel would write beside, or
# write wrongly, is refused here, and nowhere else.


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
    """Whether elements of equal index are equally many elements behind the first one."""
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
