# Depthwise convolution: each channel with its own taps, vectors along the channels.
#
# An instruction adds four products of bytes to each lane; the four bytes of a channel lie far
# apart, in four lines of the image. So each pixel of a line is first woven with those above and
# below: four vectors of bytes become four vectors of quads, each of which serves all the windows
# that the pixel is in. Where the rows of the kernel are no multiple of four, a quad takes pixels
# that lie side by side, too.

cdef enum:
    VECTOR_BYTES = 4 * SIMD_LANES   # channels that are computed together
    WOVEN_BYTES = 1 << 15           # of quads that are kept at a time
    SLAB_BYTES = 1 << 16            # of input whose outputs are one task
    NO_TAP = -1


# Four pixels that are woven together, counted from the first of a window.
cdef struct Weave:
    Py_ssize_t[4] row               # of the kernel
    Py_ssize_t[4] column            # in pixels


# Quads that are multiplied: those of a weave, some pixels further on.
cdef struct Step:
    Py_ssize_t weave
    Py_ssize_t column
    Py_ssize_t[4] tap               # whose weights they meet, or NO_TAP


cdef struct Depthwise:
    const Image* image
    const Epilogue* epilogue
    const int8_t* taps              # (taps, padded channels)
    Py_ssize_t padded
    Py_ssize_t rows                 # of the kernel
    Weave* weaves
    Step* steps
    Py_ssize_t n_weaves, n_steps
    Py_ssize_t pixels_a_vector      # more than one where an image has few channels
    Py_ssize_t span                 # pixels of a line with its padding that are under windows
    Py_ssize_t segment, columns     # outputs whose pixels are woven at a time; those pixels
    Py_ssize_t lines, lines_a_task
    uint8_t* scratch                # scratch_size bytes for each thread
    Py_ssize_t scratch_size, woven_size, line_size
    uint8_t* out


# What a thread works with; all of it lies in its scratch.
cdef struct Loom:
    uint8_t* woven                  # [weave][column][VECTOR_BYTES][4]
    int8_t* weights                 # [step][VECTOR_BYTES][4]
    const uint8_t** rows            # lines under the rows of the kernel; NULL: padding
    uint8_t* copies                 # of lines, where a vector is longer than a pixel
    const uint8_t** copied          # which ones these are
    uint8_t* blank                  # VECTOR_BYTES of padding
    Py_ssize_t limit, padding       # of a line, in pixels
    int32_t[4 * LANES_MAX] offset   # as in Columns, in the order of quads
    float[4 * LANES_MAX] multiplier
    float[4 * LANES_MAX] bias


cdef void plan(Depthwise* d) noexcept nogil:
    """Say what is woven, and where it is used."""
    cdef Py_ssize_t width = d.image.kernel[2]
    cdef Py_ssize_t dilation = d.image.dilation[2]
    cdef Py_ssize_t row = 0
    cdef Py_ssize_t n_rows, side, i, k
    cdef Weave* weave
    cdef Step* step
    d.n_weaves = d.n_steps = 0
    while row < d.rows:
        n_rows = min(<Py_ssize_t> 4, d.rows - row)
        side = 4 // n_rows              # pixels side by side
        weave = &d.weaves[d.n_weaves]
        for i in range(4):
            weave.row[i], weave.column[i] = row, 0
            if i < n_rows * side:
                weave.row[i], weave.column[i] = row + i % n_rows, i // n_rows * dilation
        k = 0
        while k < width:
            step = &d.steps[d.n_steps]
            step.weave, step.column = d.n_weaves, k * dilation
            for i in range(4):
                step.tap[i] = NO_TAP
                if i < n_rows * side and k + i // n_rows < width:
                    step.tap[i] = (row + i % n_rows) * width + k + i // n_rows
            d.n_steps += 1
            k += side
        d.n_weaves += 1
        row += n_rows


cdef void repeat(
    uint8_t* target, const void* source, Py_ssize_t bytes, Py_ssize_t times
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(times):
        memcpy(target + i * bytes, source, bytes)


cdef void prepare_weights(const Depthwise* d, Loom* loom, Py_ssize_t channel) noexcept nogil:
    """Weave the weights of some channels as their pixels are."""
    cdef uint8_t[4 * VECTOR_BYTES] tap
    cdef Py_ssize_t channels = min(<Py_ssize_t> VECTOR_BYTES, d.image.channels)
    cdef Py_ssize_t s, i
    for s in range(d.n_steps):
        memset(tap, 0, sizeof(tap))
        for i in range(4):
            if d.steps[s].tap[i] != NO_TAP:
                repeat(
                    tap + i * VECTOR_BYTES, d.taps + d.steps[s].tap[i] * d.padded + channel,
                    channels, d.pixels_a_vector,
                )
        interleave_u8(
            <uint8_t*> loom.weights + s * 4 * VECTOR_BYTES, tap, tap + VECTOR_BYTES,
            tap + 2 * VECTOR_BYTES, tap + 3 * VECTOR_BYTES, 0,
        )


cdef void in_order_of_quads(
    uint8_t* target, const void* numbers, Py_ssize_t channels, Py_ssize_t pixels
) noexcept nogil:
    """Numbers of 32 bits, one a channel, in the order that ``interleave_u8`` gives bytes."""
    cdef uint8_t[16 * LANES_MAX] all_numbers
    cdef Py_ssize_t vector, chunk
    memset(all_numbers, 0, sizeof(all_numbers))
    repeat(all_numbers, numbers, 4 * channels, pixels)
    for vector in range(4):
        for chunk in range(SIMD_LANES // 4):
            memcpy(
                target + 4 * SIMD_LANES * vector + 16 * chunk,
                all_numbers + 64 * chunk + 16 * vector, 16,
            )


cdef void prepare_columns(const Depthwise* d, Loom* loom, Py_ssize_t channel) noexcept nogil:
    cdef Columns columns
    cdef Py_ssize_t channels = min(<Py_ssize_t> VECTOR_BYTES, d.image.channels)
    load_columns(d.epilogue, &columns, channel, <int> channels)
    in_order_of_quads(<uint8_t*> loom.offset, columns.offset, channels, d.pixels_a_vector)
    in_order_of_quads(<uint8_t*> loom.multiplier, columns.multiplier, channels, d.pixels_a_vector)
    in_order_of_quads(<uint8_t*> loom.bias, columns.bias, channels, d.pixels_a_vector)


cdef void find_rows(const Depthwise* d, Loom* loom, const Position* p) noexcept nogil:
    """The lines of the image under a line of outputs."""
    cdef const Image* image = d.image
    cdef Py_ssize_t i, j, y, z
    cdef Py_ssize_t row = 0
    for i in range(image.kernel[0]):
        z = reach(image, p, 0, i)
        for j in range(image.kernel[1]):
            y = reach(image, p, 1, j)
            loom.rows[row] = NULL
            if is_in(image, 0, z) and is_in(image, 1, y):
                loom.rows[row] = image.x + (
                    ((p.image * image.size[0] + z) * image.size[1] + y) * image.size[2]
                ) * image.channels
            row += 1


cdef Py_ssize_t copy_of(const Depthwise* d, const Loom* loom, const uint8_t* line) noexcept nogil:
    """Which copy is of a line, or else which one no line of this window needs."""
    cdef Py_ssize_t copy, row
    for copy in range(d.rows):
        if loom.copied[copy] == line:
            return copy
    for copy in range(d.rows):
        for row in range(d.rows):
            if loom.copied[copy] != NULL and loom.rows[row] == loom.copied[copy]:
                break
        else:
            return copy
    return 0


cdef void copy_rows(const Depthwise* d, Loom* loom) noexcept nogil:
    """The same lines with their padding, and with room for a vector that begins anywhere.

    Lines that were under the window before are copies already.
    """
    cdef const Image* image = d.image
    cdef Py_ssize_t channels = image.channels
    cdef Py_ssize_t before = min(<Py_ssize_t> image.padding[2], d.span) * channels
    cdef Py_ssize_t size = min(image.size[2] * channels, d.span * channels - before)
    cdef Py_ssize_t row, copy
    cdef uint8_t* target
    for row in range(d.rows):
        if loom.rows[row] == NULL:
            continue
        copy = copy_of(d, loom, loom.rows[row])
        target = loom.copies + copy * d.line_size
        if loom.copied[copy] != loom.rows[row]:
            loom.copied[copy] = loom.rows[row]
            memset(target, image.zero_point, before)
            memcpy(target + before, loom.rows[row], size)
            memset(target + before + size, image.zero_point, d.line_size - before - size)
    for row in range(d.rows):
        if loom.rows[row] != NULL:
            loom.rows[row] = loom.copies + copy_of(d, loom, loom.rows[row]) * d.line_size


include "weave.pxi"


cdef void set_up(const Depthwise* d, Loom* loom, int thread) noexcept nogil:
    """Lay a thread's things out in its scratch."""
    cdef uint8_t* scratch = d.scratch + thread * d.scratch_size
    loom.woven = scratch
    loom.weights = <int8_t*> scratch + d.woven_size
    loom.blank = <uint8_t*> loom.weights + d.n_steps * 4 * VECTOR_BYTES
    loom.rows = <const uint8_t**> (loom.blank + VECTOR_BYTES)
    loom.copied = loom.rows + d.rows
    loom.copies = <uint8_t*> (loom.copied + d.rows)
    memset(loom.copied, 0, d.rows * sizeof(void*))
    loom.limit, loom.padding = d.image.size[2], d.image.padding[2]
    if d.line_size:
        loom.limit, loom.padding = d.span, 0
    memset(loom.blank, d.image.zero_point, VECTOR_BYTES)


cdef void depthwise_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """All channels of some lines of outputs."""
    cdef Depthwise* d = <Depthwise*> context
    cdef const Image* image = d.image
    cdef const Epilogue* e = d.epilogue
    cdef Py_ssize_t first = index * d.lines_a_task
    cdef Py_ssize_t last = min(first + d.lines_a_task, d.lines)
    cdef Py_ssize_t pixels = image.out[2]
    cdef Py_ssize_t channel = 0
    cdef Py_ssize_t line
    cdef Loom loom
    cdef Finish f
    cdef Position p
    set_up(d, &loom, thread)
    f.flip = 128 if e.lower < 0 else 0
    f.zero_point, f.lower = e.zero_point + f.flip, e.lower + f.flip
    f.bias_multiplier = set_f32(e.bias_multiplier)
    f.high = set_f32(<float> (e.upper - e.zero_point))
    while channel < image.channels:
        # The last vector ends with the channels, and may take some once more.
        channel = max(min(channel, image.channels - VECTOR_BYTES), <Py_ssize_t> 0)
        prepare_weights(d, &loom, channel)
        prepare_columns(d, &loom, channel)
        locate(image, first * pixels, &p)
        for line in range(first, last):
            find_rows(d, &loom, &p)
            if d.line_size:
                copy_rows(d, &loom)
            one_line(d, &loom, &f, channel, d.out + line * pixels * image.channels)
            p.at[2] = pixels - 1
            advance(image, &p)
        channel += VECTOR_BYTES


cdef void measure_depthwise(Depthwise* d, int n_threads) noexcept nogil:
    """Choose how much is done at a time, and what scratch that takes."""
    cdef const Image* image = d.image
    cdef Py_ssize_t reached = (image.kernel[2] - 1) * image.dilation[2] + 1
    cdef Py_ssize_t stride = image.stride[2]
    cdef Py_ssize_t granule, tasks
    d.span = (image.out[2] - 1) * stride + reached
    d.pixels_a_vector, d.line_size = 1, 0
    if image.channels < VECTOR_BYTES:
        d.line_size = (d.span * image.channels + VECTOR_BYTES + 63) // 64 * 64
        if stride == 1:
            d.pixels_a_vector = VECTOR_BYTES // image.channels
    granule = 2 * d.pixels_a_vector
    d.segment = (WOVEN_BYTES // (4 * VECTOR_BYTES * d.n_weaves) - reached) // stride + 1
    d.segment = max(d.segment // granule, <Py_ssize_t> 1) * granule
    d.segment = min(d.segment, <Py_ssize_t> image.out[2])
    d.columns = (d.segment - 1) * stride + reached
    d.woven_size = d.n_weaves * d.columns * 4 * VECTOR_BYTES
    d.scratch_size = d.woven_size + d.n_steps * 4 * VECTOR_BYTES + VECTOR_BYTES
    d.scratch_size += d.rows * (2 * <Py_ssize_t> sizeof(void*) + d.line_size)
    d.scratch_size = (d.scratch_size + 63) // 64 * 64
    tasks = d.lines * image.out[2] * image.channels // SLAB_BYTES + 1
    tasks = min((tasks + n_threads - 1) // n_threads * n_threads, d.lines)
    d.lines_a_task = (d.lines + tasks - 1) // tasks


cdef int depthwise(
    const Image* image, const Epilogue* epilogue, const int8_t* taps, Py_ssize_t pixels,
    uint8_t* out, int n_threads,
) except -1 nogil:
    """Run a depthwise convolution with as many outputs as inputs, whose weights are centred."""
    cdef Depthwise d
    cdef Py_ssize_t n_taps = image.kernel[0] * image.kernel[1] * image.kernel[2]
    cdef uint8_t* scratch
    if n_taps == 0 or image.channels == 0:
        return 0
    d.image, d.epilogue, d.taps, d.out = image, epilogue, taps, out
    d.padded = (image.channels + 15) // 16 * 16
    d.rows, d.lines = image.kernel[0] * image.kernel[1], pixels // image.out[2]
    n_threads = useful_threads(<double> pixels * image.channels * n_taps, 1 << 20, n_threads)
    d.weaves = <Weave*> malloc(d.rows * sizeof(Weave) + n_taps * sizeof(Step))
    scratch = NULL
    if d.weaves:
        d.steps = <Step*> (d.weaves + d.rows)
        plan(&d)
        measure_depthwise(&d, n_threads)
        scratch = <uint8_t*> malloc(d.scratch_size * n_threads + 64)
    if scratch:
        d.scratch = scratch + (-<size_t> scratch) % 64
        parallel_for(
            depthwise_task, &d, (d.lines + d.lines_a_task - 1) // d.lines_a_task, n_threads
        )
    free(scratch)
    free(d.weaves)
    if not scratch:
        with gil:
            raise MemoryError()
    return 0
