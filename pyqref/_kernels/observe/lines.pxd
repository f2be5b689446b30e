# Ranges of channels that are lines of numbers: included by the body of observe.

from libc.math cimport INFINITY, NAN
from pyqref._kernels.observe.joined cimport finish_ranges
from pyqref._kernels.observe.range cimport range_of
from pyqref._kernels.observe.seen cimport Ranges
from pyqref._kernels.simd.primitives cimport *

cdef enum:
    SHORT = 1 << 9              # numbers of a line, or fewer, that are observed with other lines


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


cdef inline void observe_adjoining(
    const float* x, Py_ssize_t before, f32v own, Py_ssize_t inner, f32v* lows, f32v* highs,
    f32v* total,
) noexcept nogil:
    """Observe as many adjoining lines as a vector has lanes; each fills some whole vectors.

    Loads are aligned. They begin ``before`` numbers in front of a line and of the line behind it,
    so that the last numbers of a line come together with its first ones. ``own`` is 0 for the lanes
    that belong to the line in the vector where it begins, and nan for the others.
    """
    cdef f32v value, least, greatest, sum, start
    cdef f32v end = load_f32(x - before)
    cdef Py_ssize_t i
    cdef int line
    for line in range(SIMD_LANES):
        start, end = end, load_f32(x + inner - before)
        # A number that is nan itself is lost here, but not in the sum.
        least = greatest = if_nan(add_f32(start, own), end)
        sum = start
        i = SIMD_LANES
        while i < inner:
            value = load_f32(x + i - before)
            least, greatest = min_f32(value, least), max_f32(value, greatest)
            sum = add_f32(value, sum)
            i += SIMD_LANES
        lows[line], highs[line] = least, greatest
        total[0] = add_f32(total[0], sum)
        x += inner
    total[0] = add_f32(total[0], end)


cdef inline void observe_apart(
    const Ranges* r, Py_ssize_t first, f32v beyond, f32v* lows, f32v* highs, f32v* total
) noexcept nogil:
    """Observe as many channels as a vector has lanes, whose lines may lie anywhere."""
    cdef Py_ssize_t inner = r.inner
    cdef const float* x
    cdef Py_ssize_t _i, channel
    for channel in range(SIMD_LANES):
        lows[channel], highs[channel] = set_f32(INFINITY), set_f32(-INFINITY)
        x = r.x + (first + channel) * inner
        for _i in range(r.outer):
            if inner < SIMD_LANES:
                observe_part(x, beyond, lows + channel, highs + channel, total)
            else:
                observe_line(x, inner, lows + channel, highs + channel, total)
            x += r.channels * inner


cdef inline bint observe_lines(
    Ranges* r, Py_ssize_t first, f32v mask, Py_ssize_t before
) noexcept nogil:
    """Observe as many channels as a vector has lanes; return False if nan may be among them.

    ``before`` and the mask are those of ``observe_adjoining``, or -1 and that of ``observe_part``.
    """
    cdef f32v[LANES_MAX] lows
    cdef f32v[LANES_MAX] highs
    cdef f32v total = set_f32(0)
    if before >= 0:
        observe_adjoining(r.x + first * r.inner, before, mask, r.inner, lows, highs, &total)
    else:
        observe_apart(r, first, mask, lows, highs, &total)
    store_f32(r.lows + first, least_of_rows(lows))
    store_f32(r.highs + first, greatest_of_rows(highs))
    # A sum with nan is nan. So may one of infinities be, or one that overflows, which costs a
    # second look only.
    return not any_i32(is_nan(total))


cdef inline void channels_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef Ranges* r = <Ranges*> context
    cdef Py_ssize_t channel = index * r.channels_per_task
    cdef Py_ssize_t last = min(channel + r.channels_per_task, r.channels)
    cdef Py_ssize_t whole = last - SIMD_LANES
    cdef Py_ssize_t before = <size_t> r.x % (SIMD_LANES * sizeof(float)) // sizeof(float)
    cdef bint adjoin = r.outer == 1 and r.inner % SIMD_LANES == 0
    cdef float[LANES_MAX] mask
    cdef Py_ssize_t i, end, shared
    for i in range(SIMD_LANES):
        mask[i] = (0 if i >= before else NAN) if adjoin else (0 if i < r.inner else INFINITY)
    if r.inner < SIMD_LANES:
        # Where a vector may be read that begins at the last line of a group.
        whole = min(whole, r.channels - SIMD_LANES - SIMD_LANES // r.inner)
    if r.inner > SHORT:
        whole = -1
    while channel < last:
        end = min(channel + SIMD_LANES, last)
        # The first vector of the first group, and the last one of the last, may be partly others'.
        shared = before if adjoin and 0 < channel and end < r.channels else -1
        if channel <= whole and observe_lines(r, channel, load_f32(mask), shared):
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
