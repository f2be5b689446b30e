# Pooling of bytes: written once, included by one module an instruction set.

cimport numpy as cnp
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset
from pyqref._kernels._parallel cimport LINE, parallel_for, useful_threads
from pyqref._kernels.simd.primitives cimport *

ctypedef const uint8_t* Bytes

cdef extern from "pooling/bytes.h":
    ctypedef struct Taps "taps_t":
        const uint8_t* first
        Py_ssize_t rows, row_step, columns, column_step
    enum:
        LISTED
    Py_ssize_t list_taps(const Taps* taps, Py_ssize_t start, Bytes* list) nogil
    int32_t sum_u8(const uint8_t* x, Py_ssize_t n) nogil
    int32_t sum_s8(const int8_t* x, Py_ssize_t n) nogil

cdef enum:
    WORK_PER_THREAD = 1 << 20   # bytes under all windows that are worth a thread
    ACROSS = 4                  # vectors of channels that are averaged together
    QUADS = 16 * LANES_MAX      # bytes of their quads


# Where a window lies along one axis, and its part of the divisor.
cdef struct Window:
    int64_t first, last, counted


# An image (outer, height, width, inner) of bytes and the windows that walk over it.
cdef struct Pool:
    const uint8_t* x
    uint8_t* out
    Py_ssize_t height, width, inner, outer
    const Window* rows
    const Window* columns
    Py_ssize_t out_height, out_width
    int64_t step_y, step_x          # between the taps of a window
    bint is_signed, by_reciprocal
    int32_t zero_point, lower, upper
    float scale
    int64_t divisor                 # 0: that of the window
    int32_t* sums                   # where there is one channel: `longest` a thread
    float* divisors
    Py_ssize_t longest


cdef inline const uint8_t* line_of(const Pool* p, Py_ssize_t index, int64_t y) noexcept nogil:
    return p.x + ((index // p.out_height * p.height + y) * p.width) * p.inner


# Where the bytes of the first channel are under some taps; three places are left for one more, or
# to fill up quads.
cdef struct List:
    Bytes[LISTED + 3] taps
    Py_ssize_t length, columns      # columns: of the window that is listed as a whole, or -1


cdef inline void fill_list(List* list, const Taps* taps, Py_ssize_t start) noexcept nogil:
    """List the taps from number ``start`` on; those of the next window of a line are moved."""
    cdef Py_ssize_t step, i
    if start == 0 and taps.columns == list.columns:
        step = taps.first - list.taps[0]
        for i in range(list.length):
            list.taps[i] += step
        return
    list.length = list_taps(taps, start, list.taps)
    list.columns = taps.columns if list.length == taps.rows * taps.columns else -1


include "largest.pxi"
include "mean.pxi"


cdef void set_pool(
    Pool* p, cnp.ndarray x, cnp.ndarray rows, cnp.ndarray columns, cnp.ndarray out
) noexcept:
    p.x, p.out = <const uint8_t*> cnp.PyArray_DATA(x), <uint8_t*> cnp.PyArray_DATA(out)
    p.is_signed = cnp.PyArray_TYPE(x) == cnp.NPY_INT8
    p.lower = -128 if p.is_signed else 0
    p.upper = p.lower + 255
    p.outer, p.height = cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 1)
    p.width, p.inner = cnp.PyArray_DIM(x, 2), cnp.PyArray_DIM(x, 3)
    p.out_height, p.out_width = cnp.PyArray_DIM(out, 1), cnp.PyArray_DIM(out, 2)
    p.rows = <const Window*> cnp.PyArray_DATA(rows)
    p.columns = <const Window*> cnp.PyArray_DATA(columns)


def max_pool(
    cnp.ndarray x, cnp.ndarray rows, cnp.ndarray columns, tuple steps, cnp.ndarray out,
    double taps, int n_threads,
):
    """``eq-quantized-max-pool`` of ``x (outer, height, width, inner)``, contiguous.

    ``rows`` and ``columns`` are int64 ``(outputs, 3)``: where each window begins and ends
    inside the image; ``steps`` the distances of its taps. ``taps`` counts those of all windows of
    one plane.
    """
    cdef Pool p
    set_pool(&p, x, rows, columns, out)
    p.step_y, p.step_x = steps
    with nogil:
        n_threads = useful_threads(p.outer * p.inner * taps, WORK_PER_THREAD, n_threads)
        parallel_for(max_task, &p, p.outer * p.out_height, n_threads)


def mean_pool(
    cnp.ndarray x, cnp.ndarray rows, cnp.ndarray columns, int32_t zero_point, int64_t divisor,
    bint by_reciprocal, float scale, double taps, cnp.ndarray out, int n_threads,
):
    """``eq-quantized-mean`` of the windows of ``x``, which are given as in max_pool.

    The third number of a window is its part of the divisor, unless ``divisor`` is not 0.
    """
    cdef Pool p
    set_pool(&p, x, rows, columns, out)
    p.zero_point, p.divisor = zero_point, divisor
    p.by_reciprocal, p.scale = by_reciprocal, scale
    p.sums, p.divisors = NULL, NULL
    n_threads = useful_threads(p.outer * p.inner * taps, WORK_PER_THREAD, n_threads)
    if p.inner == 1:
        p.longest = (p.out_width + LANES_MAX + 15) // 16 * 16
        p.sums = <int32_t*> calloc(p.longest * n_threads, sizeof(int32_t))
        p.divisors = <float*> calloc(p.longest * n_threads, sizeof(float))
        if p.sums == NULL or p.divisors == NULL:
            free(p.sums)
            free(p.divisors)
            raise MemoryError()
    with nogil:
        parallel_for(mean_task, &p, p.outer * p.out_height, n_threads)
        free(p.sums)
        free(p.divisors)
