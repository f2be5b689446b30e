# Depthwise convolution: each channel with its own taps, vectors along the channels.

cdef enum:
    PIXELS = 64         # outputs a task


cdef struct Depthwise:
    const Image* image
    const Epilogue* epilogue
    const Columns* columns          # one for each PANEL_COLUMNS channels
    const int32_t* taps             # (taps, padded channels), widened once for all pixels
    Py_ssize_t n_taps, padded, pixels
    const Py_ssize_t* offsets       # of the taps, in bytes from the first
    const uint8_t* blank            # a pixel of the padding
    const uint8_t** sources         # n_taps pointers for each thread
    uint8_t* out


cdef inline const uint8_t* pixel_at(
    const Image* image, Py_ssize_t batch, Py_ssize_t z, Py_ssize_t y, Py_ssize_t x
) noexcept nogil:
    cdef Py_ssize_t line = (batch * image.size[0] + z) * image.size[1] + y
    return image.x + (line * image.size[2] + x) * image.channels


cdef inline bint is_interior(const Image* image, const Position* p) noexcept nogil:
    """Whether every tap is inside the image."""
    cdef int axis
    for axis in range(3):
        if reach(image, p, axis, 0) < 0:
            return False
        if reach(image, p, axis, image.kernel[axis] - 1) >= image.size[axis]:
            return False
    return True


cdef void find_offsets(const Image* image, Py_ssize_t* offsets) noexcept nogil:
    cdef Py_ssize_t i, j, k
    cdef Py_ssize_t tap = 0
    for i in range(image.kernel[0]):
        for j in range(image.kernel[1]):
            for k in range(image.kernel[2]):
                offsets[tap] = pixel_at(
                    image, 0, i * image.dilation[0], j * image.dilation[1], k * image.dilation[2]
                ) - image.x
                tap += 1


cdef inline void find_sources(
    const Depthwise* d, const Position* p, const uint8_t** sources
) noexcept nogil:
    """The pixel under each tap, the blank one where that is outside the image."""
    cdef const Image* image = d.image
    cdef const uint8_t* first
    cdef Py_ssize_t i, j, k, z, y, x
    cdef Py_ssize_t tap = 0
    z, y, x = reach(image, p, 0, 0), reach(image, p, 1, 0), reach(image, p, 2, 0)
    if is_interior(image, p):
        first = pixel_at(image, p.image, z, y, x)
        for tap in range(d.n_taps):
            sources[tap] = first + d.offsets[tap]
        return
    for i in range(image.kernel[0]):
        z = reach(image, p, 0, i)
        for j in range(image.kernel[1]):
            y = reach(image, p, 1, j)
            for k in range(image.kernel[2]):
                x = reach(image, p, 2, k)
                sources[tap] = d.blank
                if is_in(image, 0, z) and is_in(image, 1, y) and is_in(image, 2, x):
                    sources[tap] = pixel_at(image, p.image, z, y, x)
                tap += 1


cdef inline i32v load_input(const uint8_t* x, bint is_signed) noexcept nogil:
    # Never negative, as the 16-bit products want it.
    if is_signed:
        return add_i32(load_s8(<const int8_t*> x), set_i32(128))
    return load_u8(x)


cdef inline void depthwise_sums(
    const Depthwise* d, const uint8_t** sources, Py_ssize_t channel, int count, int32_t* sums,
    bint is_signed,
) noexcept nogil:
    """Uncentred sums of ``count`` channels."""
    cdef uint8_t[LANES_MAX] rest
    cdef Py_ssize_t tap
    cdef const uint8_t* x
    cdef const int32_t* weight
    cdef i32v total, second
    cdef int c = 0
    # Two vectors at a time: neither waits for the other.
    while c + 2 * SIMD_LANES <= count:
        total = second = set_i32(0)
        weight = d.taps + channel + c
        for tap in range(d.n_taps):
            x = sources[tap] + channel + c
            total = multiply_add_i16(total, load_input(x, is_signed), load_i32(weight))
            second = multiply_add_i16(
                second, load_input(x + SIMD_LANES, is_signed), load_i32(weight + SIMD_LANES)
            )
            weight += d.padded
        store_i32(sums + c, total)
        store_i32(sums + c + SIMD_LANES, second)
        c += 2 * SIMD_LANES
    while c < count:
        total = set_i32(0)
        weight = d.taps + channel + c
        for tap in range(d.n_taps):
            x = sources[tap] + channel + c
            if c + SIMD_LANES > count:
                memcpy(rest, x, count - c)
                x = rest
            total = multiply_add_i16(total, load_input(x, is_signed), load_i32(weight))
            weight += d.padded
        store_i32(sums + c, total)
        c += SIMD_LANES


cdef void depthwise_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef Depthwise* d = <Depthwise*> context
    cdef const Image* image = d.image
    cdef const uint8_t** sources = d.sources + thread * d.n_taps
    cdef int32_t[PANEL_COLUMNS] sums
    cdef Py_ssize_t pixel = index * PIXELS
    cdef Py_ssize_t last = min(pixel + PIXELS, d.pixels)
    cdef Py_ssize_t channel
    cdef int count
    cdef Position p
    locate(image, pixel, &p)
    while pixel < last:
        find_sources(d, &p, sources)
        channel = 0
        while channel < image.channels:
            count = <int> min(<Py_ssize_t> PANEL_COLUMNS, image.channels - channel)
            if image.flip:
                depthwise_sums(d, sources, channel, count, sums, True)
            else:
                depthwise_sums(d, sources, channel, count, sums, False)
            finish_row(
                d.epilogue, d.columns + channel // PANEL_COLUMNS, sums, 0,
                d.out + pixel * image.channels + channel, count,
            )
            channel += PANEL_COLUMNS
        advance(image, &p)
        pixel += 1


cdef int depthwise(
    const Image* image, const Epilogue* epilogue, const int8_t* taps, Py_ssize_t pixels,
    uint8_t* out, int n_threads,
) except -1 nogil:
    """Run a depthwise convolution with as many outputs as inputs."""
    cdef Depthwise d
    cdef Py_ssize_t channel, i
    cdef Py_ssize_t panels = (image.channels + PANEL_COLUMNS - 1) // PANEL_COLUMNS
    cdef Columns* columns
    cdef int32_t* widened
    cdef void* buffer
    cdef Py_ssize_t* offsets
    cdef uint8_t* blank
    d.padded = (image.channels + 15) // 16 * 16
    d.n_taps = image.kernel[0] * image.kernel[1] * image.kernel[2]
    n_threads = useful_threads(<double> pixels * image.channels * d.n_taps, 1 << 20, n_threads)
    columns = <Columns*> malloc(panels * sizeof(Columns))
    blank = <uint8_t*> malloc(image.channels)
    offsets = <Py_ssize_t*> malloc(d.n_taps * sizeof(Py_ssize_t))
    buffer = malloc(d.n_taps * d.padded * sizeof(int32_t) + 64)
    d.sources = <const uint8_t**> malloc(d.n_taps * n_threads * sizeof(void*))
    if columns and blank and offsets and buffer and d.sources:
        for channel in range(panels):
            load_columns(
                epilogue, columns + channel, channel * PANEL_COLUMNS,
                <int> min(<Py_ssize_t> PANEL_COLUMNS, image.channels - channel * PANEL_COLUMNS),
            )
        # From a cache line on, so that no load straddles two.
        widened = <int32_t*> ((<size_t> buffer + 63) // 64 * 64)
        for i in range(d.n_taps * d.padded):
            widened[i] = taps[i]
        find_offsets(image, offsets)
        d.offsets = offsets
        memset(blank, image.zero_point, image.channels)
        d.image, d.epilogue, d.columns, d.taps, d.blank = image, epilogue, columns, widened, blank
        d.pixels, d.out = pixels, out
        parallel_for(depthwise_task, &d, (pixels + PIXELS - 1) // PIXELS, n_threads)
        pixels = -1
    free(columns)
    free(offsets)
    free(buffer)
    free(blank)
    free(<void*> d.sources)
    if pixels != -1:
        with gil:
            raise MemoryError()
    return 0
