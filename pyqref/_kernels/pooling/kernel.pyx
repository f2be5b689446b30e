"""Pooling of bytes."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t
from pyqref._kernels._outputs cimport output_for_images
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.images cimport Image, has_channels_outside, image_of
from pyqref._kernels.pooling.across cimport mean_of_channels
from pyqref._kernels.pooling.along cimport mean_of_lines
from pyqref._kernels.pooling.largest cimport max_task
from pyqref._kernels.pooling.pool cimport FINISHED, WORK_PER_THREAD, Pool, Window, cut_lines


cdef cnp.ndarray output_for_windows(cnp.ndarray x, out, geometry):
    """``out``, or a new array where that is None; None if ``x`` are no bytes in either order."""
    cdef cnp.npy_intp[3] sizes
    cdef tuple wanted = (<tuple> geometry)[5]
    cdef int axis
    if x is None or len(wanted) != cnp.PyArray_NDIM(x) - 2 or len(wanted) > 3:
        return None
    if cnp.PyArray_ITEMSIZE(x) != 1:
        return None
    for axis in range(len(wanted)):
        sizes[axis] = wanted[axis]
    return output_for_images(x, out, sizes, True)


cdef double set_pool(Pool* p, cnp.ndarray x, cnp.ndarray out, geometry) except -1:
    """Fill in all but what means need; gives the bytes under all windows."""
    # An image of one pixel lies in both orders, many results of it in one.
    cdef bint outside = has_channels_outside(x) and has_channels_outside(out)
    cdef Image image = image_of(x, outside)
    cdef tuple windows = <tuple> geometry   # a NamedTuple, or a plain one
    cdef cnp.ndarray planes = windows[0]
    cdef cnp.ndarray rows = windows[1]
    cdef cnp.ndarray columns = windows[2]
    p.x, p.out = <const uint8_t*> cnp.PyArray_DATA(x), <uint8_t*> cnp.PyArray_DATA(out)
    p.is_signed = cnp.PyArray_TYPE(x) == cnp.NPY_INT8
    p.lower = -128 if p.is_signed else 0
    p.upper = p.lower + 255
    p.outer, p.inner = image.outer, image.inner
    p.depth, p.height, p.width = image.size[0], image.size[1], image.size[2]
    image = image_of(out, outside)
    p.out_depth, p.out_height, p.out_width = image.size[0], image.size[1], image.size[2]
    p.planes = <const Window*> cnp.PyArray_DATA(planes)
    p.rows = <const Window*> cnp.PyArray_DATA(rows)
    p.columns = <const Window*> cnp.PyArray_DATA(columns)
    p.step_z, p.step_y, p.step_x = windows[3]
    return <double> p.outer * p.inner * <Py_ssize_t> windows[4]


def max_pool(cnp.ndarray x, out, geometry, int n_threads):
    """``eq-quantized-max-pool`` of ``x (batch, channels, *size)``; ``out`` lies in the same order.

    Where that is None, into a new array. Returns the result, or None if ``x`` are no bytes, or
    neither in C order nor with their channels last.

    ``geometry``: the windows along the depth, the height and the width, int64 ``(outputs, 3)``,
    where each begins and ends inside the image; the distances of their taps; how many of these all
    windows of one channel have.
    """
    cdef Pool p
    cdef double work
    cdef cnp.ndarray result = output_for_windows(x, out, geometry)
    if result is None:
        return None
    work = set_pool(&p, x, result, geometry)
    with nogil:
        n_threads = useful_threads(work, WORK_PER_THREAD, n_threads)
        parallel_for(max_task, &p, cut_lines(&p, work, n_threads), n_threads)
    return result


def mean_pool(
    cnp.ndarray x, out, geometry, int32_t zero_point, int64_t divisor, bint by_reciprocal,
    float scale, int n_threads,
):
    """``eq-quantized-mean`` of the windows of ``x``, all as in max_pool.

    The third number of a window is its part of the divisor, unless ``divisor`` is not 0. None, too,
    where the geometry says that 32 bits do not hold the sums.
    """
    cdef Pool p
    cdef double work
    cdef cnp.ndarray result
    cdef bint has_buffer = (<tuple> geometry)[7]
    if not has_buffer:
        return None
    result = output_for_windows(x, out, geometry)
    if result is None:
        return None
    work = set_pool(&p, x, result, geometry)
    p.zero_point, p.divisor = zero_point, divisor
    p.by_reciprocal, p.scale = by_reciprocal, scale
    work += <double> FINISHED * cnp.PyArray_SIZE(result)
    n_threads = useful_threads(work, WORK_PER_THREAD, n_threads)
    p.sums, p.divisors = NULL, NULL
    if p.inner == 1:
        mean_of_lines(&p, work, (<tuple> geometry)[6], n_threads)
    else:
        mean_of_channels(&p, work, (<tuple> geometry)[6], n_threads)
    return result
