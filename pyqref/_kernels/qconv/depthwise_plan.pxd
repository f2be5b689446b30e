# Depthwise convolution: what is computed together, and in which order.

from libc.stdint cimport int8_t, int32_t, uint8_t
from pyqref._kernels.product.description cimport Epilogue
from pyqref._kernels.qconv.im2col cimport Image
from pyqref._kernels.qconv.line_buffer cimport Factors, Finish, Lines

cdef enum:
    LINES_BYTES = 1 << 16           # of copies of lines, where that is enough for one output
    WEIGHTS_BYTES = 1 << 15         # of woven weights, where that is enough for two vectors
    WIDTH_VECTORS = 4               # of channels that are computed at a time
    WIDTH_PANELS = 5                # of channels that may be computed at a time
    PREPARING = 16                  # vectors computed in the time in which one is prepared
    SLAB_BYTES = 1 << 18            # of outputs that are worth a task
    TASKS_A_THREAD = 4
    LONGEST_TASK = 1 << 29          # products of a channel: what takes 20 to 300 milliseconds
    TAPS_PER_THREAD = 3 << 16       # products of a channel that are worth a thread
    # Taps that cost what copies do: where windows begin pixels apart, and copies take these one by
    # one, and where they begin one apart.
    COPIES_APART = 5
    COPIES_OF_ALL = 1
    BLANK_BYTES = 1 << 16           # of padding instead of a line, where that is enough
    NO_TAP = -1


cdef extern from "qconv/depthwise.h":
    ctypedef struct DepthwiseVectors:
        const uint8_t** streams
        Py_ssize_t threes, upper, both, lower
        const int8_t* weights
        Factors factors
        Finish finish
        Py_ssize_t at, count, x_step, x_last, out_step, out_last
        int finished

    void depthwise_vectors(const DepthwiseVectors* d, uint8_t* upper, uint8_t* lower) nogil


# What one tap takes of one line, for two lines of outputs.
cdef struct Stream:
    Py_ssize_t line                 # which of those under the two
    Py_ssize_t column               # of the kernel
    Py_ssize_t[2] tap               # whose weights it meets for either, or NO_TAP


# A line under two lines of outputs.
cdef struct Under:
    Py_ssize_t[2] at                # depth and height, counted from the first line of the window
    Py_ssize_t[2] row               # of the kernel, for either line of outputs; or NO_TAP


cdef struct Depthwise:
    const Image* image
    const Epilogue* epilogue
    const int8_t* taps              # (taps, padded channels)
    Py_ssize_t padded
    Under* under
    Stream* streams
    Py_ssize_t n_under, n_streams
    Py_ssize_t threes               # as in DepthwiseVectors, where no tap is in the padding
    Py_ssize_t upper, both, lower   # quads, as in DepthwiseVectors
    bint in_place                   # whether pixels are read where they are
    Py_ssize_t first_inner          # output of a line whose window has no padding beside it
    Py_ssize_t last_inner           # the one behind the last
    Py_ssize_t blank_size           # what these outputs take of a line, or one pixel
    bint blank_is_line              # which of them
    Py_ssize_t width                # channels that are computed at a time, or somewhat more
    Py_ssize_t segment              # outputs of a line whose pixels are copied at a time
    bint by_taps                    # how
    Py_ssize_t most_vectors         # of pixels computed together
    Py_ssize_t weights_size         # of each of them, in bytes
    Py_ssize_t pairs, pairs_a_plane, pairs_a_task   # of lines of outputs
    bint is_scattered               # whether there are gaps between the outputs of a line
    Py_ssize_t itemsize             # bytes of an output, or of its sum, which is scattered
    uint8_t* scratch                # scratch_size bytes for each thread
    Py_ssize_t scratch_size
    Py_ssize_t results_at           # where in it outputs are that will be scattered
    uint8_t* out


# So many places of a line, ``step`` bytes apart; those of the next vector begin ``apart`` bytes on.
cdef struct Share:
    Py_ssize_t count, step, apart


# What a thread works with; all of it lies in its scratch.
cdef struct Work:
    Lines lines
    Py_ssize_t pixels, n_vectors    # computed together; the vectors that they are
    DepthwiseVectors vectors        # what is computed next
    int8_t* weights                 # [vector][quad][VECTOR_BYTES][4]
    int32_t* offset                 # [vector][VECTOR_BYTES]
    float* multiplier
    float* bias
    uint8_t* buffer                 # for four taps, each repeated
    const uint8_t** streams
    const uint8_t** next            # lines that the next pair of lines of outputs wants
    Py_ssize_t n_next
    Share share                     # of each of them that is prefetched before a vector
    Share share_out                 # and of each line of outputs
    uint8_t* lines_at
    uint8_t* results                # of two segments that will be scattered


cdef inline void find_under(Depthwise* d, bint two) noexcept nogil:
    """The lines under two lines of outputs: first those of the upper, then of both."""
    cdef const Image* image = d.image
    cdef Py_ssize_t height = image.kernel[1]
    cdef Py_ssize_t dilation = image.dilation[1]
    cdef Py_ssize_t i, j, row, part
    cdef Under* under
    d.n_under = 0
    for part in range(3 if two else 1):
        for i in range(image.kernel[0]):
            for j in range(height):
                # The row of the kernel that meets the same line for the other line of outputs.
                row = j * dilation + (image.stride[1] if part == 2 else -image.stride[1])
                row = row // dilation if row >= 0 and row % dilation == 0 else height
                if two and (row < height) != (part == 1):
                    continue
                under = &d.under[d.n_under]
                under.at[0] = i * image.dilation[0]
                under.at[1] = j * dilation + (image.stride[1] if part == 2 else 0)
                under.row[0] = under.row[1] = NO_TAP
                under.row[1 if part == 2 else 0] = i * height + j
                if part == 1:
                    under.row[1] = i * height + row
                d.n_under += 1


cdef inline void plan(Depthwise* d) noexcept nogil:
    """Say what is woven, and what for."""
    cdef Py_ssize_t width = d.image.kernel[2]
    cdef Py_ssize_t u, k, q, i, line
    cdef bint[2] serves
    cdef Stream* stream
    d.n_streams = d.upper = d.both = d.lower = 0
    d.threes = d.n_under if width == 3 else 0
    for u in range(d.n_under):
        for k in range(width):
            stream = &d.streams[d.n_streams]
            stream.line, stream.column = u, k
            for line in range(2):
                stream.tap[line] = NO_TAP
                if d.under[u].row[line] != NO_TAP:
                    stream.tap[line] = d.under[u].row[line] * width + k
            d.n_streams += 1
    for q in range(0, d.n_streams, 4):
        serves[0] = serves[1] = False
        for i in range(q, min(q + 4, d.n_streams)):
            for line in range(2):
                serves[line] = serves[line] or d.streams[i].tap[line] != NO_TAP
        d.both += serves[0] and serves[1]
        d.upper += not serves[1]
        d.lower += not serves[0]


cdef inline Py_ssize_t work_of_pair(const Depthwise* d) noexcept nogil:
    cdef const Image* image = d.image
    cdef Py_ssize_t taps = image.kernel[0] * image.kernel[1] * image.kernel[2]
    return 2 * image.out[2] * image.channels * taps
