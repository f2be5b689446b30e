# Smallest and largest number: written once, included by one module an instruction set.

cimport numpy as cnp
# tracemalloc sees what these give, so that tests see how much scratch is taken.
from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.float cimport FLT_MAX
from libc.math cimport INFINITY, NAN, fabsf
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.axes cimport channels_at, elements_per_channel, is_in_c_order
from pyqref._kernels.cache cimport first_step
from pyqref._kernels.simd.primitives cimport *

include "range.pxi"
include "histogram.pxi"
include "running.pxi"

cdef enum:
    CHUNK = 1 << 15             # elements a task
    # Elements that are worth a thread: of one range, and of ranges of channels.
    WORK_PER_THREAD = 1 << 17
    CHANNELS_PER_THREAD = 1 << 16
    SHORT = 1 << 9              # numbers of a line, or fewer, that are observed with other lines


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


cdef inline void observe_line(
    const float* x, Py_ssize_t n, f32v* low, f32v* high, f32v* total
) noexcept nogil:
    """Widen lanes to n numbers, at least a vector of them, and add them all up."""
    cdef f32v value
    cdef f32v least = low[0]
    cdef f32v greatest = high[0]
    cdef f32v sum = set_f32(0)
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t last = n - SIMD_LANES
    while i < last:
        value = load_f32(x + i)
        least, greatest = min_f32(value, least), max_f32(value, greatest)
        sum = add_f32(value, sum)
        i += SIMD_LANES
    value = load_f32(x + last)  # which may overlap the one before
    low[0], high[0] = min_f32(value, least), max_f32(value, greatest)
    total[0] = add_f32(total[0], add_f32(value, sum))


cdef inline void observe_part(
    const float* x, f32v beyond, f32v* low, f32v* high, f32v* total
) noexcept nogil:
    """Widen lanes to the first numbers of a vector: ``beyond`` is 0 there, and then infinite.

    All of the vector is added up: nan of a neighbour costs no more than a second look.
    """
    cdef f32v value = load_f32(x)
    low[0] = min_f32(add_f32(value, beyond), low[0])
    high[0] = max_f32(sub_f32(value, beyond), high[0])
    total[0] = add_f32(total[0], value)


cdef bint observe_lines(Ranges* r, Py_ssize_t first, f32v beyond) noexcept nogil:
    """As many channels as a vector has lanes; false where there may be nan among them."""
    cdef f32v[LANES_MAX] lows
    cdef f32v[LANES_MAX] highs
    cdef f32v low, high
    cdef f32v total = set_f32(0)
    cdef Py_ssize_t outer = r.outer
    cdef Py_ssize_t inner = r.inner
    cdef Py_ssize_t apart = r.channels * inner
    cdef const float* x
    cdef Py_ssize_t i, channel
    for channel in range(SIMD_LANES):
        low, high = set_f32(INFINITY), set_f32(-INFINITY)
        x = r.x + (first + channel) * inner
        for i in range(outer):
            if inner < SIMD_LANES:
                observe_part(x, beyond, &low, &high, &total)
            else:
                observe_line(x, inner, &low, &high, &total)
            x += apart
        lows[channel], highs[channel] = low, high
    store_f32(r.lows + first, least_of_rows(lows))
    store_f32(r.highs + first, greatest_of_rows(highs))
    # A sum with nan is nan. So may one of infinities be, or one that overflows, which costs a
    # second look only.
    return not any_i32(is_nan(total))


cdef void channels_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef Ranges* r = <Ranges*> context
    cdef Py_ssize_t channel = index * r.channels_per_task
    cdef Py_ssize_t last = min(channel + r.channels_per_task, r.channels)
    cdef Py_ssize_t whole = last - SIMD_LANES
    cdef float[LANES_MAX] beyond
    cdef Py_ssize_t i, end
    for i in range(SIMD_LANES):
        beyond[i] = 0 if i < r.inner else INFINITY
    if r.inner < SIMD_LANES:
        # Where a vector may be read that begins at the last line of a group.
        whole = min(whole, r.channels - SIMD_LANES - SIMD_LANES // r.inner)
    if r.inner > SHORT:
        whole = -1
    while channel < last:
        end = min(channel + SIMD_LANES, last)
        if channel <= whole and observe_lines(r, channel, load_f32(beyond)):
            channel = end
            continue
        while channel < end:
            r.lows[channel], r.highs[channel] = INFINITY, -INFINITY
            for i in range(r.outer):
                range_of(
                    r.x + (i * r.channels + channel) * r.inner, r.inner,
                    r.lows + channel, r.highs + channel,
                )
            channel += 1
    finish_ranges(r, index * r.channels_per_task, last)


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
            r.channels_per_task = (1 + CHUNK // (r.outer * inner * SIMD_LANES)) * SIMD_LANES
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
