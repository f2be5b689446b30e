# The windows of an image as rows of a matrix, made block by block: never the whole matrix.


# An image (batch, depth, height, width, channels) of bytes and how a kernel walks over it.
cdef struct Image:
    const uint8_t* x                # at the first channel of the group
    Py_ssize_t channels             # of the image
    Py_ssize_t inputs               # of the group
    int64_t[3] size
    int64_t[3] kernel
    int64_t[3] stride
    int64_t[3] padding
    int64_t[3] dilation
    int64_t[3] out
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


cdef inline bint is_in(const Image* image, int axis, Py_ssize_t at) noexcept nogil:
    return 0 <= at < image.size[axis]


cdef inline void copy_pixel(uint8_t* row, const uint8_t* pixel, Py_ssize_t n) noexcept nogil:
    # Compilers turn copies of a constant size into one load and one store.
    if n == 4:
        memcpy(row, pixel, 4)
    elif n == 8:
        memcpy(row, pixel, 8)
    elif n == 16:
        memcpy(row, pixel, 16)
    elif n == 32:
        memcpy(row, pixel, 32)
    elif n == 64:
        memcpy(row, pixel, 64)
    else:
        memcpy(row, pixel, n)


cdef inline uint8_t* copy_line(
    const Image* image, const Position* p, const uint8_t* line, uint8_t* row
) noexcept nogil:
    """The taps along one line of the image; returns the end of what was written."""
    cdef Py_ssize_t taps = image.kernel[2]
    cdef Py_ssize_t n = image.inputs
    cdef Py_ssize_t first = reach(image, p, 2, 0)
    cdef Py_ssize_t tap, at
    cdef bint is_inside = first >= 0 and first + taps <= image.size[2]
    if is_inside and image.dilation[2] == 1:
        if n == image.channels:
            memcpy(row, line + first * n, taps * n)
            return row + taps * n
        line += first * image.channels
        for tap in range(taps):
            copy_pixel(row + tap * n, line + tap * image.channels, n)
        return row + taps * n
    for tap in range(taps):
        at = reach(image, p, 2, tap)
        if is_in(image, 2, at):
            copy_pixel(row, line + at * image.channels, n)
        else:
            memset(row, image.zero_point, n)
        row += n
    return row


cdef void windows_copied(
    const void* source, Py_ssize_t first, Py_ssize_t count, uint8_t* scratch,
    const Layout* layout, const uint8_t** rows,
) noexcept nogil:
    cdef const Image* image = <const Image*> source
    cdef Py_ssize_t depth = image.kernel[0] * image.kernel[1] * image.kernel[2] * image.inputs
    cdef Py_ssize_t line_taps = image.kernel[2] * image.inputs
    cdef Py_ssize_t r, i, j, y, z, k
    cdef const uint8_t* line
    cdef uint8_t* row
    cdef Position p
    locate(image, first, &p)
    for r in range(count):
        row = place_of_row(scratch, layout, r)
        rows[r] = row
        for i in range(image.kernel[0]):
            z = reach(image, &p, 0, i)
            for j in range(image.kernel[1]):
                y = reach(image, &p, 1, j)
                if is_in(image, 0, z) and is_in(image, 1, y):
                    line = image.x + (
                        ((p.image * image.size[0] + z) * image.size[1] + y) * image.size[2]
                    ) * image.channels
                    row = copy_line(image, &p, line, row)
                else:
                    memset(row, image.zero_point, line_taps)
                    row += line_taps
        row = place_of_row(scratch, layout, r)
        if image.flip:
            for k in range(depth):
                row[k] ^= image.flip
        for k in range(depth, layout.run_depth):
            row[k] = 0
        advance(image, &p)


cdef void pixels_in_place(
    const void* source, Py_ssize_t first, Py_ssize_t count, uint8_t* scratch,
    const Layout* layout, const uint8_t** rows,
) noexcept nogil:
    """A kernel of one tap without padding: the rows are the pixels themselves."""
    cdef const Image* image = <const Image*> source
    cdef Py_ssize_t r
    cdef Position p
    locate(image, first, &p)
    for r in range(count):
        rows[r] = image.x + image.channels * (
            ((p.image * image.size[0] + reach(image, &p, 0, 0)) * image.size[1]
             + reach(image, &p, 1, 0)) * image.size[2] + reach(image, &p, 2, 0)
        )
        advance(image, &p)


cdef bint is_pixelwise(const Image* image) noexcept nogil:
    """Whether ``pixels_in_place`` will do."""
    cdef int axis
    for axis in range(3):
        if image.kernel[axis] != 1 or image.padding[axis] != 0:
            return False
    return image.inputs % 4 == 0 and not image.flip
