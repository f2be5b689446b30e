# The range of an array, and ranges that were seen before.

cimport numpy as cnp
from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.math cimport INFINITY
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.observe.range cimport join_ranges, range_of

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


cdef inline void range_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef Ranges* r = <Ranges*> context
    cdef Py_ssize_t start = index * CHUNK
    r.lows[index], r.highs[index] = INFINITY, -INFINITY
    range_of(
        r.x + start, min(<Py_ssize_t> CHUNK, r.size - start), r.lows + index, r.highs + index
    )


cdef inline int find_range(cnp.ndarray x, float* low, float* high, int n_threads) except -1:
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


# channels_task, of channels that are lines
