"""Resizing of bytes, and of real numbers."""

cimport numpy as cnp
from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.stdint cimport int64_t
from pyqref._kernels._outputs cimport (
    CHANNELS_LAST, OF_INT8, OF_UINT8, output_for_images, require_output,
)
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.memory cimport buffer
from pyqref._kernels.resize.places cimport (
    COMPUTED_PER_THREAD, COPIED_PER_THREAD, NUMBERS_A_TASK, NUMBERS_PER_THREAD, Resize,
    bilinear_task, fill_sizes, nearest_task,
)
from pyqref._kernels.resize.weights cimport Resample, resample_task


def nearest(
    cnp.ndarray x, cnp.ndarray planes, cnp.ndarray rows, cnp.ndarray columns, out, int n_threads
):
    """Copy from ``x (batch, channels, *size)``, its channels last, what each result names.

    Into ``out``, or where that is None into a new array. Returns the result, or None if ``x`` are
    no bytes or their channels are not last.
    """
    cdef Resize r
    cdef cnp.npy_intp[3] sizes
    cdef cnp.ndarray result
    sizes[0], sizes[1] = cnp.PyArray_SIZE(planes), cnp.PyArray_SIZE(rows)
    sizes[2] = cnp.PyArray_SIZE(columns)
    # Of images that have no depth, or no height either, those are left out.
    result = output_for_images(x, out, sizes + 5 - cnp.PyArray_NDIM(x), False)
    if result is None or cnp.PyArray_ITEMSIZE(x) != 1:
        return None
    fill_sizes(&r, x, result)
    r.planes = <const int64_t*> cnp.PyArray_DATA(planes)
    r.rows = <const int64_t*> cnp.PyArray_DATA(rows)
    r.columns = <const int64_t*> cnp.PyArray_DATA(columns)
    n_threads = useful_threads(<double> cnp.PyArray_SIZE(result), COPIED_PER_THREAD, n_threads)
    with nogil:
        parallel_for(
            nearest_task, &r, cnp.PyArray_DIM(x, 0) * r.out_size[0] * r.out_size[1], n_threads
        )
    return result


def bilinear(
    cnp.ndarray x, bint is_signed, float zero_point, float lower, float upper, cnp.ndarray rows,
    cnp.ndarray down, cnp.ndarray columns, cnp.ndarray along, cnp.ndarray out, int n_threads,
):
    """Interpolate in ``x (batch, channels[, 1], height, width)``, its channels last in memory.

    ``rows`` and ``columns`` hold the first source of every result, then the second of every one.
    """
    cdef Resize r
    cdef cnp.npy_intp[5] sizes
    cdef int ndim = cnp.PyArray_NDIM(x)
    sizes[0], sizes[1], sizes[2] = cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 1), 1
    sizes[ndim - 2] = cnp.PyArray_SIZE(rows) // 2
    sizes[ndim - 1] = cnp.PyArray_SIZE(columns) // 2
    require_output("out", out, OF_INT8 if is_signed else OF_UINT8, ndim, sizes, CHANNELS_LAST)
    fill_sizes(&r, x, out)
    r.rows = <const int64_t*> cnp.PyArray_DATA(rows)
    r.columns = <const int64_t*> cnp.PyArray_DATA(columns)
    r.down, r.along = <const float*> cnp.PyArray_DATA(down), <const float*> cnp.PyArray_DATA(along)
    r.is_signed, r.zero_point, r.lower, r.upper = is_signed, zero_point, lower, upper
    n_threads = useful_threads(<double> cnp.PyArray_SIZE(out), COMPUTED_PER_THREAD, n_threads)
    with nogil:
        parallel_for(bilinear_task, &r, cnp.PyArray_DIM(x, 0) * r.out_size[1], n_threads)


def resample(
    cnp.ndarray x, cnp.ndarray rows, down, cnp.ndarray columns, along, int n_threads,
):
    """``x (planes, height, width, inner)`` of float32 in C order, resized into a new array.

    ``rows (out_height, taps)`` and ``columns (taps, out_width)``, or ``(out_width, taps)`` where
    inner is more than 1, are places in ``x``, int64; ``down`` and ``along`` their weights, or None
    where there is one tap, which is copied. Where there are fewer taps, -1 follows them.
    """
    cdef Resample r
    cdef Py_ssize_t i
    cdef cnp.npy_intp[4] shape
    cdef cnp.ndarray result
    cdef bint across = cnp.PyArray_DIM(x, 3) > 1
    shape[0], shape[1], shape[3] = cnp.PyArray_DIM(x, 0), len(rows), cnp.PyArray_DIM(x, 3)
    shape[2] = cnp.PyArray_DIM(columns, 0 if across else 1)
    result = buffer(4, shape, x.descr)
    r.x, r.out = <const float*> cnp.PyArray_DATA(x), <float*> cnp.PyArray_DATA(result)
    r.height, r.width, r.inner = cnp.PyArray_DIM(x, 1), cnp.PyArray_DIM(x, 2), shape[3]
    r.out_height, r.out_width, r.lines = shape[1], shape[2], shape[0] * shape[1]
    r.rows, r.row_taps = <const int64_t*> cnp.PyArray_DATA(rows), cnp.PyArray_DIM(rows, 1)
    r.columns = <const int64_t*> cnp.PyArray_DATA(columns)
    r.column_taps = cnp.PyArray_DIM(columns, 1 if across else 0)
    r.down = NULL if down is None else <const float*> cnp.PyArray_DATA(<cnp.ndarray> down)
    r.along = NULL if along is None else <const float*> cnp.PyArray_DATA(<cnp.ndarray> along)
    r.has_fewer = False
    if not across:
        for i in range((r.column_taps - 1) * r.out_width, r.column_taps * r.out_width):
            r.has_fewer |= r.columns[i] < 0
    r.lines_per_task = max(
        NUMBERS_A_TASK // max(r.out_width * r.inner, <Py_ssize_t> 1), <Py_ssize_t> 1
    )
    n_threads = useful_threads(
        <double> cnp.PyArray_SIZE(result), NUMBERS_PER_THREAD, n_threads
    )
    r.scratch = <float*> malloc(max(n_threads, 1) * r.width * r.inner * sizeof(float))
    if r.scratch == NULL:
        raise MemoryError()
    with nogil:
        parallel_for(
            resample_task, &r, (r.lines + r.lines_per_task - 1) // r.lines_per_task, n_threads
        )
        free(r.scratch)
    return result
