# Depthwise convolution: each channel with its own taps, vectors along the channels.
#
# An instruction adds four products of bytes to each lane; the four bytes of a channel lie far
# apart, under four taps. So four vectors of bytes, each what one tap takes for VECTOR_BYTES
# outputs side by side, are woven into four vectors of quads. Two lines of outputs are computed
# together: quads that lie under both serve both. Vectors of copied lines take no notice of where a
# pixel ends: they go along several pixels, for which weights are repeated.

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


cdef void find_under(Depthwise* d, bint two) noexcept nogil:
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


cdef void plan(Depthwise* d) noexcept nogil:
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


cdef void set_up(const Depthwise* d, Work* work, int thread) noexcept nogil:
    """Lay a thread's things out in its scratch."""
    cdef DepthwiseVectors* v = &work.vectors
    cdef uint8_t* scratch = d.scratch + thread * scratch_step(d.scratch_size)
    cdef Py_ssize_t size = 4 * VECTOR_BYTES * d.most_vectors
    work.weights = <int8_t*> scratch
    scratch += d.weights_size * d.most_vectors
    work.offset = <int32_t*> scratch
    work.multiplier = <float*> (scratch + size)
    work.bias = <float*> (scratch + 2 * size)
    work.buffer = scratch + 3 * size
    work.streams = <const uint8_t**> (scratch + 4 * size)
    work.next = work.streams + (d.n_streams + 3) // 4 * 4
    work.lines_at = scratch + 4 * size + size_of_streams(d)
    work.results = <uint8_t*> work.weights + d.results_at
    v.streams = work.streams
    v.upper, v.both, v.lower = d.upper, d.both, d.lower
    v.finished = d.itemsize == 1
    set_finish(&v.finish, d.epilogue)


cdef void depthwise_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some lines of outputs, part of the channels after part."""
    cdef Depthwise* d = <Depthwise*> context
    cdef const Image* image = d.image
    cdef Py_ssize_t first = index * d.pairs_a_task
    cdef Py_ssize_t last = min(first + d.pairs_a_task, d.pairs)
    cdef Py_ssize_t channel = 0
    cdef Py_ssize_t start, pair, width, plane
    cdef uint8_t* out
    cdef uint8_t* lower
    cdef bint is_single
    cdef Work work
    cdef Position p
    set_up(d, &work, thread)
    while channel < image.channels:
        width = image.channels - channel
        if width >= d.width + VECTOR_BYTES:
            width = d.width
        begin_channels(d, &work, channel, width)
        start = 0
        while start < image.out[2]:
            if is_ending():
                return
            # The last segment ends with the line, and may take some outputs once more.
            start = min(start, image.out[2] - d.segment)
            p.at[2] = start
            begin_lines(&work.lines, channel, start)
            for pair in range(first, last):
                plane = pair // d.pairs_a_plane
                p.image, p.at[0] = plane // image.out[0], plane % image.out[0]
                p.at[1] = 2 * (pair % d.pairs_a_plane)
                is_single = p.at[1] + 1 == image.out[1]
                find_lines_under(d, &work, &p)
                out = d.out + place_of_result(image, &p) + channel * d.itemsize
                lower = NULL if is_single else out + image.step[2]
                if d.in_place:
                    compute_in_place(d, &work, out, lower)
                else:
                    compute_copied(d, &work, out, lower)
            start += d.segment
        channel += width


cdef inline Py_ssize_t work_of_pair(const Depthwise* d) noexcept nogil:
    cdef const Image* image = d.image
    cdef Py_ssize_t taps = image.kernel[0] * image.kernel[1] * image.kernel[2]
    return 2 * image.out[2] * image.channels * taps


cdef void measure_depthwise(Depthwise* d, int n_threads) noexcept nogil:
    """Choose how much is done at a time, and what scratch that takes."""
    cdef const Image* image = d.image
    cdef Py_ssize_t tasks, widest
    cdef Lines lines
    d.pairs_a_plane = (image.out[1] + 1) // 2
    d.pairs = image.batch * image.out[0] * d.pairs_a_plane
    tasks = 2 * d.pairs * image.out[2] * image.channels // SLAB_BYTES // n_threads
    tasks = 1 if n_threads == 1 else n_threads * max(min(tasks, <Py_ssize_t> TASKS_A_THREAD), 1)
    d.pairs_a_task = (d.pairs + tasks - 1) // tasks
    d.pairs_a_task = min(d.pairs_a_task, LONGEST_TASK // work_of_pair(d) + 1)
    d.weights_size = (d.upper + 2 * d.both + d.lower) * 4 * VECTOR_BYTES
    d.most_vectors = max(WEIGHTS_BYTES // d.weights_size, <Py_ssize_t> 2)
    d.width = min(d.most_vectors - 1, <Py_ssize_t> WIDTH_VECTORS) * VECTOR_BYTES
    find_inner(d)
    d.in_place = suits_in_place(d)
    widest = min(image.channels, d.width + VECTOR_BYTES - 1)
    d.by_taps = not d.in_place and are_far_apart(image, widest, d.n_under, LINES_BYTES)
    d.segment = image.out[2]
    if d.in_place:
        measure_padding(d, widest)
    else:
        d.segment = outputs_at_once(image, widest, d.n_under, d.by_taps, LINES_BYTES)
    measure_copies(d, &lines, widest)
    d.scratch_size = d.most_vectors * (d.weights_size + 16 * VECTOR_BYTES)
    d.scratch_size += size_of_streams(d) + size_of_lines(&lines)
    d.results_at = d.scratch_size
    if d.is_scattered and not d.in_place:
        d.scratch_size += 2 * d.segment * widest * d.itemsize


cdef int depthwise(
    const Image* image, const Epilogue* epilogue, const int8_t* taps, Py_ssize_t pixels,
    uint8_t* out, int n_threads,
) except -1 nogil:
    """Run a depthwise convolution with as many outputs as inputs, whose weights are centred."""
    cdef Depthwise d
    cdef Py_ssize_t rows = image.kernel[0] * image.kernel[1]
    cdef Py_ssize_t n_taps = rows * image.kernel[2]
    cdef uint8_t* scratch
    if n_taps == 0 or image.channels == 0:
        return 0
    d.image, d.epilogue, d.taps, d.out = image, epilogue, taps, out
    d.padded = (image.channels + 15) // 16 * 16
    d.itemsize = bytes_of_result(epilogue)
    d.is_scattered = image.step[3] != image.channels
    n_threads = useful_threads(
        <double> pixels * image.channels * n_taps, TAPS_PER_THREAD, n_threads
    )
    d.under = <Under*> malloc(2 * (rows * sizeof(Under) + n_taps * sizeof(Stream)))
    scratch = NULL
    if d.under:
        d.streams = <Stream*> (d.under + 2 * rows)
        find_under(&d, image.out[1] > 1)
        plan(&d)
        measure_depthwise(&d, n_threads)
        scratch = <uint8_t*> malloc(scratch_of_all(d.scratch_size, n_threads))
    if scratch:
        d.scratch = <uint8_t*> next_line(scratch)
        parallel_for(
            depthwise_task, &d, (d.pairs + d.pairs_a_task - 1) // d.pairs_a_task, n_threads
        )
    free(scratch)
    free(d.under)
    if not scratch:
        with gil:
            raise MemoryError()
    return 0
