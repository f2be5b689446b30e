# The largest of each window.

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memset
from pyqref._kernels.pooling.pool cimport (
    LISTED, Bytes, Line, List, Pool, Share, Taps, Window, count_of, fill_list, length_of, share_of,
)
from pyqref._kernels.simd.primitives cimport *


cdef inline Py_ssize_t count_taps(const Window* window, int64_t step) noexcept nogil:
    cdef int64_t places = length_of(window)
    return places if step == 1 else (places + step - 1) // step


cdef enum:
    FEW_TAPS = 9                # whose places fit into registers


cdef inline void largest_of_few(
    uint8_t* out, const Bytes* list, int n, Py_ssize_t channels, uint8_t flip
) noexcept nogil:
    """Find the largest bytes as ``largest_listed`` does, for at most FEW_TAPS, a constant."""
    cdef Bytes[FEW_TAPS] taps
    cdef int tap
    # What is written to ``out`` might be the list, as far as compilers know, but not its copy.
    for tap in range(n):
        taps[tap] = list[tap]
    largest_listed(out, taps, n, channels, flip)


cdef inline void largest_listed(
    uint8_t* out, const Bytes* list, Py_ssize_t n, Py_ssize_t channels, uint8_t flip
) noexcept nogil:
    """The largest of each channel over n taps. ``flip`` is 128 for signed bytes, else 0."""
    cdef u8v top = set_bytes(flip)
    cdef u8v largest
    cdef Py_ssize_t c = 0
    cdef Py_ssize_t tap, left
    while c + 4 * SIMD_LANES <= channels:
        largest = xor_bytes(load_many_bytes(list[0] + c), top)
        for tap in range(1, n):
            largest = max_bytes(largest, xor_bytes(load_many_bytes(list[tap] + c), top))
        store_many_bytes(out + c, xor_bytes(largest, top))
        c += 4 * SIMD_LANES
    left = channels - c
    if left > 0:
        largest = xor_bytes(load_some_bytes(list[0] + c, left), top)
        for tap in range(1, n):
            largest = max_bytes(largest, xor_bytes(load_some_bytes(list[tap] + c, left), top))
        store_some_bytes(out + c, xor_bytes(largest, top), left)


cdef inline void largest_of(
    uint8_t* out, const Taps* taps, List* list, Py_ssize_t channels, uint8_t flip
) noexcept nogil:
    """The largest of each channel over all taps; the lowest number where there is none."""
    cdef Py_ssize_t n = count_of(taps)
    cdef Py_ssize_t start
    if n == 0:
        memset(out, flip, channels)
        return
    fill_list(list, taps, 0, LISTED)
    # Windows of 3 x 3 and 2 x 2 are common: compilers unroll a constant number.
    if n == 9 and not flip:
        largest_of_few(out, list.taps, 9, channels, 0)
    elif n == 4 and not flip:
        largest_of_few(out, list.taps, 4, channels, 0)
    else:
        largest_listed(out, list.taps, list.length, channels, flip)
    start = list.length
    while start < n:
        fill_list(list, taps, start, LISTED)
        start += list.length
        list.taps[list.length] = out
        largest_listed(out, list.taps, list.length + 1, channels, flip)


cdef inline void max_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Results of one line."""
    cdef const Pool* p = <const Pool*> context
    cdef Share share = share_of(p, index)
    cdef Line* line = &share.line
    cdef uint8_t flip = 0x80 if p.is_signed else 0
    cdef Taps taps
    cdef List list
    cdef Py_ssize_t x
    list.columns = -1
    taps.planes, taps.plane_step = count_taps(line.plane, p.step_z), p.step_z * line.plane_step
    taps.rows, taps.row_step = count_taps(line.row, p.step_y), p.step_y * line.row_step
    taps.column_step = p.step_x * p.inner
    for x in range(share.begin, share.end):
        taps.columns = count_taps(p.columns + x, p.step_x)
        taps.first = line.x + p.columns[x].first * p.inner
        largest_of(line.out + x * p.inner, &taps, &list, p.inner, flip)
