# Ranges of channels that lie innermost, some vectors of them down some of the rows at a time.
#
# Where a row is whole vectors, all begin equally far from a place where aligned vectors do, and are
# taken from one such place to another: each from some channel on, to the one before it in the next.

from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.math cimport INFINITY, NAN
from libc.stdint cimport int32_t
from pyqref._kernels._parallel cimport parallel_for
from pyqref._kernels.cache cimport first_step
from pyqref._kernels.observe.joined cimport finish_ranges
from pyqref._kernels.observe.range cimport join_ranges
from pyqref._kernels.observe.seen cimport CHUNK, Ranges
from pyqref._kernels.simd.primitives cimport *

cdef enum:
    ACROSS = 4                  # vectors of channels that are observed together
    MOST_BLOCKS = 64            # of rows by groups of channels, and one more of rows
    MOST_ACROSS = 4096          # channels whose rows are taken from such a place on

cdef struct Across:
    const float* x              # rows that begin with some channel
    float* lows                 # of each block, of channels from that one on
    float* highs
    Py_ssize_t rows, channels, rows_per_block, blocks
    Ranges* finished            # by the tasks; NULL where several blocks are joined


cdef inline void across_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef Across* a = <Across*> context
    cdef Py_ssize_t first = index // a.blocks * ACROSS * SIMD_LANES
    cdef Py_ssize_t row = index % a.blocks * a.rows_per_block
    cdef Py_ssize_t rows = min(a.rows_per_block, a.rows - row)
    cdef Py_ssize_t used = min(<Py_ssize_t> ACROSS * SIMD_LANES, a.channels - first)
    cdef Py_ssize_t whole = used // SIMD_LANES * SIMD_LANES
    cdef const float* x = a.x + row * a.channels + first
    cdef float* lows = a.lows + index % a.blocks * a.channels + first
    cdef float* highs = a.highs + index % a.blocks * a.channels + first
    cdef Py_ssize_t i
    if whole == ACROSS * SIMD_LANES:
        observe_down(x, rows, a.channels, ACROSS, lows, highs)
    else:
        observe_down(x, rows, a.channels, <int> (whole // SIMD_LANES), lows, highs)
    for i in range(whole, used):
        observe_channel(x + i, rows, a.channels, lows + i, highs + i)
    if a.finished != NULL:
        finish_ranges(a.finished, first, first + used)


cdef inline void observe_down(
    const float* x, Py_ssize_t rows, Py_ssize_t step, int vectors, float* low, float* high
) noexcept nogil:
    """Ranges of so many vectors of channels."""
    cdef f32v[ACROSS] lows
    cdef f32v[ACROSS] highs
    cdef i32v[ACROSS] nans
    cdef int32_t[LANES_MAX] each_nan
    cdef f32v value
    cdef Py_ssize_t _i
    cdef int v, lane
    for v in range(vectors):
        lows[v], highs[v], nans[v] = set_f32(INFINITY), set_f32(-INFINITY), set_i32(0)
    for _i in range(rows):
        for v in range(vectors):
            value = load_f32(x + v * SIMD_LANES)
            lows[v], highs[v] = min_f32(value, lows[v]), max_f32(value, highs[v])
            nans[v] = or_i32(nans[v], is_nan(value))
        x += step
    for v in range(vectors):
        store_f32(low + v * SIMD_LANES, lows[v])
        store_f32(high + v * SIMD_LANES, highs[v])
        store_i32(each_nan, nans[v])
        for lane in range(SIMD_LANES):
            if each_nan[lane]:
                low[v * SIMD_LANES + lane] = high[v * SIMD_LANES + lane] = NAN


cdef inline void observe_channel(
    const float* x, Py_ssize_t rows, Py_ssize_t step, float* low, float* high
) noexcept nogil:
    """Find the range of a channel that fills no vector: of every ``step``-th number."""
    cdef Py_ssize_t _i
    low[0], high[0] = INFINITY, -INFINITY
    for _i in range(rows):
        join_ranges(x, x, 1, low, high)
        x += step


cdef inline int find_ranges_across(Ranges* r, int n_threads) except -1 nogil:
    """Find the ranges of channels that lie innermost."""
    cdef Across a
    cdef Py_ssize_t groups = (r.channels + ACROSS * SIMD_LANES - 1) // (ACROSS * SIMD_LANES)
    cdef Py_ssize_t lead = 0
    cdef Py_ssize_t channel, at
    cdef float* buffer
    if r.channels % SIMD_LANES == 0 and r.channels <= MOST_ACROSS and r.size > CHUNK:
        lead = first_step(r.x, r.size, SIMD_LANES, 0)
    a.x, a.rows, a.channels = r.x + lead, r.outer - (lead > 0), r.channels
    a.blocks = min(r.size // CHUNK, <Py_ssize_t> MOST_BLOCKS) // groups + 1
    a.rows_per_block = max((a.rows + a.blocks - 1) // a.blocks, <Py_ssize_t> 1)
    a.blocks = max((a.rows + a.rows_per_block - 1) // a.rows_per_block, <Py_ssize_t> 1)
    a.lows, a.highs, a.finished = r.lows, r.highs, r
    if a.blocks == 1 and lead == 0:
        parallel_for(across_task, &a, groups, n_threads)
        return 0
    buffer = <float*> malloc(2 * a.blocks * a.channels * sizeof(float))
    if buffer == NULL:
        with gil:
            raise MemoryError()
    a.lows, a.highs, a.finished = buffer, buffer + a.blocks * a.channels, NULL
    parallel_for(across_task, &a, groups * a.blocks, n_threads)
    for channel in range(r.channels):
        # What lies before the first whole row, or behind the last; if nothing does, the first row.
        at = channel if channel < lead or lead == 0 else a.rows * a.channels + channel
        observe_channel(r.x + at, 1, 0, r.lows + channel, r.highs + channel)
    for at in range(a.blocks * a.channels):
        channel = (at + lead) % a.channels
        join_ranges(a.lows + at, a.highs + at, 1, r.lows + channel, r.highs + channel)
    free(buffer)
    finish_ranges(r, 0, r.channels)
    return 0
