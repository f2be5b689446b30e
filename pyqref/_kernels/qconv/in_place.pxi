# Depthwise convolution of a pixel's channels read where they are, without copies.
#
# What an output takes for a tap lies side by side in the image, too: vectors go along the channels
# of one pixel, and the last one ends with it. It takes some channels once more, so that this is for
# channels which nearly fill their vectors. Only taps in the padding need bytes from elsewhere:
# outputs whose windows reach into it are computed one by one.


cdef void find_inner(Depthwise* d) noexcept nogil:
    """Which outputs of a line have no padding beside the line in their windows."""
    cdef const Image* image = d.image
    cdef Py_ssize_t stride = image.stride[2]
    cdef Py_ssize_t last_tap = (image.kernel[2] - 1) * image.dilation[2] - image.padding[2]
    d.first_inner = first_not_below(0, -image.padding[2], stride, image.out[2])
    d.last_inner = first_not_below(image.size[2], last_tap, stride, image.out[2])


cdef bint suits_in_place(const Depthwise* d) noexcept nogil:
    """Whether vectors that end with each pixel cost less than copies of the lines."""
    cdef const Image* image = d.image
    cdef Py_ssize_t read = (image.channels + VECTOR_BYTES - 1) // VECTOR_BYTES * VECTOR_BYTES
    # Copies that take pixels apart cost more.
    cdef Py_ssize_t most = READ_FOR_APART if image.stride[2] > 1 else READ_FOR_ALIKE
    if image.flip or image.channels < VECTOR_BYTES:
        return False
    if 2 * (d.last_inner - d.first_inner) < image.out[2]:
        return False
    return 10 * read <= most * image.channels


cdef void point_streams(const Depthwise* d, Loom* loom, Py_ssize_t output) noexcept nogil:
    """Let the streams begin under an output; what is in the padding begins with a blank pixel."""
    cdef const Image* image = d.image
    cdef const Stream* stream
    cdef const uint8_t* line
    cdef Py_ssize_t i, column
    for i in range((d.n_streams + 3) // 4 * 4):
        stream = &d.streams[min(i, d.n_streams - 1)]
        line = loom.lines.lines[stream.line]
        column = output * image.stride[2] + stream.column * image.dilation[2] - image.padding[2]
        if line == NULL or not is_in(image, 2, column):
            loom.streams[i] = loom.lines.blank
        else:
            loom.streams[i] = line + column * image.channels + loom.lines.channel


cdef void compute_in_place(
    const Depthwise* d, Loom* loom, uint8_t* upper, uint8_t* lower
) noexcept nogil:
    """One line of outputs, or two, for the lines that have been found."""
    cdef DepthwiseVectors* v = &loom.vectors
    cdef const Image* image = d.image
    cdef Py_ssize_t n_next = loom.n_next
    cdef Py_ssize_t first = d.first_inner
    cdef Py_ssize_t output = 0
    cdef Py_ssize_t i
    for i in range(d.n_under):
        if loom.lines.lines[i] == NULL:
            first = image.out[2]
    while output < image.out[2]:
        v.count, v.threes, loom.n_next = 1, 0, 0
        if output == first and first < d.last_inner:
            v.count, loom.n_next = d.last_inner - first, n_next
            v.threes = d.n_under if image.kernel[2] == 3 else 0
        v.x_last, v.out_last = (v.count - 1) * v.x_step, (v.count - 1) * v.out_step
        point_streams(d, loom, output)
        compute_vectors(
            d, loom, upper + output * v.out_step,
            NULL if lower == NULL else lower + output * v.out_step,
        )
        output += v.count
