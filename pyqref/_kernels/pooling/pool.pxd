# Windows that slide over images of bytes, and how they are shared out.

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from pyqref._kernels.simd.primitives cimport *

ctypedef const uint8_t* Bytes

cdef extern from "pooling/bytes.h":
    ctypedef struct Taps "taps_t":
        const uint8_t* first
        Py_ssize_t planes, plane_step, rows, row_step, columns, column_step
    enum:
        LISTED
    Py_ssize_t list_taps(
        const Taps* taps, Py_ssize_t start, Py_ssize_t most, Bytes* list
    ) nogil
    ctypedef struct summed_v:       # four bytes in each lane, lower by INPUT_SHIFT
        pass
    ctypedef struct counted_v:      # for each of them 1, or 0 where it does not count
        pass
    # As interleave_quads, load_quads, load_weights and dot4_quads of the primitives.
    void interleave_summed(
        summed_v* quads, const uint8_t* a, const uint8_t* b, const uint8_t* c, const uint8_t* d
    ) nogil
    summed_v load_summed(const uint8_t* source) nogil
    counted_v load_counted(const int8_t* source) nogil
    i32v sum_summed(i32v sum, summed_v x, counted_v counted) nogil
    int32_t sum_u8(const uint8_t* x, Py_ssize_t n) nogil
    int32_t sum_s8(const int8_t* x, Py_ssize_t n) nogil

cdef enum:
    WORK_PER_THREAD = 1 << 19   # bytes under all windows that are worth a thread
    FINISHED = 12               # bytes, in whose time a mean is divided and rounded
    TASKS_PER_THREAD = 4        # at least, where there is so much to be cut
    LONGEST_TASK = 1 << 25      # bytes under its windows: what takes 1 to 60 milliseconds
    ACROSS = 4                  # vectors of channels that are averaged together
    QUADS = 16 * LANES_MAX      # bytes of their quads
    ALONG = 1 << 12             # sums of one channel that are kept at a time


# Where a window lies along one axis, and its part of the divisor.
cdef struct Window:
    int64_t first, last, counted


cdef inline int64_t length_of(const Window* window) noexcept nogil:
    return max(window.last - window.first, 0)


# A volume (outer, depth, height, width, inner) of bytes, or an image, which is one plane of it, and
# the windows that slide over it.
cdef struct Pool:
    const uint8_t* x
    uint8_t* out
    Py_ssize_t depth, height, width, inner, outer
    const Window* planes
    const Window* rows
    const Window* columns
    Py_ssize_t out_depth, out_height, out_width
    int64_t step_z, step_y, step_x  # between the taps of a window
    bint is_signed, by_reciprocal
    int32_t zero_point, lower, upper
    float scale
    int64_t divisor                 # 0: that of the window
    int32_t* sums                   # where there is one channel: `longest` a thread
    float* divisors
    Py_ssize_t longest
    Py_ssize_t segments               # of a line of results: tasks, each of some
    Py_ssize_t spans, parts         # of the channels, and of the taps of a window: for means


# What the windows of a line of results have in common.
cdef struct Line:
    const uint8_t* x                # the first line of the volume that is inside them
    uint8_t* out                    # the first result
    const Window* plane
    const Window* row
    Py_ssize_t plane_step, row_step


cdef inline Line line_of(const Pool* p, Py_ssize_t index) noexcept nogil:
    cdef Line line
    cdef Py_ssize_t above = index // p.out_height
    line.out = p.out + index * p.out_width * p.inner
    line.row = p.rows + index % p.out_height
    line.plane = p.planes + above % p.out_depth
    line.row_step = p.width * p.inner
    line.plane_step = p.height * line.row_step
    line.x = p.x + (above // p.out_depth * p.depth + line.plane.first) * line.plane_step
    line.x += line.row.first * line.row_step
    return line


# What one task is about: results of a line, and of these some channels and a part of the taps.
cdef struct Share:
    Line line
    Py_ssize_t begin, end
    Py_ssize_t channel, channels    # the first one, and how many
    Py_ssize_t part


cdef inline Py_ssize_t take(Py_ssize_t* index, Py_ssize_t count) noexcept nogil:
    """The last one of some numbers that are one, of ``count`` values; the others are left."""
    cdef Py_ssize_t last
    if count == 1:
        return 0
    last = index[0] % count
    index[0] //= count
    return last


cdef inline Share share_of(const Pool* p, Py_ssize_t index) noexcept nogil:
    cdef Share share
    cdef Py_ssize_t at
    share.part = take(&index, p.parts)
    at = take(&index, p.spans)
    share.channel = p.inner * at // p.spans
    share.channels = p.inner * (at + 1) // p.spans - share.channel
    at = take(&index, p.segments)
    share.begin = p.out_width * at // p.segments
    share.end = p.out_width * (at + 1) // p.segments
    share.line = line_of(p, index)
    return share


cdef inline Py_ssize_t cut_lines(Pool* p, double work, int n_threads) noexcept nogil:
    """Cut lines of results where they are few or long; gives how many tasks there are."""
    cdef Py_ssize_t lines = p.outer * p.out_depth * p.out_height
    cdef Py_ssize_t wanted = n_threads * TASKS_PER_THREAD if n_threads > 1 else 1
    wanted = max(wanted, <Py_ssize_t> (work / LONGEST_TASK))
    p.segments = max(1, min(p.out_width, (wanted + lines - 1) // lines))
    p.spans = p.parts = 1
    return lines * p.segments


# Where the bytes of the first channel are under some taps; three places are left for one more, or
# to fill up quads.
cdef struct List:
    Bytes[LISTED + 3] taps
    Py_ssize_t length, columns      # columns: of the window that is listed as a whole, or -1


cdef inline Py_ssize_t count_of(const Taps* taps) noexcept nogil:
    return taps.planes * taps.rows * taps.columns


cdef inline void fill_list(
    List* list, const Taps* taps, Py_ssize_t start, Py_ssize_t most
) noexcept nogil:
    """List the taps from number ``start`` on; those of the next window of a line are moved."""
    cdef Py_ssize_t step, i
    if start == 0 and taps.columns == list.columns:
        step = taps.first - list.taps[0]
        for i in range(list.length):
            list.taps[i] += step
        return
    list.length = list_taps(taps, start, most, list.taps)
    list.columns = taps.columns if list.length == count_of(taps) else -1
