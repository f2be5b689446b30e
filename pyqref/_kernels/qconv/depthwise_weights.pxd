# What a thread prepares for a depthwise convolution: weights woven as their pixels will be.

from libc.stdint cimport uint8_t
from libc.string cimport memcpy, memset
from pyqref._kernels.cache cimport LINE
from pyqref._kernels.product.description cimport PANEL_COLUMNS, Columns
from pyqref._kernels.product.kernel cimport load_columns
from pyqref._kernels.qconv.depthwise_plan cimport (
    NO_TAP, PREPARING, WIDTH_PANELS, Depthwise, DepthwiseVectors, Share, Stream, Work,
    depthwise_vectors,
)
from pyqref._kernels.qconv.im2col cimport Image, Position
from pyqref._kernels.qconv.line_buffer cimport (
    VECTOR_BYTES, Lines, copy_lines, line_under, measure_blank, measure_lines, place_in_quads,
    place_lines, place_of_tap, prefetch_apart,
)
from pyqref._kernels.qconv.scatter cimport scatter_line
from pyqref._kernels.simd.primitives cimport *


cdef inline Py_ssize_t size_of_streams(const Depthwise* d) noexcept nogil:
    """Return the bytes of the streams and of the lines that are wanted next."""
    return (d.n_streams + d.n_under + 10) // 8 * 8 * <Py_ssize_t> sizeof(void*)


cdef inline void measure_copies(const Depthwise* d, Lines* lines, Py_ssize_t width) noexcept nogil:
    """Say what buffers there are for lines: in place only for one of padding."""
    if d.in_place:
        measure_blank(lines, d.image, width, d.n_under, d.blank_size)
    else:
        measure_lines(lines, d.image, width, d.segment, d.n_under, d.by_taps)


cdef inline Py_ssize_t place_of_vector(const Work* work, Py_ssize_t vector) noexcept nogil:
    """Return the beginning of a vector: the last one ends with the pixels, if they suffice."""
    cdef Py_ssize_t last = work.pixels * work.lines.width - VECTOR_BYTES
    return max(min(vector * VECTOR_BYTES, last), <Py_ssize_t> 0)


cdef inline void repeat_tap(
    const Depthwise* d, const Work* work, Py_ssize_t stream, int line, uint8_t* target
) noexcept nogil:
    """The weights that a stream meets, for all pixels computed together."""
    cdef Py_ssize_t width = work.lines.width
    cdef Py_ssize_t tap = NO_TAP
    cdef Py_ssize_t i
    if stream < d.n_streams:
        tap = d.streams[stream].tap[line]
    for i in range(work.pixels):
        if tap == NO_TAP:
            memset(target + i * width, 0, width)
        else:
            memcpy(target + i * width, d.taps + tap * d.padded + work.lines.channel, width)


cdef inline void prepare_weights(const Depthwise* d, Work* work) noexcept nogil:
    cdef Py_ssize_t row = d.most_vectors * VECTOR_BYTES
    cdef uint8_t* weights = <uint8_t*> work.weights
    cdef const uint8_t* tap
    cdef Py_ssize_t q, vector
    cdef int line, i
    for q in range(d.upper + d.both + d.lower):
        for line in range(2):
            if q >= d.upper + d.both if line == 0 else q < d.upper:
                continue
            for i in range(4):
                repeat_tap(d, work, 4 * q + i, line, work.buffer + i * row)
            for vector in range(work.n_vectors):
                tap = work.buffer + place_of_vector(work, vector)
                interleave_u8(
                    weights + vector * d.weights_size, tap, tap + row, tap + 2 * row,
                    tap + 3 * row, 0,
                )
            weights += 4 * VECTOR_BYTES


cdef inline void prepare_columns(const Depthwise* d, Work* work) noexcept nogil:
    """Prepare the constants that finish the sums, in the order of ``interleave_quads``."""
    cdef Py_ssize_t width = work.lines.width
    cdef Py_ssize_t panel, vector, channel, i, at
    cdef Columns[WIDTH_PANELS] columns
    cdef const Columns* c
    for panel in range((width + PANEL_COLUMNS - 1) // PANEL_COLUMNS):
        channel = panel * PANEL_COLUMNS
        load_columns(
            d.epilogue, &columns[panel], work.lines.channel + channel,
            <int> min(<Py_ssize_t> PANEL_COLUMNS, width - channel),
        )
    for vector in range(work.n_vectors):
        channel = place_of_vector(work, vector) % width
        for i in range(VECTOR_BYTES):
            c = &columns[channel // PANEL_COLUMNS]
            at = vector * VECTOR_BYTES + place_in_quads(i)
            work.offset[at] = c.offset[channel % PANEL_COLUMNS]
            work.multiplier[at] = c.multiplier[channel % PANEL_COLUMNS]
            work.bias[at] = c.bias[channel % PANEL_COLUMNS]
            channel = channel + 1 if channel + 1 < width else 0


cdef inline void choose_pixels(const Depthwise* d, Work* work) noexcept nogil:
    """Choose how many pixels are computed together.

    There are enough of them that vectors overlap little, but few weights.

    In place it is one.
    """
    cdef Py_ssize_t width = work.lines.width
    cdef Py_ssize_t segments = (d.image.out[2] + d.segment - 1) // d.segment
    cdef Py_ssize_t longest = 1 if d.in_place else d.segment
    cdef Py_ssize_t lowest = -1
    cdef Py_ssize_t pixels, vectors, cost
    for pixels in range(1, longest + 1):
        vectors = (pixels * width + VECTOR_BYTES - 1) // VECTOR_BYTES
        if pixels > 1 and (vectors > d.most_vectors or width < d.image.channels):
            break
        if pixels * width < VECTOR_BYTES and pixels < d.segment:
            continue
        cost = (d.segment + pixels - 1) // pixels * segments * d.pairs_a_task + PREPARING
        if lowest < 0 or cost * vectors < lowest:
            lowest, work.pixels, work.n_vectors = cost * vectors, pixels, vectors


cdef inline Share share_of(
    const Work* work, Py_ssize_t pixels, Py_ssize_t step, bint is_whole
) noexcept nogil:
    """Return the bytes that each vector prefetches.

    Of some pixels these are the vector's own bytes; of a whole line they are equally many bytes for
    each vector.
    """
    cdef Share share
    cdef Py_ssize_t parts = LINE * work.n_vectors
    share.count, share.step, share.apart = pixels, step, VECTOR_BYTES
    if is_whole:
        share.count, share.step = (pixels * step + parts - 1) // parts, LINE
        share.apart = share.count * LINE
    return share


cdef inline void share_prefetching(const Depthwise* d, Work* work) noexcept nogil:
    """Say which bytes are prefetched before each vector."""
    cdef const Image* image = d.image
    cdef Py_ssize_t pixels = min(d.segment * image.stride[2], <Py_ssize_t> image.size[2])
    cdef bint is_whole = not d.in_place and work.lines.width == image.channels
    work.share = share_of(work, pixels, image.channels, is_whole)
    work.share_out = share_of(work, d.segment, image.step[3], is_whole)


cdef inline void begin_channels(
    const Depthwise* d, Work* work, Py_ssize_t channel, Py_ssize_t width
) noexcept nogil:
    """Prepare for some channels."""
    cdef DepthwiseVectors* v = &work.vectors
    cdef const Image* image = d.image
    cdef Py_ssize_t pixel = width if d.is_scattered else image.channels
    cdef Py_ssize_t rest
    measure_copies(d, &work.lines, width)
    place_lines(&work.lines, work.lines_at)
    work.lines.channel = channel
    choose_pixels(d, work)
    prepare_weights(d, work)
    prepare_columns(d, work)
    v.finish.bytes = min(<Py_ssize_t> VECTOR_BYTES, work.pixels * width)
    if d.in_place:
        v.x_step, v.out_step = image.stride[2] * image.channels, image.step[3]
    else:
        rest = d.segment - work.pixels
        v.count = (d.segment + work.pixels - 1) // work.pixels
        v.x_step, v.x_last = work.pixels * width, rest * width
        v.out_step, v.out_last = work.pixels * pixel * d.itemsize, rest * pixel * d.itemsize
    share_prefetching(d, work)


cdef inline void find_next(const Depthwise* d, Work* work, const Position* p) noexcept nogil:
    """The lines that the next two lines of outputs want besides."""
    cdef const Image* image = d.image
    cdef Lines* lines = &work.lines
    cdef Py_ssize_t i, j
    cdef const uint8_t* line
    work.n_next = 0
    for i in range(d.n_under):
        line = line_under(
            image, p, d.under[i].at[0], d.under[i].at[1] + 2 * image.stride[1]
        )
        if line == NULL:
            continue
        for j in range(d.n_under):
            if lines.lines[j] == line:
                break
        else:
            work.next[work.n_next] = (
                line + lines.first * image.stride[2] * image.channels + lines.channel
            )
            work.n_next += 1


cdef inline void find_lines_under(const Depthwise* d, Work* work, const Position* p) noexcept nogil:
    """The lines under two lines of outputs from a position."""
    cdef Py_ssize_t i
    for i in range(d.n_under):
        work.lines.lines[i] = line_under(d.image, p, d.under[i].at[0], d.under[i].at[1])
    find_next(d, work, p)


cdef inline void prefetch_share(
    const Depthwise* d, const Work* work, Py_ssize_t vector, int lines, const uint8_t* out
) noexcept nogil:
    """A vector's share of what is wanted after some lines of outputs, the first being ``out``."""
    cdef const Share* share = &work.share
    cdef Py_ssize_t i
    for i in range(work.n_next):
        prefetch_apart(work.next[i] + vector * share.apart, share.step, share.count)
    share = &work.share_out
    out += 2 * d.image.step[2] + vector * share.apart
    for i in range(lines):
        prefetch_apart(out + i * d.image.step[2], share.step, share.count)


cdef inline void compute_vectors(
    const Depthwise* d, Work* work, uint8_t* upper, uint8_t* lower, const uint8_t* out
) noexcept nogil:
    """One line of outputs, or two, from where streams begin.

    The upper one goes to ``out`` in the end; NULL, where nothing is to be prefetched.
    """
    cdef DepthwiseVectors* v = &work.vectors
    cdef Py_ssize_t vector, at
    for vector in range(work.n_vectors):
        v.at = place_of_vector(work, vector)
        v.weights = work.weights + vector * d.weights_size
        v.factors.offset = work.offset + vector * VECTOR_BYTES
        v.factors.multiplier = work.multiplier + vector * VECTOR_BYTES
        v.factors.bias = work.bias + vector * VECTOR_BYTES
        at = v.at * d.itemsize
        if out != NULL:
            prefetch_share(d, work, vector, 1 if lower == NULL else 2, out)
        depthwise_vectors(v, upper + at, lower + at if lower != NULL else NULL)


cdef inline void compute_copied(
    const Depthwise* d, Work* work, uint8_t* upper, uint8_t* lower
) noexcept nogil:
    """A segment of one line of outputs, or of two, by copies of the lines under them."""
    cdef Lines* lines = &work.lines
    cdef Py_ssize_t pixel = lines.width * d.itemsize
    cdef uint8_t* first = work.results if d.is_scattered else upper
    cdef uint8_t* second = work.results + d.segment * pixel if d.is_scattered else lower
    cdef const Stream* stream
    cdef Py_ssize_t i
    copy_lines(lines, d.n_under)
    work.vectors.threes = d.threes
    for i in range((d.n_streams + 3) // 4 * 4):
        # Where streams are missing in the last quad, the weights are zero.
        stream = &d.streams[min(i, d.n_streams - 1)]
        work.streams[i] = lines.lines[stream.line] + place_of_tap(lines, stream.column)
    compute_vectors(d, work, first, NULL if lower == NULL else second, upper)
    if d.is_scattered:
        scatter_line(d.image, first, pixel, pixel, d.segment, upper)
        if lower != NULL:
            scatter_line(d.image, second, pixel, pixel, d.segment, lower)
