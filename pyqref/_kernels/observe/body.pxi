# Smallest and largest number: written once, included by one module an instruction set.

cimport numpy as cnp
from libc.math cimport INFINITY, NAN
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.simd.primitives cimport *

cdef enum:
    CHUNK = 1 << 15             # elements a task
    WORK_PER_THREAD = 1 << 18   # elements that are worth a thread


# Per channel the array is seen as (outer, channels, inner); each task has its own results.
cdef struct Ranges:
    const float* x
    float* lows
    float* highs
    Py_ssize_t size, outer, channels, inner


cdef void range_of(const float* x, Py_ssize_t n, float* low, float* high) noexcept nogil:
    """Widen [low, high] to n numbers; nan, once met, stays."""
    cdef f32v[4] lows
    cdef f32v[4] highs
    cdef i32v nans = set_i32(0)
    cdef f32v value
    cdef float[LANES_MAX] each_low
    cdef float[LANES_MAX] each_high
    cdef int32_t[LANES_MAX] each_nan
    cdef Py_ssize_t i = 0
    cdef int j
    if low[0] != low[0]:
        return
    for j in range(4):
        lows[j], highs[j] = set_f32(low[0]), set_f32(high[0])
    while i + 4 * SIMD_LANES <= n:
        for j in range(4):
            value = load_f32(x + i + j * SIMD_LANES)
            lows[j], highs[j] = min_f32(value, lows[j]), max_f32(value, highs[j])
            nans = or_i32(nans, is_nan(value))
        i += 4 * SIMD_LANES
    while i + SIMD_LANES <= n:
        value = load_f32(x + i)
        lows[0], highs[0] = min_f32(value, lows[0]), max_f32(value, highs[0])
        nans = or_i32(nans, is_nan(value))
        i += SIMD_LANES
    store_f32(each_low, min_f32(min_f32(lows[0], lows[1]), min_f32(lows[2], lows[3])))
    store_f32(each_high, max_f32(max_f32(highs[0], highs[1]), max_f32(highs[2], highs[3])))
    store_i32(each_nan, nans)
    for j in range(SIMD_LANES):
        low[0] = each_low[j] if each_low[j] < low[0] else low[0]
        high[0] = each_high[j] if each_high[j] > high[0] else high[0]
    while i < n:
        low[0] = x[i] if x[i] < low[0] else low[0]
        high[0] = x[i] if x[i] > high[0] else high[0]
        each_nan[0] |= x[i] != x[i]
        i += 1
    for j in range(SIMD_LANES):
        if each_nan[j]:
            low[0] = high[0] = NAN


cdef void range_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef Ranges* r = <Ranges*> context
    cdef Py_ssize_t start = index * CHUNK
    r.lows[index], r.highs[index] = INFINITY, -INFINITY
    range_of(
        r.x + start, min(<Py_ssize_t> CHUNK, r.size - start), r.lows + index, r.highs + index
    )


def min_max(cnp.ndarray x, int n_threads):
    """Smallest and largest of float32 ``x``, contiguous; both nan if nan is among them."""
    cdef Ranges r
    cdef Py_ssize_t size = cnp.PyArray_SIZE(x)
    cdef Py_ssize_t chunks = (size + CHUNK - 1) // CHUNK
    cdef Py_ssize_t i
    cdef float low = INFINITY
    cdef float high = -INFINITY
    r.x, r.size = <const float*> cnp.PyArray_DATA(x), size
    r.lows = <float*> malloc(2 * chunks * sizeof(float))
    if r.lows == NULL:
        raise MemoryError()
    r.highs = r.lows + chunks
    n_threads = useful_threads(<double> size, WORK_PER_THREAD, n_threads)
    with nogil:
        parallel_for(range_task, &r, chunks, n_threads)
        for i in range(chunks):
            if not r.lows[i] >= low and low == low:
                low = r.lows[i]
            if not r.highs[i] <= high and high == high:
                high = r.highs[i]
        free(r.lows)
    return low, high


cdef void channel_task(void* context, Py_ssize_t channel, int thread) noexcept nogil:
    cdef Ranges* r = <Ranges*> context
    cdef Py_ssize_t i
    r.lows[channel], r.highs[channel] = INFINITY, -INFINITY
    for i in range(r.outer):
        range_of(
            r.x + (i * r.channels + channel) * r.inner, r.inner,
            r.lows + channel, r.highs + channel,
        )


cdef void across_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    # Channels innermost: a block of them, down all rows. nan + 0 is nan, anything else is not.
    cdef Ranges* r = <Ranges*> context
    cdef Py_ssize_t first = index * LANES_MAX
    cdef Py_ssize_t last = min(first + LANES_MAX, r.channels)
    cdef Py_ssize_t i, channel
    cdef const float* x
    cdef float value
    for channel in range(first, last):
        r.lows[channel], r.highs[channel] = INFINITY, -INFINITY
    for i in range(r.outer):
        x = r.x + i * r.channels
        for channel in range(first, last):
            value = x[channel]
            # Written so that nan wins and then stays.
            if not value >= r.lows[channel] and r.lows[channel] == r.lows[channel]:
                r.lows[channel] = value
            if not value <= r.highs[channel] and r.highs[channel] == r.highs[channel]:
                r.highs[channel] = value


def min_max_per_channel(
    cnp.ndarray x, cnp.ndarray lows, cnp.ndarray highs, Py_ssize_t inner, int n_threads
):
    """Ranges of each channel of ``x`` seen as ``(outer, channels, inner)``."""
    cdef Ranges r
    r.x = <const float*> cnp.PyArray_DATA(x)
    r.lows, r.highs = <float*> cnp.PyArray_DATA(lows), <float*> cnp.PyArray_DATA(highs)
    r.size, r.channels, r.inner = cnp.PyArray_SIZE(x), cnp.PyArray_SIZE(lows), inner
    r.outer = r.size // (r.channels * inner)
    n_threads = useful_threads(<double> r.size, WORK_PER_THREAD, n_threads)
    with nogil:
        if inner == 1:
            parallel_for(across_task, &r, (r.channels + LANES_MAX - 1) // LANES_MAX, n_threads)
        else:
            parallel_for(channel_task, &r, r.channels, n_threads)
