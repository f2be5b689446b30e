"""Ranges of observed data."""

cimport numpy as cnp
# tracemalloc sees what these give, so that tests see how much scratch is taken.
from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.float cimport FLT_MAX
from libc.math cimport INFINITY, NAN, fabsf
from libc.stdint cimport int32_t, int64_t
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.axes cimport channels_at, elements_per_channel, is_in_c_order
from pyqref._kernels.cache cimport first_step
from pyqref._kernels.observe.dynamic_qparams cimport choose_qparams, moved_average
from pyqref._kernels.observe.range cimport join_ranges, range_of
from pyqref._kernels.simd.partial cimport load_n_f32, store_n_f32
from pyqref._kernels.simd.primitives cimport *

# histogram for Python
include "histogram.pxi"
# finish_ranges; extremes, running_range and what is made of them
include "running.pxi"

cdef enum:
    CHUNK = 1 << 15             # elements a task
    # Of very many channels: each task comes back to the arrays of their ranges, whose first lines
    # have to be waited for.
    MOST_TASKS = 1 << 6
    # Elements that are worth a thread: of one range, and of ranges of channels.
    WORK_PER_THREAD = 1 << 17
    CHANNELS_PER_THREAD = 1 << 16


# Ranges that were seen before, one for each that is found.
cdef struct Seen:
    const float* lows           # NULL where there are none
    const float* highs
    bint is_averaged            # eq-average-range; else eq-running-range
    float share                 # what those found count in an average
    int others                  # raised where one of those found is not finite


# Per channel the array is seen as (outer, channels, inner); each task has its own results.
cdef struct Ranges:
    const float* x
    float* lows
    float* highs
    Py_ssize_t size, outer, channels, inner, channels_per_task
    Seen* seen                  # NULL where the ranges of the array alone are wanted


cdef void range_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef Ranges* r = <Ranges*> context
    cdef Py_ssize_t start = index * CHUNK
    r.lows[index], r.highs[index] = INFINITY, -INFINITY
    range_of(
        r.x + start, min(<Py_ssize_t> CHUNK, r.size - start), r.lows + index, r.highs + index
    )


cdef int find_range(cnp.ndarray x, float* low, float* high, int n_threads) except -1:
    """``min_max``, into numbers."""
    cdef Ranges r
    cdef Py_ssize_t size = cnp.PyArray_SIZE(x)
    cdef Py_ssize_t chunks = (size + CHUNK - 1) // CHUNK
    low[0], high[0] = INFINITY, -INFINITY
    r.x, r.size = <const float*> cnp.PyArray_DATA(x), size
    r.lows = <float*> malloc(2 * chunks * sizeof(float))
    if r.lows == NULL:
        raise MemoryError()
    r.highs = r.lows + chunks
    n_threads = useful_threads(<double> size, WORK_PER_THREAD, n_threads)
    with nogil:
        parallel_for(range_task, &r, chunks, n_threads)
        join_ranges(r.lows, r.highs, chunks, low, high)
        free(r.lows)
    return 0


def min_max(cnp.ndarray x, int n_threads):
    """Smallest and largest of float32 ``x``, contiguous; both nan if nan is among them."""
    cdef float low, high
    find_range(x, &low, &high, n_threads)
    return low, high


# channels_task, of channels that are lines
include "lines.pxi"


cdef tuple ranges_of(x, axis, int n_threads, cnp.ndarray low, cnp.ndarray high, Seen* seen):
    """As arrays, of all numbers or of each index of an axis; no zero is -0.0.

    ``seen`` says how they are joined with those in ``low`` and ``high``, float32 arrays of their
    shape, or empty. None where these are others, where a range to join is not finite, and where
    ``x`` is no array of float32 in C order or there is nothing in it.
    """
    cdef Ranges r
    cdef cnp.npy_intp channels
    cdef cnp.ndarray lows, highs
    if not (
        is_in_c_order(x) and cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT32
        and cnp.PyArray_ISCARRAY_RO(x) and cnp.PyArray_SIZE(x)
    ):
        return None
    if axis is not None:
        channels = channels_at(x, axis)
    lows = cnp.PyArray_EMPTY(axis is not None, &channels, cnp.NPY_FLOAT32, 0)
    highs = cnp.PyArray_EMPTY(axis is not None, &channels, cnp.NPY_FLOAT32, 0)
    r.lows, r.highs = <float*> cnp.PyArray_DATA(lows), <float*> cnp.PyArray_DATA(highs)
    r.seen = seen
    if seen != NULL:
        seen.lows, seen.others = NULL, 0
        if cnp.PyArray_SIZE(low):
            if not (are_alike(low, lows) and are_alike(high, lows)):
                return None
            seen.lows = <const float*> cnp.PyArray_DATA(low)
            seen.highs = <const float*> cnp.PyArray_DATA(high)
    if axis is None:
        find_range(x, r.lows, r.highs, n_threads)
        finish_ranges(&r, 0, 1)
    else:
        find_ranges(&r, x, channels, elements_per_channel(x, axis), n_threads)
    return None if seen != NULL and seen.others else (lows, highs)


# find_ranges_across, of channels that lie innermost
include "across.pxi"


cdef int find_ranges(
    Ranges* r, cnp.ndarray x, Py_ssize_t channels, Py_ssize_t inner, int n_threads
) except -1:
    """Of each channel, into the arrays that are named."""
    r.x, r.size = <const float*> cnp.PyArray_DATA(x), cnp.PyArray_SIZE(x)
    r.channels, r.inner, r.outer = channels, inner, r.size // (channels * inner)
    n_threads = useful_threads(<double> r.size, CHANNELS_PER_THREAD, n_threads)
    with nogil:
        if inner == 1:
            find_ranges_across(r, n_threads)
        else:
            r.channels_per_task = (
                1 + max(<Py_ssize_t> CHUNK, r.size // MOST_TASKS) // (r.outer * inner * SIMD_LANES)
            ) * SIMD_LANES
            parallel_for(
                channels_task, r,
                (channels + r.channels_per_task - 1) // r.channels_per_task, n_threads,
            )
    return 0


def min_max_per_channel(x, int axis, int n_threads):
    """Ranges of each index of an axis; no zero is -0.0.

    None where ``x`` is no array of float32 in C order, or there is nothing in it.
    """
    return ranges_of(x, axis, n_threads, None, None, NULL)
