# Means of channels, which are innermost in memory.
#
# A window of more taps than a list has is gone through once: all channels of the taps of a list,
# then those of the next, while their sums wait in scratch. Where there are fewer results than tasks
# are wanted, the taps of each window are cut into parts, whose sums are added at the end: they are
# integers, and in any order the same.

from cpython.mem cimport PyMem_RawCalloc as calloc, PyMem_RawFree as free
from libc.stdint cimport int32_t, uint8_t
from pyqref._kernels._parallel cimport parallel_for
from pyqref._kernels.cache cimport LINE, next_line
from pyqref._kernels.pooling.few cimport mean_of_few, pixels_of
from pyqref._kernels.pooling.mean cimport Division, division_by, divisor_of, inside, start_of
from pyqref._kernels.pooling.pool cimport (
    ACROSS, LISTED, QUADS, TASKS_PER_THREAD, List, Pool, Share, Taps, Window, cut_lines, length_of,
    share_of,
)
from pyqref._kernels.pooling.quads cimport (
    Quads, Sort, finish_quads, list_whole_quads, pass_over, set_quads, step_on,
)
from pyqref._kernels.simd.primitives cimport *

cdef enum:
    SPAN = 1 << 12                  # channels of a task, at most


# Which taps of a window a task adds up, how many of them at a time, and where sums wait: in the
# order of quads, those of some channels twice where steps overlap.
cdef struct Part:
    Py_ssize_t first, last, most
    int32_t* sums


cdef inline void mean_across(
    const Pool* p, const Taps* taps, const Part* part, List* list, const Quads* quads,
    Sort* sort, bint is_signed, Py_ssize_t channels, uint8_t* out,
) noexcept nogil:
    """Some channels of one result; or where ``out`` is NULL, their sums, of a part of the taps."""
    cdef Py_ssize_t tap = part.first
    cdef bint ends
    if quads.taps <= part.most and out != NULL:
        list_whole_quads(list, taps, 0, part.most)
        pass_over(p, list, quads, sort, is_signed, True, True, channels, NULL, out)
        return
    while tap < part.last:
        list_whole_quads(list, taps, tap, part.most)
        ends = tap + list.length >= part.last and out != NULL
        pass_over(
            p, list, quads, sort, is_signed, tap == part.first, ends, channels, part.sums, out
        )
        tap += list.length


cdef inline int32_t* sums_of(const Pool* p, Py_ssize_t task) noexcept nogil:
    """Return the place of the sums of a part of a window."""
    return p.sums + task * p.longest


cdef inline Py_ssize_t taps_at_a_time(Py_ssize_t apart) noexcept nogil:
    """Taps whose lines a cache keeps while the lines behind them come.

    A first cache of 32 KiB has eight places for lines that are a multiple of 4 KiB apart.
    """
    return min(max(4 * 4096 // (apart & -apart), 8), <Py_ssize_t> LISTED)


cdef inline Py_ssize_t first_of_part(
    Py_ssize_t taps, Py_ssize_t parts, Py_ssize_t part
) noexcept nogil:
    """Parts begin with whole lists."""
    return min(taps, (taps + LISTED - 1) // LISTED * part // parts * LISTED)


cdef inline void set_sort(
    const Pool* p, const Share* share, const Window* column, Sort* sort, Part* part, Quads* quads
) noexcept nogil:
    cdef Py_ssize_t taps = inside(&share.line, column)
    sort.columns, sort.counted = length_of(column), column.counted
    sort.division = division_by(p, divisor_of(p, &share.line, column))
    set_quads(quads, taps)
    part.first = first_of_part(taps, p.parts, share.part)
    part.last = first_of_part(taps, p.parts, share.part + 1)
    sort.start = 0
    if p.parts == 1:
        sort.start = start_of(p, &share.line, column)
        if p.inner >= ACROSS * SIMD_LANES:
            sort.start += <int32_t> taps * (INPUT_SHIFT - quads.flip)


cdef inline void across_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some channels of some results of a line, or a part of the sums of one."""
    cdef const Pool* p = <const Pool*> context
    cdef Share share = share_of(p, index)
    cdef const Window* column
    cdef Sort sort
    cdef Taps taps
    cdef Part part
    cdef List list
    cdef Quads quads
    cdef uint8_t[QUADS + LINE] scratch
    cdef int32_t[SPAN + ACROSS * LANES_MAX] sums
    cdef uint8_t* out
    cdef Py_ssize_t pixels = pixels_of(p.inner) if p.inner < ACROSS * SIMD_LANES else 1
    cdef Py_ssize_t x
    list.columns = -1
    quads.flip = 0x80 if p.is_signed else 0
    quads.scratch = <uint8_t*> next_line(scratch)
    taps.planes, taps.plane_step = length_of(share.line.plane), share.line.plane_step
    taps.rows, taps.row_step = length_of(share.line.row), share.line.row_step
    taps.column_step = p.inner
    part.most = taps_at_a_time(p.inner)
    part.sums = &sums[0] if p.parts == 1 else sums_of(p, index)
    set_sort(p, &share, p.columns + share.begin, &sort, &part, &quads)
    for x in range(share.begin, share.end):
        column = p.columns + x
        if length_of(column) != sort.columns or column.counted != sort.counted:
            set_sort(p, &share, column, &sort, &part, &quads)
        taps.first = share.line.x + column.first * p.inner + share.channel
        taps.columns = sort.columns
        out = share.line.out + x * p.inner + share.channel if p.parts == 1 else NULL
        if p.inner < ACROSS * SIMD_LANES:
            if p.is_signed:
                mean_of_few(p, &taps, pixels, sort.start, &sort.division, True, out)
            else:
                mean_of_few(p, &taps, pixels, sort.start, &sort.division, False, out)
        elif p.is_signed:
            mean_across(p, &taps, &part, &list, &quads, &sort, True, share.channels, out)
        else:
            mean_across(p, &taps, &part, &list, &quads, &sort, False, share.channels, out)


cdef inline void finish_parts(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some channels of one result whose sums are there, part by part."""
    cdef const Pool* p = <const Pool*> context
    cdef Share share = share_of(p, index * p.parts)
    cdef const Window* column = p.columns + share.begin
    cdef Py_ssize_t taps = inside(&share.line, column)
    cdef uint8_t flip = 0x80 if p.is_signed else 0
    cdef int32_t start = start_of(p, &share.line, column) + taps * (INPUT_SHIFT - flip)
    cdef Division d = division_by(p, divisor_of(p, &share.line, column))
    cdef uint8_t* out = share.line.out + share.begin * p.inner + share.channel
    cdef const int32_t* sums = sums_of(p, index * p.parts)
    cdef i32v[ACROSS] totals
    cdef Py_ssize_t c = 0
    cdef Py_ssize_t part
    cdef int v
    while True:
        for v in range(ACROSS):
            totals[v] = set_i32(start)
            for part in range(p.parts):
                totals[v] = add_i32(totals[v], load_i32(sums + part * p.longest + v * SIMD_LANES))
        finish_quads(p, totals, &d, flip, out + c)
        if c + ACROSS * SIMD_LANES == share.channels:
            return
        c = step_on(c, share.channels)
        sums += ACROSS * SIMD_LANES


cdef inline int mean_of_channels(Pool* p, double work, tuple longest, int n_threads) except -1:
    """Means of images whose channels are innermost."""
    cdef Py_ssize_t tasks = cut_lines(p, work, n_threads)
    cdef Py_ssize_t wanted = n_threads * TASKS_PER_THREAD
    cdef Py_ssize_t lists = 1
    p.spans = (p.inner + SPAN - 1) // SPAN
    tasks *= p.spans
    if tasks < wanted and n_threads > 1 and p.inner >= ACROSS * SIMD_LANES:
        for taps in longest:
            lists *= <Py_ssize_t> taps
        lists = (lists + LISTED - 1) // LISTED
        p.parts = max(1, min((wanted + tasks - 1) // tasks, lists))
    if p.parts > 1:
        # Lines are then cut into single results.
        p.longest = (p.inner + p.spans - 1) // p.spans + ACROSS * SIMD_LANES
        p.sums = <int32_t*> calloc(tasks * p.parts * p.longest, sizeof(int32_t))
        if p.sums == NULL:
            raise MemoryError()
    with nogil:
        parallel_for(across_task, p, tasks * p.parts, n_threads)
        if p.parts > 1:
            parallel_for(finish_parts, p, tasks, 1)
        free(p.sums)
    return 0
