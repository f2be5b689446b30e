# How kernels see images of bytes (batch, channels, *size), which lie in one of two orders.

cimport numpy as cnp

# Arrays in memory: (outer, *size, inner).
cdef struct Image:
    Py_ssize_t outer, inner
    Py_ssize_t[3] size              # depth, height, width; 1 where an axis is not there


cdef inline bint has_channels_outside(cnp.ndarray x) noexcept:
    return cnp.PyArray_CHKFLAGS(x, cnp.NPY_ARRAY_C_CONTIGUOUS)


cdef inline Image image_of(cnp.ndarray x, bint channels_outside) noexcept:
    """Channels are one with the batch in C order, else they are innermost."""
    cdef Image image
    cdef int ndim = cnp.PyArray_NDIM(x)
    cdef int axis
    image.outer, image.inner = cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 1)
    if channels_outside:
        image.outer, image.inner = image.outer * image.inner, 1
    for axis in range(3):
        image.size[axis] = cnp.PyArray_DIM(x, ndim - 3 + axis) if ndim - 3 + axis >= 2 else 1
    return image
