# Windows that are multiplied where they lie: a pointer to each of their segments, which are whole
# lines under the kernel where pixels follow one another. Only segments that reach over an edge of
# the image are copied.

from libc.stdint cimport int8_t, uint8_t
from libc.string cimport memset
from pyqref._kernels.product.description cimport (
    PANEL_COLUMNS, Bytes, Epilogue, Layout, place_of_row,
)
from pyqref._kernels.qconv.im2col cimport (
    MOST_LINES, Image, Position, Segments, advance, copy_segment, cut_lines, find_lines, locate,
    reach,
)

cdef enum:
    SHORTEST_SEGMENT = 16             # of several in a line; shorter ones are copied together
    PADDED_WEIGHTS = 1 << 18        # bytes of weights that are laid out anew, at most
    ROWS_WORTH_PADDING = 32         # for which that is done


cdef inline bint lie_apart(
    const Image* image, const Segments* segments, const Epilogue* e
) noexcept nogil:
    """Return True if ``windows_in_place`` can serve this layer.

    A segment is read up to a multiple of four bytes: the bytes behind it meet weights that are
    zero.
    """
    cdef Py_ssize_t n_lines = image.kernel[0] * image.kernel[1]
    cdef Py_ssize_t rows = image.batch * image.out[0] * image.out[1] * image.out[2]
    if image.flip or not 0 < n_lines <= MOST_LINES or segments.size == 0:
        return False
    if e.weight_zero_points != NULL:    # the sums of rows are wanted
        return n_lines == segments.count == 1 and segments.padded == segments.size
    if segments.count > 1:
        return segments.padded == segments.size >= SHORTEST_SEGMENT
    if n_lines == 1 or segments.padded == segments.size:
        return True
    if image.inputs != image.channels or rows < ROWS_WORTH_PADDING:
        return False
    return (e.columns + 15) // 16 * 16 * n_lines * segments.padded <= PADDED_WEIGHTS


cdef inline bint has_edges(const Image* image, const Segments* segments) noexcept nogil:
    """Return True if some segments reach over an edge of the image, or of its memory."""
    cdef Py_ssize_t end
    cdef int axis
    for axis in range(3):
        end = (image.out[axis] - 1) * image.stride[axis]
        end += (image.kernel[axis] - 1) * image.dilation[axis] - image.padding[axis]
        if image.padding[axis] > 0 or end >= image.size[axis]:
            return True
    return segments.padded > segments.size


cdef inline void pad_segments(
    const int8_t* panels, Py_ssize_t columns, Py_ssize_t quads, Py_ssize_t segments,
    Py_ssize_t size, int8_t* target,
) noexcept nogil:
    """Lay panels out so that each segment begins with a quad of its own; zeros follow it."""
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t width, segment, i, c, depth
    memset(target, 0, (columns + 15) // 16 * 16 * segments * ((size + 3) // 4 * 4))
    while first < columns:
        width = min((columns - first + 15) // 16 * 16, <Py_ssize_t> PANEL_COLUMNS)
        for segment in range(segments):
            for i in range(size):
                depth = segment * size + i
                for c in range(width):
                    target[(i // 4 * width + c) * 4 + i % 4] = (
                        panels[(depth // 4 * width + c) * 4 + depth % 4]
                    )
            target += (size + 3) // 4 * 4 * width
        panels += quads * 4 * width
        first += width


cdef inline Py_ssize_t inner_windows(
    const Image* image, const Segments* segments, const uint8_t** lines, Py_ssize_t n_lines,
    const Position* p,
) noexcept nogil:
    """Return the number of windows from here on whose columns all lie in the image."""
    cdef Py_ssize_t stride = image.stride[2]
    cdef Py_ssize_t at = reach(image, p, 2, 0)
    cdef Py_ssize_t inner = image.size[2] - 1 - reach(image, p, 2, image.kernel[2] - 1)
    cdef Py_ssize_t last = n_lines - 1
    cdef Py_ssize_t left
    if at < 0 or inner < 0:
        return 0
    inner = min(inner // stride + 1, image.out[2] - p.at[2])
    while last >= 0 and lines[last] == NULL:
        last -= 1
    if segments.padded > segments.size and last >= 0:
        left = segments.end - lines[last] - at * image.channels - segments.padded
        left -= (segments.count - 1) * segments.step
        inner = min(inner, left // (stride * image.channels) + 1 if left >= 0 else 0)
    return inner


cdef inline void point_to_windows(
    const Image* image, const Segments* segments, const uint8_t** lines, Py_ssize_t n_lines,
    Py_ssize_t first, Py_ssize_t count, const uint8_t* blank, Py_ssize_t pitch,
    const uint8_t** rows,
) noexcept nogil:
    """Windows side by side; ``first`` is where they begin in a line, in bytes."""
    cdef Py_ssize_t stride = image.stride[2] * image.channels
    cdef Py_ssize_t i, k, r, step
    cdef const uint8_t* x
    for i in range(n_lines):
        for k in range(segments.count):
            x, step = blank, 0
            if lines[i] != NULL:
                x, step = lines[i] + first + k * segments.step, stride
            # Added, not multiplied: integers of 64 bits are multiplied slowly.
            for r in range(count):
                rows[r] = x
                x += step
            rows += pitch


cdef inline void fill_segment(uint8_t* row, uint8_t value, Py_ssize_t size) noexcept nogil:
    """Fill a segment in the way of ``copy_segment``: by some stores of a constant size."""
    if size <= 16:
        memset(row, value, 16)
    elif size <= 64:
        memset(row, value, 64)
    else:
        memset(row, value, size)


cdef inline void copy_over_edge(
    const Image* image, const Segments* segments, const Position* p, const uint8_t** lines,
    Py_ssize_t n_lines, const uint8_t* blank, uint8_t* target, Py_ssize_t pitch,
    const uint8_t** row,
) noexcept nogil:
    """One window; only lines inside of the image are copied."""
    cdef Py_ssize_t n = image.inputs
    cdef Py_ssize_t taps = image.kernel[2] // segments.count  # of a segment: pixels side by side
    cdef Py_ssize_t i, k, at, before, end
    at = before = end = 0
    for i in range(n_lines):
        for k in range(segments.count):
            if i == 0 or segments.count > 1:
                at = reach(image, p, 2, k)
                before = min(max(-at, <Py_ssize_t> 0), taps)
                end = max(min(<Py_ssize_t> image.size[2] - at, taps), before)
            row[0] = target
            if lines[i] == NULL:
                row[0] = blank
            else:
                if before > 0:
                    fill_segment(target, image.zero_point, before * n)
                if end > before:
                    copy_segment(
                        target + before * n, lines[i] + (at + before) * image.channels,
                        (end - before) * n, segments.end,
                    )
                if end < taps:
                    fill_segment(target + end * n, image.zero_point, (taps - end) * n)
            target += segments.padded
            row += pitch


cdef inline void windows_in_place(
    const void* source, Py_ssize_t first, Py_ssize_t count, uint8_t* scratch,
    const Layout* layout, const uint8_t** rows,
) noexcept nogil:
    """Pointers to the segments of windows; the first row of scratch is a blank segment."""
    cdef const Image* image = <const Image*> source
    cdef Bytes[MOST_LINES] lines
    cdef Py_ssize_t r = 0
    cdef Py_ssize_t n_lines, inner
    cdef Segments segments
    cdef Position p
    cut_lines(image, &segments)
    locate(image, first, &p)
    n_lines = find_lines(image, &p, 0, lines)
    if has_edges(image, &segments):
        memset(scratch, image.zero_point, segments.padded)
    while r < count:
        inner = min(inner_windows(image, &segments, lines, n_lines, &p), count - r)
        if inner > 0:
            point_to_windows(
                image, &segments, lines, n_lines, reach(image, &p, 2, 0) * image.channels, inner,
                scratch, layout.pitch, rows + r,
            )
            r += inner
            p.at[2] += inner - 1
        else:
            copy_over_edge(
                image, &segments, &p, lines, n_lines, scratch,
                place_of_row(scratch, layout, r) + layout.row, layout.pitch, rows + r,
            )
            r += 1
        advance(image, &p)
        if p.at[2] == 0:
            n_lines = find_lines(image, &p, 0, lines)
