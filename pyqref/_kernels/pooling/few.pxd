# Means of few channels.
#
# Pixels side by side, as many as fill whole steps, are added up as if they were one pixel of many
# channels, and then among themselves. What is left is added pixel by pixel.

from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memcpy, memset
from pyqref._kernels.cache cimport LINE, next_line
from pyqref._kernels.pooling.mean cimport Division, mean_of, store_mean
from pyqref._kernels.pooling.pool cimport ACROSS, LISTED, QUADS, List, Pool, Taps, count_of
from pyqref._kernels.pooling.quads cimport (
    Quads, Sort, list_whole_quads, pass_over, set_quads, step_on,
)
from pyqref._kernels.simd.primitives cimport *

cdef enum:
    FEW = 24                        # times so many pixels are worth it
    LARGE = 32                      # taps of a window whose rows may be one
    WIDEST = 1 << 12                # sums of such a pixel, at most


cdef inline Taps as_few_rows(const Taps* taps) noexcept nogil:
    """Return the same taps with rows that follow one another joined, and planes likewise."""
    cdef Taps rows = taps[0]
    if rows.columns * rows.column_step == rows.row_step:
        rows.columns *= rows.rows
        rows.rows, rows.row_step = 1, rows.plane_step
        if rows.columns * rows.column_step == rows.plane_step:
            rows.columns *= rows.planes
            rows.planes = 1
    return rows


cdef inline Py_ssize_t pixels_of(Py_ssize_t channels) noexcept nogil:
    """Pixels whose channels fill steps but for a ninth."""
    cdef Py_ssize_t step = ACROSS * SIMD_LANES
    cdef Py_ssize_t pixels = (step + channels - 1) // channels
    while (pixels * channels + step - 1) // step * step * 8 > pixels * channels * 9:
        pixels += 1
    return pixels


cdef inline void add_most(
    const Pool* p, Taps* taps, Py_ssize_t pixels, int32_t* sums
) noexcept nogil:
    """Add most taps of a large window to the sums of its channels, and leave the others."""
    taps[0] = as_few_rows(taps)
    if count_of(taps) >= FEW * pixels:
        add_many_pixels(p, taps, pixels, sums)


cdef inline void add_many_pixels(
    const Pool* p, Taps* taps, Py_ssize_t pixels, int32_t* sums
) noexcept nogil:
    """Add the first pixels of each row, some at a time."""
    cdef int32_t[WIDEST + ACROSS * LANES_MAX] waiting, wide
    cdef uint8_t[QUADS + LINE] scratch
    cdef Taps many = taps[0]
    cdef Py_ssize_t channels = pixels * p.inner
    cdef Py_ssize_t c = 0
    cdef Py_ssize_t tap = 0
    cdef Quads quads
    cdef Sort sort
    cdef List list
    cdef const int32_t* step = waiting
    cdef int v, lane
    many.columns //= pixels
    many.column_step = channels
    if many.columns == 0:
        return
    taps.first += many.columns * channels
    taps.columns -= many.columns * pixels
    list.columns = -1
    quads.flip = 0x80 if p.is_signed else 0
    quads.scratch = <uint8_t*> next_line(scratch)
    set_quads(&quads, count_of(&many))
    sort.start = <int32_t> quads.taps * (INPUT_SHIFT - quads.flip)
    while tap < quads.taps:
        list_whole_quads(&list, &many, tap, LISTED)
        if p.is_signed:
            pass_over(p, &list, &quads, &sort, True, tap == 0, False, channels, waiting, NULL)
        else:
            pass_over(p, &list, &quads, &sort, False, tap == 0, False, channels, waiting, NULL)
        tap += list.length
    while True:
        for v in range(ACROSS):
            for lane in range(SIMD_LANES):
                wide[c + lane // 4 * 16 + v * 4 + lane % 4] = step[v * SIMD_LANES + lane]
        if c + ACROSS * SIMD_LANES == channels:
            break
        c = step_on(c, channels)
        step += ACROSS * SIMD_LANES
    for tap in range(pixels):
        for c in range(p.inner):
            sums[c] += wide[tap * p.inner + c]


cdef inline void mean_of_rest(
    const Pool* p, const Taps* taps, const int32_t* sums, int32_t start, Division* d,
    bint is_signed, uint8_t* out,
) noexcept nogil:
    """Add some taps, pixel by pixel, to the sums of others, where there are any, and divide."""
    cdef uint8_t[LANES_MAX] rest
    cdef const uint8_t* x
    cdef i32v total
    cdef Py_ssize_t c = 0
    cdef Py_ssize_t left, z, y, _at
    while c < p.inner:
        left = min(p.inner - c, <Py_ssize_t> SIMD_LANES)
        total = set_i32(start)
        if sums != NULL:
            total = add_i32(total, load_i32(sums + c))
        for z in range(taps.planes):
            for y in range(taps.rows):
                x = taps.first + z * taps.plane_step + y * taps.row_step + c
                for _at in range(taps.columns):
                    if left == SIMD_LANES:
                        total = add_i32(total, load_bytes_of(x, is_signed))
                    else:
                        memset(rest, 0, sizeof(rest))
                        memcpy(rest, x, left)
                        total = add_i32(total, load_bytes_of(rest, is_signed))
                    x += taps.column_step
        store_mean(p, mean_of(p, total, d), out + c, left)
        c += SIMD_LANES


cdef inline void mean_of_few(
    const Pool* p, const Taps* taps, Py_ssize_t pixels, int32_t start, Division* d,
    bint is_signed, uint8_t* out,
) noexcept nogil:
    """Channels that are fewer than are averaged together; so many pixels may be taken for one."""
    cdef int32_t[ACROSS * LANES_MAX + LANES_MAX] sums
    cdef Taps rows
    if count_of(taps) < LARGE:
        mean_of_rest(p, taps, NULL, start, d, is_signed, out)
        return
    rows = taps[0]
    memset(sums, 0, sizeof(sums))
    add_most(p, &rows, pixels, sums)
    mean_of_rest(p, &rows, sums, start, d, is_signed, out)
