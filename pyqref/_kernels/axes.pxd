# How kernels see an array in C order along one axis: as (outer, channels, inner).

cimport numpy as cnp


cdef inline bint is_in_c_order(x) noexcept:
    return isinstance(x, cnp.ndarray) and (
        cnp.PyArray_CHKFLAGS(<cnp.ndarray> x, cnp.NPY_ARRAY_C_CONTIGUOUS)
    )


cdef inline cnp.npy_intp channels_at(cnp.ndarray x, int axis) except -1:
    """Return the number of channels at an axis; raise if ``x`` has no such axis."""
    cdef int ndim = cnp.PyArray_NDIM(x)
    if not -ndim <= axis < ndim:
        raise IndexError(f"axis must be one of the {ndim} axes, got {axis}")
    return cnp.PyArray_DIM(x, axis if axis >= 0 else axis + ndim)


cdef inline int require_channels(
    cnp.ndarray x, int axis, cnp.ndarray scales, cnp.ndarray zero_points
) except -1:
    """A scale and a zero point for each channel: more would be read and written elsewhere."""
    cdef cnp.npy_intp channels = channels_at(x, axis)
    if not cnp.PyArray_SIZE(scales) == cnp.PyArray_SIZE(zero_points) == channels:
        raise ValueError(
            f"axis {axis} has {channels} channels, got {scales.size} scales and "
            f"{zero_points.size} zero points"
        )
    return 0


cdef inline Py_ssize_t elements_per_channel(cnp.ndarray x, int axis) noexcept:
    """``inner`` where the channels are at ``axis``."""
    cdef Py_ssize_t inner = 1
    cdef int ndim = cnp.PyArray_NDIM(x)
    cdef int each
    for each in range(1 + (axis if axis >= 0 else axis + ndim), ndim):
        inner *= cnp.PyArray_DIM(x, each)
    return inner
