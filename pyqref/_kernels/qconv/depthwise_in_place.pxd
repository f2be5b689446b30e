# Depthwise convolution of a pixel's channels read where they are, without copies.
#
# What an output takes for a tap lies side by side in the image, too: vectors go along the channels
# of one pixel, and the last one ends with it. It takes some channels once more, so that this is for
# channels which nearly fill their vectors. Only taps in the padding need bytes from elsewhere: a
# blank line stands for a line there, and outputs whose windows reach over an end of a line are
# computed one by one.

from libc.stdint cimport uint8_t
from pyqref._kernels._parallel cimport is_ending
from pyqref._kernels.qconv.depthwise_plan cimport (
    BLANK_BYTES, COPIES_APART, COPIES_OF_ALL, Depthwise, DepthwiseVectors, Stream, Work,
)
from pyqref._kernels.qconv.depthwise_weights cimport compute_vectors
from pyqref._kernels.qconv.im2col cimport Image, is_in
from pyqref._kernels.qconv.line_buffer cimport VECTOR_BYTES, first_not_below

cdef enum:
    LONGEST_RUN = 1 << 14           # outputs of a line that are computed together


cdef inline void find_inner(Depthwise* d) noexcept nogil:
    """Find the outputs of a line whose windows meet no padding beside the line."""
    cdef const Image* image = d.image
    cdef Py_ssize_t stride = image.stride[2]
    cdef Py_ssize_t last_tap = (image.kernel[2] - 1) * image.dilation[2] - image.padding[2]
    d.first_inner = first_not_below(0, -image.padding[2], stride, image.out[2])
    d.last_inner = first_not_below(image.size[2], last_tap, stride, image.out[2])


cdef inline bint suits_in_place(const Depthwise* d) noexcept nogil:
    """Return True if vectors that end with each pixel cost less than copies of the lines."""
    cdef const Image* image = d.image
    cdef Py_ssize_t read = (image.channels + VECTOR_BYTES - 1) // VECTOR_BYTES * VECTOR_BYTES
    cdef Py_ssize_t taps = image.kernel[0] * image.kernel[1] * image.kernel[2]
    cdef Py_ssize_t copies = COPIES_APART if image.stride[2] > 1 else COPIES_OF_ALL
    cdef Py_ssize_t inner = d.last_inner - d.first_inner
    if image.flip or image.channels < VECTOR_BYTES:
        return False
    if inner <= 0 or 2 * inner < image.out[2]:
        return False
    return read * taps < image.channels * (taps + copies)


cdef inline void measure_padding(Depthwise* d, Py_ssize_t width) noexcept nogil:
    """Choose the bytes that stand for a line in the padding: one pixel for a very long one."""
    cdef const Image* image = d.image
    cdef Py_ssize_t pixels = (d.last_inner - d.first_inner - 1) * image.stride[2]
    pixels += (image.kernel[2] - 1) * image.dilation[2]
    d.blank_is_line = pixels * image.channels + width <= BLANK_BYTES
    d.blank_size = pixels * image.channels + width if d.blank_is_line else width


cdef inline void point_streams(const Depthwise* d, Work* work, Py_ssize_t output) noexcept nogil:
    """Let the streams begin under an output; those in the padding, with blank bytes."""
    cdef const Image* image = d.image
    cdef const Stream* stream
    cdef const uint8_t* line
    cdef Py_ssize_t i, column
    for i in range((d.n_streams + 3) // 4 * 4):
        stream = &d.streams[min(i, d.n_streams - 1)]
        line = work.lines.lines[stream.line]
        column = output * image.stride[2] + stream.column * image.dilation[2] - image.padding[2]
        work.streams[i] = work.lines.blank
        if line == NULL:
            if d.blank_is_line:
                # As far apart as those of other lines, and long enough to move on as they do.
                work.streams[i] += stream.column * image.dilation[2] * image.channels
        elif is_in(image, 2, column):
            work.streams[i] = line + column * image.channels + work.lines.channel


cdef inline bint may_move_on(const Depthwise* d, const Work* work) noexcept nogil:
    """Return True if streams that move along the inner outputs stay where they may be read."""
    cdef Py_ssize_t i
    if not d.blank_is_line:
        for i in range(d.n_under):
            if work.lines.lines[i] == NULL:
                return False
    return True


cdef inline void compute_in_place(
    const Depthwise* d, Work* work, uint8_t* upper, uint8_t* lower
) noexcept nogil:
    """One line of outputs, or two, for the lines that have been found."""
    cdef DepthwiseVectors* v = &work.vectors
    cdef const Image* image = d.image
    cdef bint are_together = may_move_on(d, work)
    cdef bint is_run
    cdef Py_ssize_t output = 0
    cdef Py_ssize_t at
    while output < image.out[2]:
        is_run = are_together and d.first_inner <= output < d.last_inner
        v.count = min(d.last_inner - output, <Py_ssize_t> LONGEST_RUN) if is_run else 1
        v.threes = d.threes if is_run else 0
        v.x_last, v.out_last = (v.count - 1) * v.x_step, (v.count - 1) * v.out_step
        point_streams(d, work, output)
        at = output * v.out_step
        compute_vectors(
            d, work, upper + at, NULL if lower == NULL else lower + at,
            upper + at if is_run else NULL,
        )
        output += v.count
        if v.count == LONGEST_RUN and is_ending():
            return
