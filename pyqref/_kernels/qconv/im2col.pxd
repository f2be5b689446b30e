# The windows of an image as rows of a matrix, made block by block: never the whole matrix.

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset
from pyqref._kernels.product.description cimport (
    COPIED_TOO_MUCH, GROUP_ROWS, Bytes, Layout, place_of_row,
)

cdef enum:
    MOST_LINES = 64                 # under a window, whose places are known at a time

# An image (batch, depth, height, width, channels) of bytes and how a kernel walks over it.
cdef struct Image:
    const uint8_t* x                # at the first channel of the group
    Py_ssize_t batch
    Py_ssize_t channels             # of the image
    Py_ssize_t inputs               # of the group
    int64_t[3] size
    int64_t[3] kernel
    int64_t[3] stride
    int64_t[3] padding              # negative where windows begin behind the first pixel
    int64_t[3] dilation
    int64_t[3] out
    # Bytes from a result to the next: of images, depth, height and width.
    Py_ssize_t[4] step
    uint8_t zero_point              # as a byte of x
    uint8_t flip                    # 128 turns signed bytes into unsigned ones, 128 higher


# Position of an output: which image of the batch, and where in it.
cdef struct Position:
    Py_ssize_t image
    Py_ssize_t[3] at


cdef inline void locate(const Image* image, Py_ssize_t row, Position* p) noexcept nogil:
    p.at[2] = row % image.out[2]
    row //= image.out[2]
    p.at[1] = row % image.out[1]
    row //= image.out[1]
    p.at[0] = row % image.out[0]
    p.image = row // image.out[0]


cdef inline void advance(const Image* image, Position* p) noexcept nogil:
    cdef int axis = 2
    p.at[2] += 1
    while p.at[axis] == image.out[axis]:
        p.at[axis] = 0
        if axis == 0:
            p.image += 1
            return
        axis -= 1
        p.at[axis] += 1


cdef inline Py_ssize_t reach(const Image* image, const Position* p, int axis,
                             Py_ssize_t tap) noexcept nogil:
    """Coordinate of the input under a tap; outside the image in the padding."""
    return p.at[axis] * image.stride[axis] + tap * image.dilation[axis] - image.padding[axis]


cdef inline Py_ssize_t place_of_result(const Image* image, const Position* p) noexcept nogil:
    cdef Py_ssize_t place = p.image * image.step[0] + p.at[0] * image.step[1]
    return place + p.at[1] * image.step[2] + p.at[2] * image.step[3]


cdef inline bint is_in(const Image* image, int axis, Py_ssize_t at) noexcept nogil:
    return 0 <= at < image.size[axis]


# What a window takes of each line under it: segments of memory.
cdef struct Segments:
    Py_ssize_t count, size          # bytes of each
    Py_ssize_t padded               # the same, up to a multiple of four
    Py_ssize_t step                 # bytes from one to the next
    Py_ssize_t line                 # bytes of all
    const uint8_t* end              # of the image


cdef inline const uint8_t* end_of(const Image* image) noexcept nogil:
    cdef Py_ssize_t pixels = image.batch * image.size[0] * image.size[1] * image.size[2]
    # x begins with the group: what is before it is counted at the end, and left out.
    return image.x + (pixels - 1) * image.channels + image.inputs


cdef inline void cut_lines(const Image* image, Segments* segments) noexcept nogil:
    segments.count, segments.size = image.kernel[2], image.inputs
    segments.step = image.dilation[2] * image.channels
    if image.dilation[2] == 1 and image.inputs == image.channels:
        segments.count, segments.size = 1, image.kernel[2] * image.inputs
    segments.padded = (segments.size + 3) // 4 * 4
    segments.line = segments.count * segments.size
    segments.end = end_of(image)


cdef inline void copy_segment(
    uint8_t* row, const uint8_t* x, Py_ssize_t size, const uint8_t* end
) noexcept nogil:
    """Copies of a constant size are one load and one store: they may write more than asked for.

    What follows in the scratch is written later.
    """
    cdef Py_ssize_t i
    if x + size + COPIED_TOO_MUCH > end:
        memcpy(row, x, size)
    elif size <= 4:
        memcpy(row, x, 4)
    elif size <= 16:
        memcpy(row, x, 16)
    elif size <= 32:
        memcpy(row, x, 32)
    else:
        for i in range(0, size, 64):
            memcpy(row + i, x + i, 64)


cdef inline uint8_t* copy_inner_window(
    const Image* image, const Segments* segments, const uint8_t** lines, Py_ssize_t n_lines,
    Py_ssize_t first, uint8_t* row,
) noexcept nogil:
    """A window none of whose columns is in the padding; ``first`` is where it begins, in bytes."""
    cdef Py_ssize_t i, _k
    cdef const uint8_t* x
    for i in range(n_lines):
        if lines[i] == NULL:
            memset(row, image.zero_point, segments.line)
            row += segments.line
        else:
            x = lines[i] + first
            for _k in range(segments.count):
                copy_segment(row, x, segments.size, segments.end)
                row += segments.size
                x += segments.step
    return row


cdef inline void copy_plain_windows(
    const Image* image, const Segments* segments, const uint8_t** lines, Py_ssize_t n_lines,
    Py_ssize_t first, Py_ssize_t count, uint8_t* row, Py_ssize_t row_step, const int chunk,
) noexcept nogil:
    """Windows side by side, none of whose segments is longer than ``chunk`` bytes."""
    cdef Py_ssize_t size = segments.size
    cdef Py_ssize_t step = image.stride[2] * image.channels
    cdef const uint8_t* x
    cdef uint8_t* target
    cdef Py_ssize_t _r, i, _k
    for _r in range(count):
        target = row
        for i in range(n_lines):
            x = lines[i] + first
            for _k in range(segments.count):
                memcpy(target, x, chunk)
                target += size
                x += segments.step
        target[0] = target[1] = target[2] = 0   # up to a multiple of four
        first += step
        row += row_step


cdef inline Py_ssize_t plain_windows(
    const Image* image, const Segments* segments, const uint8_t** lines, Py_ssize_t n_lines,
    const Position* p,
) noexcept nogil:
    """Return the number of windows from here on that ``copy_plain_windows`` may copy."""
    cdef Py_ssize_t i, at, inside
    cdef Py_ssize_t step = image.stride[2] * image.channels
    if n_lines != image.kernel[0] * image.kernel[1] or image.flip or reach(image, p, 2, 0) < 0:
        return 0
    if not 0 < segments.size <= COPIED_TOO_MUCH:
        return 0
    for i in range(n_lines):
        if lines[i] == NULL:
            return 0
    inside = image.size[2] - 1 - reach(image, p, 2, image.kernel[2] - 1)
    if inside < 0:
        return 0
    at = reach(image, p, 2, 0) * image.channels + (segments.count - 1) * segments.step
    # The last line is the one nearest to the end of the image.
    return max(
        min(
            min(inside // image.stride[2] + 1, image.out[2] - p.at[2]),
            (segments.end - lines[n_lines - 1] - at - COPIED_TOO_MUCH) // step + 1,
        ),
        0,
    )


cdef inline uint8_t* copy_outer_window(
    const Image* image, const Position* p, const uint8_t** lines, Py_ssize_t n_lines, uint8_t* row
) noexcept nogil:
    cdef Py_ssize_t n = image.inputs
    cdef Py_ssize_t i, tap, at
    for i in range(n_lines):
        for tap in range(image.kernel[2]):
            at = reach(image, p, 2, tap)
            if lines[i] != NULL and is_in(image, 2, at):
                memcpy(row, lines[i] + at * image.channels, n)
            else:
                memset(row, image.zero_point, n)
            row += n
    return row


cdef inline bint is_inner(const Image* image, const Position* p) noexcept nogil:
    cdef Py_ssize_t last = reach(image, p, 2, image.kernel[2] - 1)
    return reach(image, p, 2, 0) >= 0 and last < image.size[2]


cdef inline Py_ssize_t find_lines(
    const Image* image, const Position* p, Py_ssize_t first, const uint8_t** lines
) noexcept nogil:
    """Find at most MOST_LINES lines under a window, from line ``first``; NULL is padding."""
    cdef Py_ssize_t count = min(
        <Py_ssize_t> MOST_LINES, image.kernel[0] * image.kernel[1] - first
    )
    cdef Py_ssize_t i, y, z
    for i in range(count):
        z = reach(image, p, 0, (first + i) // image.kernel[1])
        y = reach(image, p, 1, (first + i) % image.kernel[1])
        lines[i] = NULL
        if is_in(image, 0, z) and is_in(image, 1, y):
            lines[i] = image.x + (
                ((p.image * image.size[0] + z) * image.size[1] + y) * image.size[2]
            ) * image.channels
    return count


cdef inline void windows_copied(
    const void* source, Py_ssize_t first, Py_ssize_t count, uint8_t* scratch,
    const Layout* layout, const uint8_t** rows,
) noexcept nogil:
    cdef const Image* image = <const Image*> source
    cdef Py_ssize_t all_lines = image.kernel[0] * image.kernel[1]
    cdef Py_ssize_t r, line, k, n_lines, plain
    cdef Bytes[MOST_LINES] lines
    cdef uint8_t* row
    cdef Segments segments
    cdef Position p
    cut_lines(image, &segments)
    locate(image, first, &p)
    n_lines = find_lines(image, &p, 0, lines)
    r = 0
    while r < count:
        rows[r] = row = place_of_row(scratch, layout, r)
        plain = min(plain_windows(image, &segments, lines, n_lines, &p), count - r)
        plain = min(plain, GROUP_ROWS - r % GROUP_ROWS)
        if plain > 1:
            k = reach(image, &p, 2, 0) * image.channels
            if segments.size <= 16:
                copy_plain_windows(image, &segments, lines, n_lines, k, plain, row, layout.row, 16)
            elif segments.size <= 32:
                copy_plain_windows(image, &segments, lines, n_lines, k, plain, row, layout.row, 32)
            else:
                copy_plain_windows(image, &segments, lines, n_lines, k, plain, row, layout.row, 64)
            for k in range(plain):
                rows[r + k] = row + k * layout.row
            r += plain
            p.at[2] += plain - 1
            advance(image, &p)
            if p.at[2] == 0:
                n_lines = find_lines(image, &p, 0, lines)
            continue
        r += 1
        line = 0
        while True:
            if is_inner(image, &p):
                row = copy_inner_window(
                    image, &segments, lines, n_lines, reach(image, &p, 2, 0) * image.channels, row
                )
            else:
                row = copy_outer_window(image, &p, lines, n_lines, row)
            line += n_lines
            if line == all_lines:
                break
            n_lines = find_lines(image, &p, line, lines)
        for k in range(layout.depth - segments.line * all_lines):
            row[k] = 0
        if image.flip:
            row = place_of_row(scratch, layout, r - 1)
            for k in range(segments.line * all_lines):
                row[k] ^= image.flip
        advance(image, &p)
        if p.at[2] == 0 or all_lines > MOST_LINES:
            n_lines = find_lines(image, &p, 0, lines)


cdef inline bint is_matrix(const Image* image) noexcept nogil:
    """Return True if the windows are all pixels, one after another."""
    cdef int axis
    for axis in range(3):
        if image.kernel[axis] != 1 or image.padding[axis] != 0 or image.stride[axis] != 1:
            return False
        if image.out[axis] != image.size[axis]:
            return False
    return not image.flip
