# Windows that are multiplied where they lie: a pointer to each of their pieces, which are whole
# lines under the kernel where pixels follow one another. Only pieces that reach over an edge of
# the image are copied.

cdef enum:
    SHORTEST_PIECE = 16             # of several in a line; shorter ones are copied together
    PADDED_WEIGHTS = 1 << 18        # bytes of weights that are laid out anew, at most
    ROWS_WORTH_PADDING = 32         # for which that is done


cdef bint lie_apart(const Image* image, const Pieces* pieces, const Epilogue* e) noexcept nogil:
    """Whether ``windows_in_place`` will do.

    A piece is read up to a multiple of four bytes: what follows it meets weights that are zero.
    """
    cdef Py_ssize_t n_lines = image.kernel[0] * image.kernel[1]
    cdef Py_ssize_t rows = image.batch * image.out[0] * image.out[1] * image.out[2]
    if image.flip or not 0 < n_lines <= MOST_LINES or pieces.size == 0:
        return False
    if e.weight_zero_points != NULL:    # the sums of rows are wanted
        return n_lines == pieces.count == 1 and pieces.padded == pieces.size
    if pieces.count > 1:
        return pieces.padded == pieces.size >= SHORTEST_PIECE
    if n_lines == 1 or pieces.padded == pieces.size:
        return True
    if image.inputs != image.channels or rows < ROWS_WORTH_PADDING:
        return False
    return (e.columns + 15) // 16 * 16 * n_lines * pieces.padded <= PADDED_WEIGHTS


cdef bint has_edges(const Image* image, const Pieces* pieces) noexcept nogil:
    """Whether some pieces reach over an edge of the image, or of its memory."""
    cdef Py_ssize_t end
    cdef int axis
    for axis in range(3):
        end = (image.out[axis] - 1) * image.stride[axis]
        end += (image.kernel[axis] - 1) * image.dilation[axis] - image.padding[axis]
        if image.padding[axis] > 0 or end >= image.size[axis]:
            return True
    return pieces.padded > pieces.size


cdef void pad_pieces(
    const int8_t* panels, Py_ssize_t columns, Py_ssize_t quads, Py_ssize_t pieces,
    Py_ssize_t size, int8_t* target,
) noexcept nogil:
    """Lay panels out so that each piece begins with a quad of its own; zeros follow it."""
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t width, piece, i, c, depth
    memset(target, 0, (columns + 15) // 16 * 16 * pieces * ((size + 3) // 4 * 4))
    while first < columns:
        width = min((columns - first + 15) // 16 * 16, <Py_ssize_t> PANEL_COLUMNS)
        for piece in range(pieces):
            for i in range(size):
                depth = piece * size + i
                for c in range(width):
                    target[(i // 4 * width + c) * 4 + i % 4] = (
                        panels[(depth // 4 * width + c) * 4 + depth % 4]
                    )
            target += (size + 3) // 4 * 4 * width
        panels += quads * 4 * width
        first += width


cdef inline Py_ssize_t inner_windows(
    const Image* image, const Pieces* pieces, const uint8_t** lines, Py_ssize_t n_lines,
    const Position* p,
) noexcept nogil:
    """How many windows from here have all their columns in the image, and may be read whole."""
    cdef Py_ssize_t stride = image.stride[2]
    cdef Py_ssize_t at = reach(image, p, 2, 0)
    cdef Py_ssize_t buffer = image.size[2] - 1 - reach(image, p, 2, image.kernel[2] - 1)
    cdef Py_ssize_t last = n_lines - 1
    cdef Py_ssize_t left
    if at < 0 or buffer < 0:
        return 0
    buffer = min(buffer // stride + 1, image.out[2] - p.at[2])
    while last >= 0 and lines[last] == NULL:
        last -= 1
    if pieces.padded > pieces.size and last >= 0:
        left = pieces.end - lines[last] - at * image.channels - pieces.padded
        left -= (pieces.count - 1) * pieces.step
        buffer = min(buffer, left // (stride * image.channels) + 1 if left >= 0 else 0)
    return buffer


cdef inline void point_to_windows(
    const Image* image, const Pieces* pieces, const uint8_t** lines, Py_ssize_t n_lines,
    Py_ssize_t first, Py_ssize_t count, const uint8_t* blank, Py_ssize_t pitch,
    const uint8_t** rows,
) noexcept nogil:
    """Windows side by side; ``first`` is where they begin in a line, in bytes."""
    cdef Py_ssize_t stride = image.stride[2] * image.channels
    cdef Py_ssize_t i, k, r, step
    cdef const uint8_t* x
    for i in range(n_lines):
        for k in range(pieces.count):
            x, step = blank, 0
            if lines[i] != NULL:
                x, step = lines[i] + first + k * pieces.step, stride
            # Added, not multiplied: integers of 64 bits are multiplied slowly.
            for r in range(count):
                rows[r] = x
                x += step
            rows += pitch


cdef inline void fill_piece(uint8_t* row, uint8_t value, Py_ssize_t size) noexcept nogil:
    """As ``copy_piece`` copies: some stores of a constant size."""
    if size <= 16:
        memset(row, value, 16)
    elif size <= 64:
        memset(row, value, 64)
    else:
        memset(row, value, size)


cdef void copy_over_edge(
    const Image* image, const Pieces* pieces, const Position* p, const uint8_t** lines,
    Py_ssize_t n_lines, const uint8_t* blank, uint8_t* target, Py_ssize_t pitch,
    const uint8_t** row,
) noexcept nogil:
    """One window; only lines inside of the image are copied."""
    cdef Py_ssize_t n = image.inputs
    cdef Py_ssize_t taps = image.kernel[2] // pieces.count  # of a piece: pixels side by side
    cdef Py_ssize_t i, k, at, before, end
    at = before = end = 0
    for i in range(n_lines):
        for k in range(pieces.count):
            if i == 0 or pieces.count > 1:
                at = reach(image, p, 2, k)
                before = min(max(-at, <Py_ssize_t> 0), taps)
                end = max(min(<Py_ssize_t> image.size[2] - at, taps), before)
            row[0] = target
            if lines[i] == NULL:
                row[0] = blank
            else:
                if before > 0:
                    fill_piece(target, image.zero_point, before * n)
                if end > before:
                    copy_piece(
                        target + before * n, lines[i] + (at + before) * image.channels,
                        (end - before) * n, pieces.end,
                    )
                if end < taps:
                    fill_piece(target + end * n, image.zero_point, (taps - end) * n)
            target += pieces.padded
            row += pitch


cdef void windows_in_place(
    const void* source, Py_ssize_t first, Py_ssize_t count, uint8_t* scratch,
    const Layout* layout, const uint8_t** rows,
) noexcept nogil:
    """Pointers to the pieces of windows; the first row of scratch is a blank piece."""
    cdef const Image* image = <const Image*> source
    cdef Bytes[MOST_LINES] lines
    cdef Py_ssize_t r = 0
    cdef Py_ssize_t n_lines, inner
    cdef Pieces pieces
    cdef Position p
    cut_lines(image, &pieces)
    locate(image, first, &p)
    n_lines = find_lines(image, &p, 0, lines)
    if has_edges(image, &pieces):
        memset(scratch, image.zero_point, pieces.padded)
    while r < count:
        inner = min(inner_windows(image, &pieces, lines, n_lines, &p), count - r)
        if inner > 0:
            point_to_windows(
                image, &pieces, lines, n_lines, reach(image, &p, 2, 0) * image.channels, inner,
                scratch, layout.pitch, rows + r,
            )
            r += inner
            p.at[2] += inner - 1
        else:
            copy_over_edge(
                image, &pieces, &p, lines, n_lines, scratch,
                place_of_row(scratch, layout, r) + layout.row, layout.pitch, rows + r,
            )
            r += 1
        advance(image, &p)
        if p.at[2] == 0:
            n_lines = find_lines(image, &p, 0, lines)
