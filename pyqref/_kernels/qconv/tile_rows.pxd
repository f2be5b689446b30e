# Windows that tile registers read where they lie: outputs side by side are rows as far apart as
# their pixels, and each tap is equally far from all of them. Where windows reach over an edge, the
# lines of the image under a block are copied, with the padding around them: once for each plane of
# the kernel, not once a tap as rows of a matrix are. In a copy the lines at one height, of all
# planes under a window, follow each other.

from libc.stdint cimport uint8_t
from libc.string cimport memcpy, memset
from pyqref._kernels.product.description cimport (
    BLOCK_ROWS_OF_TILES, DEEPEST_TILES, HEIGHT, SCRATCH_BYTES, TILE_DEPTH, Product, Span, Spans,
)
from pyqref._kernels.product.plan cimport scratch_for_spans, suits_tiles
from pyqref._kernels.qconv.im2col cimport Image, Position, is_matrix, locate
from pyqref._kernels.qconv.line_buffer cimport line_under

cdef enum:
    COPYING = 10                    # cycles in which 64 bytes of a window are copied
    SHORTEST_SPAN = 4               # outputs; fewer use little of a tile
    MOST_STEPS = DEEPEST_TILES // TILE_DEPTH


cdef inline Py_ssize_t spans_of_line(const Image* image) noexcept nogil:
    return (image.out[2] + HEIGHT - 1) // HEIGHT


cdef inline Py_ssize_t outputs_of_span(const Image* image) noexcept nogil:
    """All are equally high: shapes of tiles take long to change. The last one may begin earlier."""
    cdef Py_ssize_t spans = spans_of_line(image)
    return (image.out[2] + spans - 1) // spans


cdef inline Py_ssize_t under_windows(
    const Image* image, int axis, Py_ssize_t outputs
) noexcept nogil:
    """Pixels from the first to the last one under some windows side by side."""
    return (outputs - 1) * image.stride[axis] + (image.kernel[axis] - 1) * image.dilation[axis] + 1


cdef inline bint reach_over_edges(const Image* image) noexcept nogil:
    cdef int axis
    for axis in range(3):
        if image.padding[axis] > 0:
            return True
        if under_windows(image, axis, image.out[axis]) - image.padding[axis] > image.size[axis]:
            return True
    return False


cdef inline bint suits_spans(const Product* p, const Image* image) noexcept nogil:
    """Return True if tile registers read windows as spans, and this beats whole tiles."""
    cdef Py_ssize_t outputs = outputs_of_span(image)
    cdef Spans spans
    if not suits_tiles(p) or is_matrix(image) or image.flip or p.put_rows != NULL:
        return False
    if p.epilogue.weight_zero_points != NULL:   # the sums of rows are wanted
        return False
    if image.inputs != image.channels or image.inputs % TILE_DEPTH:
        return False
    if not SHORTEST_SPAN <= outputs or image.out[2] > BLOCK_ROWS_OF_TILES:
        return False
    # Two tiles by two of 16 columns are 64 cycles, however few rows they have.
    if p.columns * (HEIGHT - outputs) > HEIGHT * COPYING * outputs:
        return False
    fill_spans(&spans, image, NULL)
    return scratch_for_spans(&spans, image.out[2]) <= SCRATCH_BYTES


cdef inline void fill_spans(Spans* spans, const Image* image, Py_ssize_t* offsets) noexcept nogil:
    """Describe windows as spans; fill ``offsets`` where they are wanted."""
    cdef Py_ssize_t pixel = image.channels
    cdef Py_ssize_t line = image.size[2] * pixel
    cdef Py_ssize_t plane = image.dilation[0] * image.size[1] * line
    cdef Py_ssize_t step = 0
    cdef Py_ssize_t z, y, x, i
    spans.give, spans.offsets = give_spans, offsets
    spans.row, spans.line = image.stride[2] * pixel, image.out[2]
    spans.copy = spans.step = spans.more = 0
    spans.lines = image.out[1]
    if reach_over_edges(image):
        plane = spans.copy = under_windows(image, 2, image.out[2]) * pixel
        line = image.kernel[0] * plane
        spans.step = image.kernel[0] * image.stride[1]
        spans.more = max(image.kernel[0] * under_windows(image, 1, 1) - spans.step, <Py_ssize_t> 0)
    if offsets == NULL:
        return
    for z in range(image.kernel[0]):
        for y in range(image.kernel[1]):
            for x in range(image.kernel[2]):
                for i in range(pixel // TILE_DEPTH):
                    offsets[step] = (
                        z * plane + y * image.dilation[1] * line + x * image.dilation[2] * pixel
                        + i * TILE_DEPTH
                    )
                    step += 1


cdef inline void copy_between_edges(
    const Image* image, const uint8_t* line, uint8_t* target
) noexcept nogil:
    """All that windows reach of a line of the image, with the padding; NULL: of padding alone."""
    cdef Py_ssize_t pixel = image.channels
    cdef Py_ssize_t count = under_windows(image, 2, image.out[2])
    cdef Py_ssize_t first = max(<Py_ssize_t> -image.padding[2], <Py_ssize_t> 0)
    cdef Py_ssize_t before = min(max(<Py_ssize_t> image.padding[2], <Py_ssize_t> 0), count)
    cdef Py_ssize_t inside = max(
        min(<Py_ssize_t> image.size[2] - first, count - before), <Py_ssize_t> 0
    )
    if line == NULL:
        memset(target, image.zero_point, count * pixel)
        return
    memset(target, image.zero_point, before * pixel)
    target += before * pixel
    memcpy(target, line + first * pixel, inside * pixel)
    memset(target + inside * pixel, image.zero_point, (count - before - inside) * pixel)


cdef inline Py_ssize_t give_spans(
    const void* source, Py_ssize_t first, Py_ssize_t count, uint8_t* scratch, Span* spans
) noexcept nogil:
    cdef const Image* image = <const Image*> source
    cdef Py_ssize_t pixel = image.channels
    cdef Py_ssize_t outputs = outputs_of_span(image)
    cdef Py_ssize_t pitch = image.size[2] * pixel   # from a line of the image to the next
    cdef Py_ssize_t index = 0
    cdef Py_ssize_t row = 0
    cdef Py_ssize_t under, i, _i, k, z, at
    cdef const uint8_t* lines
    cdef bint copies = reach_over_edges(image)
    cdef Position p
    locate(image, first, &p)
    if copies:
        pitch = image.kernel[0] * under_windows(image, 2, image.out[2]) * pixel
    while row < count:
        # The lines of outputs that one plane of an image has here.
        under = min(image.out[1] - p.at[1], (count - row) // image.out[2])
        if copies:
            lines = scratch
            for i in range(under_windows(image, 1, under)):
                for z in range(image.kernel[0]):
                    copy_between_edges(
                        image, line_under(image, &p, z * image.dilation[0], i),
                        scratch + z * pitch // image.kernel[0],
                    )
                scratch += pitch
        else:
            lines = line_under(image, &p, 0, 0) - image.padding[2] * pixel
        for _i in range(under):
            for k in range(spans_of_line(image)):
                at = k * outputs
                spans[index].known = <int> max(at + outputs - image.out[2], <Py_ssize_t> 0)
                spans[index].rows = <int> outputs
                spans[index].row = row + at - spans[index].known
                spans[index].x = (
                    lines + (at - spans[index].known) * image.stride[2] * pixel
                )
                index += 1
            lines += image.stride[1] * pitch
            row += image.out[2]
        p.at[1] = 0
        p.at[0] += 1
        if p.at[0] == image.out[0]:
            p.at[0] = 0
            p.image += 1
    return index
