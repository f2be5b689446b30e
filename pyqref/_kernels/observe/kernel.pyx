"""Ranges of observed data."""

cimport numpy as cnp
from cpython.mem cimport PyMem_RawCalloc as calloc, PyMem_RawFree as free
from libc.float cimport FLT_MAX
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.lane_sums cimport PART_OF_SUM
from pyqref._kernels.observe.channels cimport ranges_of
from pyqref._kernels.observe.counts cimport (
    COUNTS_PER_TASK, COUNTS_PER_THREAD, FEW, MOST_BINS_OF_TABLES, TABLES, Counting, add_tables,
    count_task,
)
from pyqref._kernels.observe.dynamic_qparams cimport choose_qparams, moved_average
from pyqref._kernels.observe.joined cimport are_alike, extremes_of, floats_like
from pyqref._kernels.observe.magnitudes cimport Magnitudes, magnitudes_task
from pyqref._kernels.observe.placed cimport Placing, part_of_row_task, row_task
from pyqref._kernels.observe.range cimport join_ranges
from pyqref._kernels.observe.seen cimport Seen, find_range
from pyqref._kernels.observe.staircase cimport Staircase, error_task
from pyqref._kernels.simd.primitives cimport *


def histogram(cnp.ndarray x, float first, float last, kept, int n_threads):
    """Count float32 ``x``, contiguous, fewer than 2^31, and add the counts to ``kept``.

    Return the sums, and the smallest and largest of ``x`` as ``min_max`` does. If they lie outside
    of the range, the sums mean nothing.
    """
    cdef Counting c
    cdef Py_ssize_t tasks
    cdef float low = INFINITY
    cdef float high = -INFINITY
    cdef cnp.ndarray before = cnp.PyArray_FROMANY(
        kept, cnp.NPY_FLOAT32, 1, 1, cnp.NPY_ARRAY_CARRAY_RO | cnp.NPY_ARRAY_FORCECAST
    )
    cdef cnp.ndarray counts = floats_like(before)
    c.x, c.size = <const float*> cnp.PyArray_DATA(x), cnp.PyArray_SIZE(x)
    c.first, c.last, c.bins = first, last, cnp.PyArray_SIZE(counts)
    c.table = (c.bins + LANES_MAX - 1) // LANES_MAX * LANES_MAX
    c.tables_per_thread = 1 if c.size <= FEW else TABLES
    c.left = 0
    n_threads = useful_threads(<double> c.size, COUNTS_PER_THREAD, n_threads)
    if c.bins >= MOST_BINS_OF_TABLES:
        c.tables_per_thread = n_threads = 1
    tasks = (c.size + COUNTS_PER_TASK - 1) // COUNTS_PER_TASK
    c.tables = <int32_t*> calloc(
        n_threads * c.tables_per_thread * c.table + 2 * tasks, sizeof(int32_t)
    )
    if c.tables == NULL:
        raise MemoryError()
    c.lows = <float*> (c.tables + n_threads * c.tables_per_thread * c.table)
    c.highs = c.lows + tasks
    with nogil:
        parallel_for(count_task, &c, tasks, n_threads)
        join_ranges(c.lows, c.highs, tasks, &low, &high)
        add_tables(
            &c, n_threads, <const float*> cnp.PyArray_DATA(before),
            <float*> cnp.PyArray_DATA(counts),
        )
        free(c.tables)
    return counts, low, high


cdef cnp.ndarray counts_of(Placing* p, cnp.npy_intp rows, int n_threads):
    """Counts ``(rows, bins)`` of what is to be placed."""
    cdef cnp.npy_intp[2] shape = [rows, p.bins]
    cdef cnp.ndarray counts = cnp.PyArray_ZEROS(2, shape, cnp.NPY_INT64, 0)
    cdef Py_ssize_t tasks = (p.size + COUNTS_PER_TASK - 1) // COUNTS_PER_TASK
    cdef Py_ssize_t tables, table, i
    p.rows = <int64_t*> cnp.PyArray_DATA(counts)
    n_threads = useful_threads(<double> rows * p.size, COUNTS_PER_THREAD, n_threads)
    if rows != 1:
        with nogil:
            parallel_for(row_task, p, rows, n_threads)
        return counts
    p.tables_per_thread = 1 if p.size <= FEW else TABLES
    if p.bins >= MOST_BINS_OF_TABLES:
        p.tables_per_thread = n_threads = 1
    tables = n_threads * p.tables_per_thread
    p.tables = <int64_t*> calloc(tables * (p.bins + 1), sizeof(int64_t))
    if p.tables == NULL:
        raise MemoryError()
    with nogil:
        parallel_for(part_of_row_task, p, tasks, n_threads)
        for table in range(tables):
            for i in range(p.bins):
                p.rows[i] += p.tables[table * (p.bins + 1) + i]
        free(p.tables)
    return counts


def nested_counts(cnp.ndarray rows, cnp.ndarray exponents, Py_ssize_t bins, int n_threads):
    """Count float32 ``rows`` ``(rows, n)`` on nested grids of int64 exponents in [-126, 126].

    Arrays are contiguous, and the grids hold all numbers.
    """
    cdef Placing p
    p.x, p.size, p.bins = <const float*> cnp.PyArray_DATA(rows), cnp.PyArray_DIM(rows, 1), bins
    p.exponents, p.edges = <const int64_t*> cnp.PyArray_DATA(exponents), NULL
    return counts_of(&p, cnp.PyArray_DIM(rows, 0), n_threads)


def edge_counts(cnp.ndarray x, cnp.ndarray edges, float per_bin, int n_threads):
    """Count contiguous float32 ``x`` between float64 ``edges``; ``per_bin`` helps to guess."""
    cdef Placing p
    p.x, p.size, p.bins = <const float*> cnp.PyArray_DATA(x), cnp.PyArray_SIZE(x), edges.size - 1
    p.exponents, p.edges = NULL, <const double*> cnp.PyArray_DATA(edges)
    p.first, p.per_bin = <float> p.edges[0], per_bin
    return counts_of(&p, 1, n_threads)[0]


def staircase_errors(
    cnp.ndarray counts, cnp.ndarray edges, cnp.ndarray scales, cnp.ndarray zero_points,
    double quant_min, double quant_max, int n_threads
):
    """``eq-staircase-error`` of each float64 scale: as many for each row, one after the other.

    All arrays are contiguous: int64 counts, and float64 numbers.
    """
    cdef Staircase s
    cdef cnp.npy_intp size = cnp.PyArray_SIZE(scales)
    cdef cnp.ndarray errors = cnp.PyArray_EMPTY(1, &size, cnp.NPY_FLOAT64, 0)
    s.counts = <const int64_t*> cnp.PyArray_DATA(counts)
    s.edges = <const double*> cnp.PyArray_DATA(edges)
    s.scales = <const double*> cnp.PyArray_DATA(scales)
    s.zero_points = <const double*> cnp.PyArray_DATA(zero_points)
    s.errors = <double*> cnp.PyArray_DATA(errors)
    s.rows, s.bins = cnp.PyArray_DIM(counts, 0), cnp.PyArray_DIM(counts, 1)
    s.quant_min, s.quant_max = quant_min, quant_max
    n_threads = useful_threads(<double> size * s.bins, COUNTS_PER_THREAD, n_threads)
    with nogil:
        parallel_for(error_task, &s, size, n_threads)
    return errors


def magnitude_sums(cnp.ndarray rows, int n_threads):
    """``eq-magnitude-sum`` of contiguous float32 rows ``(rows, n)``, as float64 ``(rows,)``."""
    cdef Magnitudes m
    cdef cnp.npy_intp count = cnp.PyArray_DIM(rows, 0)
    cdef cnp.ndarray totals = cnp.PyArray_ZEROS(1, &count, cnp.NPY_FLOAT64, 0)
    cdef double* total = <double*> cnp.PyArray_DATA(totals)
    cdef Py_ssize_t i
    m.x, m.size = <const float*> cnp.PyArray_DATA(rows), cnp.PyArray_DIM(rows, 1)
    m.parts = (m.size + PART_OF_SUM - 1) // PART_OF_SUM
    m.sums = <double*> calloc(count * m.parts + 1, sizeof(double))
    if m.sums == NULL:
        raise MemoryError()
    n_threads = useful_threads(<double> count * m.size, COUNTS_PER_THREAD, n_threads)
    with nogil:
        parallel_for(magnitudes_task, &m, count * m.parts, n_threads)
        for i in range(count * m.parts):
            total[i // m.parts] += m.sums[i]
        free(m.sums)
    return totals


def extremes(cnp.ndarray x):
    """Smallest and largest as Python's numbers; None of what is empty or no array as in C."""
    cdef Py_ssize_t size = cnp.PyArray_SIZE(x)
    cdef int kind = cnp.PyArray_TYPE(x)
    cdef const void* data = cnp.PyArray_DATA(x)
    if not (size and cnp.PyArray_ISCARRAY_RO(x)):
        return None
    if kind == cnp.NPY_FLOAT32:
        return extremes_of(<const float*> data, size)
    if kind == cnp.NPY_FLOAT64:
        return extremes_of(<const double*> data, size)
    if kind == cnp.NPY_INT32:
        return extremes_of(<const int32_t*> data, size)
    if kind == cnp.NPY_INT64:
        return extremes_of(<const int64_t*> data, size)
    return None


def running_range(
    cnp.ndarray min_val, cnp.ndarray max_val, x, axis, constant, int n_threads
):
    """``eq-running-range`` of what was seen and a batch; with a constant, ``eq-average-range``.

    Of the whole batch, or with an axis of each channel; what was seen may be empty. None where
    ``x`` is not finite, not float32 in C order, or empty, and where what was seen is of another
    kind or shape.
    """
    cdef Seen seen
    seen.is_averaged = constant is not None
    seen.share = constant if seen.is_averaged else 0
    return ranges_of(x, axis, n_threads, min_val, max_val, &seen)


def fused_average(cnp.ndarray running, cnp.ndarray batch, float constant):
    """The moving average of contiguous float32 arrays of one shape; None for others."""
    if not are_alike(running, batch):
        return None
    cdef cnp.ndarray moved = floats_like(batch)
    cdef float* out = <float*> cnp.PyArray_DATA(moved)
    cdef const float* old = <const float*> cnp.PyArray_DATA(running)
    cdef const float* new = <const float*> cnp.PyArray_DATA(batch)
    cdef Py_ssize_t i
    for i in range(cnp.PyArray_SIZE(batch)):
        out[i] = moved_average(old[i], new[i], constant)
    return moved


def fused_average_of_one(float running, float batch, float constant):
    """The moving average of two numbers."""
    return moved_average(running, batch, constant)


def choose_qparams_of_range(
    double low, double high, int quant_min, int quant_max, bint single
):
    """Scale and zero point of one finite range, as Python's numbers."""
    cdef double scale
    cdef int64_t zero_point
    choose_qparams(low, high, quant_min, quant_max, False, single, &scale, &zero_point)
    return scale, zero_point


def choose_qparams_dynamic(
    cnp.ndarray low, cnp.ndarray high, int quant_min, int quant_max, bint symmetric, bint single
):
    """Scales and zero points of contiguous float32 arrays of one shape.

    None for others, where two integers have no middle, and where a scale is not finite in float32.
    """
    cdef cnp.ndarray scales, zero_points
    cdef double* scale
    cdef double least, greatest
    cdef Py_ssize_t i
    if not are_alike(low, high) or quant_max - quant_min < 2:
        return None
    scales = cnp.PyArray_EMPTY(cnp.PyArray_NDIM(low), cnp.PyArray_DIMS(low), cnp.NPY_FLOAT64, 0)
    zero_points = cnp.PyArray_EMPTY(
        cnp.PyArray_NDIM(low), cnp.PyArray_DIMS(low), cnp.NPY_INT64, 0
    )
    for i in range(cnp.PyArray_SIZE(low)):
        least = (<const float*> cnp.PyArray_DATA(low))[i]
        greatest = (<const float*> cnp.PyArray_DATA(high))[i]
        scale = <double*> cnp.PyArray_DATA(scales) + i
        choose_qparams(
            least, greatest, quant_min, quant_max, symmetric, single, scale,
            <int64_t*> cnp.PyArray_DATA(zero_points) + i,
        )
        if not scale[0] <= FLT_MAX:
            return None
    return scales, zero_points


def min_max(cnp.ndarray x, int n_threads):
    """Smallest and largest of float32 ``x``, contiguous; both nan if nan is among them."""
    cdef float low, high
    find_range(x, &low, &high, n_threads)
    return low, high


def min_max_per_channel(x, int axis, int n_threads):
    """Ranges of each index of an axis; no zero is -0.0.

    None where ``x`` is no array of float32 in C order, or there is nothing in it.
    """
    return ranges_of(x, axis, n_threads, None, None, NULL)
