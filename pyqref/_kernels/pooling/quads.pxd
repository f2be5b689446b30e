# Sums of bytes under four taps at a time, for the channels of some pixels.

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset
from pyqref._kernels.pooling.mean cimport Division, mean_of
from pyqref._kernels.pooling.pool cimport (
    ACROSS, Bytes, List, Pool, Taps, counted_v, fill_list, interleave_summed, load_counted,
    load_summed, sum_summed, summed_v,
)
from pyqref._kernels.simd.primitives cimport *

# How the bytes of four taps become sums: quads of which all four, or the last ones, count.
cdef struct Quads:
    counted_v all, last
    uint8_t* scratch
    uint8_t flip
    Py_ssize_t taps                 # of a window


cdef inline void set_quads(Quads* q, Py_ssize_t taps) noexcept nogil:
    cdef int8_t[2][4 * LANES_MAX] weights
    cdef int8_t[4] last
    cdef int i
    for i in range(4):
        last[i] = i <= (taps - 1) % 4
    memset(weights[0], 1, sizeof(weights[0]))
    for i in range(LANES_MAX):      # four bytes at a time: this is done for each line of results
        memcpy(weights[1] + 4 * i, last, sizeof(last))
    q.all, q.last = load_counted(weights[0]), load_counted(weights[1])
    q.taps = taps


cdef inline void add_listed(
    const Quads* q, const Bytes* list, Py_ssize_t listed, Py_ssize_t at, bint is_signed,
    i32v* totals,
) noexcept nogil:
    """Add the listed taps of some channels; what is beyond the last of them counts nothing."""
    cdef summed_v[ACROSS] quads
    cdef Py_ssize_t tap
    cdef int v
    for tap in range(0, listed, 4):
        if is_signed:
            interleave_u8(
                q.scratch, list[tap] + at, list[tap + 1] + at, list[tap + 2] + at,
                list[tap + 3] + at, q.flip,
            )
            for v in range(ACROSS):
                quads[v] = load_summed(q.scratch + 4 * v * SIMD_LANES)
        else:
            interleave_summed(
                quads, list[tap] + at, list[tap + 1] + at, list[tap + 2] + at, list[tap + 3] + at
            )
        for v in range(ACROSS):
            totals[v] = sum_summed(totals[v], quads[v], q.last if tap + 4 > listed else q.all)


cdef inline void list_whole_quads(
    List* list, const Taps* taps, Py_ssize_t start, Py_ssize_t most
) noexcept nogil:
    cdef int v
    fill_list(list, taps, start, most)
    for v in range(3):
        list.taps[list.length + v] = list.taps[0]


cdef inline Py_ssize_t step_on(Py_ssize_t c, Py_ssize_t channels) noexcept nogil:
    """The next channels: the last ones may be among those of the step before."""
    return min(c + ACROSS * SIMD_LANES, channels - ACROSS * SIMD_LANES)


cdef inline void finish_quads(
    const Pool* p, const i32v* totals, Division* d, uint8_t flip, uint8_t* out
) noexcept nogil:
    """``eq-quantized-mean`` of sums in the order of quads."""
    cdef f32v[ACROSS] means
    cdef f32v high = set_f32(<float> p.upper)
    cdef int v
    for v in range(ACROSS):
        means[v] = min_f32(mean_of(p, totals[v], d), high)
    store_rounded_quads(out, means[0], means[1], means[2], means[3], flip, p.lower + flip, flip)


# What the windows have in common that see as many columns and divide by the same number.
cdef struct Sort:
    int64_t columns, counted
    Division division
    int32_t start


cdef inline void pass_over(
    const Pool* p, const List* list, const Quads* quads, Sort* sort, bint is_signed, bint begins,
    bint ends, Py_ssize_t channels, int32_t* sums, uint8_t* out,
) noexcept nogil:
    """Add the taps of a list to sums that begin here or wait, and that end as means or wait on."""
    cdef i32v[ACROSS] totals
    cdef Py_ssize_t c = 0
    cdef int v
    while True:
        for v in range(ACROSS):
            totals[v] = set_i32(sort.start) if begins else load_i32(sums + v * SIMD_LANES)
        add_listed(quads, list.taps, list.length, c, is_signed, totals)
        if ends:
            finish_quads(p, totals, &sort.division, quads.flip, out + c)
        else:
            for v in range(ACROSS):
                store_i32(sums + v * SIMD_LANES, totals[v])
        if c + ACROSS * SIMD_LANES == channels:
            return
        c = step_on(c, channels)
        sums += ACROSS * SIMD_LANES
