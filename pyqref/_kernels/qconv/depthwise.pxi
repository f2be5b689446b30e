# Depthwise convolution: each channel with its own taps, vectors along the channels.

cdef enum:
    PIXELS = 64         # outputs a task


cdef struct Depthwise:
    const Image* image
    const Epilogue* epilogue
    const int32_t* column_offset    # (padded channels,), as in Columns
    const float* multiplier
    const float* bias
    const int32_t* taps             # (taps, padded channels), widened once for all pixels
    Py_ssize_t n_taps, padded, pixels
    const Py_ssize_t* offsets       # of the taps, in bytes from the first
    const uint8_t* blank            # a pixel of the padding
    Py_ssize_t* own_offsets         # n_taps for each thread: those of a window with padding
    int64_t first_inner, last_inner  # outputs of a line whose windows lie inside it
    uint8_t* out


cdef inline const uint8_t* pixel_at(
    const Image* image, Py_ssize_t batch, Py_ssize_t z, Py_ssize_t y, Py_ssize_t x
) noexcept nogil:
    cdef Py_ssize_t line = (batch * image.size[0] + z) * image.size[1] + y
    return image.x + (line * image.size[2] + x) * image.channels


cdef inline bint is_inner(const Depthwise* d, const Position* p) noexcept nogil:
    """Whether every tap is inside the image."""
    cdef const Image* image = d.image
    cdef int axis
    if not d.first_inner <= p.at[2] < d.last_inner:
        return False
    for axis in range(2):
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


cdef void find_own_offsets(
    const Depthwise* d, const Position* p, const uint8_t* first, Py_ssize_t* offsets
) noexcept nogil:
    """Where the pixel under each tap is, counted from ``first``: the blank one for padding."""
    cdef const Image* image = d.image
    cdef const uint8_t* source
    cdef Py_ssize_t i, j, k, z, y, x
    cdef Py_ssize_t tap = 0
    for i in range(image.kernel[0]):
        z = reach(image, p, 0, i)
        for j in range(image.kernel[1]):
            y = reach(image, p, 1, j)
            for k in range(image.kernel[2]):
                x = reach(image, p, 2, k)
                source = d.blank
                if is_in(image, 0, z) and is_in(image, 1, y) and is_in(image, 2, x):
                    source = pixel_at(image, p.image, z, y, x)
                offsets[tap] = <Py_ssize_t> source - <Py_ssize_t> first
                tap += 1


cdef inline i32v load_input(const uint8_t* x, bint is_signed) noexcept nogil:
    # Never negative, as the 16-bit products want it.
    if is_signed:
        return add_i32(load_s8(<const int8_t*> x), set_i32(128))
    return load_u8(x)


# What is the same for all channels when their sums are finished.
cdef struct Finish:
    f32v bias_multiplier, low, high
    i32v zero_point


cdef inline i32v finished(
    const Depthwise* d, const Finish* f, i32v total, Py_ssize_t channel
) noexcept nogil:
    return requantize(
        to_f32(add_i32(total, load_i32(d.column_offset + channel))),
        load_f32(d.multiplier + channel), load_f32(d.bias + channel), f.bias_multiplier, f.low,
        f.high, f.zero_point,
    )


cdef inline void some_channels(
    const Depthwise* d, const Finish* f, const uint8_t* first, const Py_ssize_t* offsets,
    Py_ssize_t channel, uint8_t* out, const int vectors, bint is_signed,
) noexcept nogil:
    """1, 2 or 4 vectors of channels from ``channel``: none waits for another."""
    cdef i32v[4] total
    cdef const int32_t* weight = d.taps + channel
    cdef const uint8_t* x
    cdef Py_ssize_t tap
    first += channel
    out += channel
    total[0] = total[1] = total[2] = total[3] = set_i32(0)
    for tap in range(d.n_taps):
        x = first + offsets[tap]
        total[0] = multiply_add_i16(total[0], load_input(x, is_signed), load_i32(weight))
        if vectors > 1:
            total[1] = multiply_add_i16(
                total[1], load_input(x + SIMD_LANES, is_signed), load_i32(weight + SIMD_LANES)
            )
        if vectors > 2:
            total[2] = multiply_add_i16(
                total[2], load_input(x + 2 * SIMD_LANES, is_signed),
                load_i32(weight + 2 * SIMD_LANES),
            )
            total[3] = multiply_add_i16(
                total[3], load_input(x + 3 * SIMD_LANES, is_signed),
                load_i32(weight + 3 * SIMD_LANES),
            )
        weight += d.padded
    store_low_bytes(out, finished(d, f, total[0], channel))
    if vectors > 1:
        store_low_bytes(out + SIMD_LANES, finished(d, f, total[1], channel + SIMD_LANES))
    if vectors > 2:
        store_low_bytes(out + 2 * SIMD_LANES, finished(d, f, total[2], channel + 2 * SIMD_LANES))
        store_low_bytes(out + 3 * SIMD_LANES, finished(d, f, total[3], channel + 3 * SIMD_LANES))


cdef void few_channels(
    const Depthwise* d, const Finish* f, const uint8_t* first, const Py_ssize_t* offsets,
    uint8_t* out, bint is_signed,
) noexcept nogil:
    """The same for fewer channels than a vector has lanes."""
    cdef uint8_t[LANES_MAX] rest
    cdef i32v total = set_i32(0)
    cdef Py_ssize_t tap
    memset(rest, 0, sizeof(rest))
    for tap in range(d.n_taps):
        memcpy(rest, first + offsets[tap], d.image.channels)
        total = multiply_add_i16(
            total, load_input(rest, is_signed), load_i32(d.taps + tap * d.padded)
        )
    store_low_bytes(rest, finished(d, f, total, 0))
    memcpy(out, rest, d.image.channels)


cdef inline void all_channels(
    const Depthwise* d, const Finish* f, const uint8_t* first, const Py_ssize_t* offsets,
    uint8_t* out, bint is_signed,
) noexcept nogil:
    """All channels of one output; the taps are at ``first`` plus their offsets."""
    cdef Py_ssize_t count = d.image.channels
    cdef Py_ssize_t c = 0
    if count < SIMD_LANES:
        few_channels(d, f, first, offsets, out, is_signed)
        return
    while c + 4 * SIMD_LANES <= count:
        some_channels(d, f, first, offsets, c, out, 4, is_signed)
        c += 4 * SIMD_LANES
    if c + 2 * SIMD_LANES <= count:
        some_channels(d, f, first, offsets, c, out, 2, is_signed)
        c += 2 * SIMD_LANES
    while c < count:
        # The last vector ends with the channels, and may take some once more.
        some_channels(d, f, first, offsets, min(c, count - SIMD_LANES), out, 1, is_signed)
        c += SIMD_LANES


cdef inline void depthwise_pixel(
    const Depthwise* d, const Finish* f, const uint8_t* first, const Py_ssize_t* offsets,
    uint8_t* out,
) noexcept nogil:
    if d.image.flip:
        all_channels(d, f, first, offsets, out, True)
    else:
        all_channels(d, f, first, offsets, out, False)


cdef void depthwise_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef Depthwise* d = <Depthwise*> context
    cdef const Image* image = d.image
    cdef Py_ssize_t* own_offsets = d.own_offsets + thread * d.n_taps
    cdef Py_ssize_t pixel = index * PIXELS
    cdef Py_ssize_t last = min(pixel + PIXELS, d.pixels)
    cdef const uint8_t* first
    cdef Position p
    cdef Finish f
    f.bias_multiplier = set_f32(d.epilogue.bias_multiplier)
    f.low = set_f32(<float> (d.epilogue.lower - d.epilogue.zero_point))
    f.high = set_f32(<float> (d.epilogue.upper - d.epilogue.zero_point))
    f.zero_point = set_i32(d.epilogue.zero_point)
    locate(image, pixel, &p)
    while pixel < last:
        if is_inner(d, &p):
            first = pixel_at(
                image, p.image, reach(image, &p, 0, 0), reach(image, &p, 1, 0),
                reach(image, &p, 2, 0),
            )
            # To the end of the line nothing changes but where the window begins.
            while True:
                depthwise_pixel(d, &f, first, d.offsets, d.out + pixel * image.channels)
                advance(image, &p)
                pixel += 1
                if pixel == last or p.at[2] == 0 or p.at[2] >= d.last_inner:
                    break
                first += image.stride[2] * image.channels
        else:
            find_own_offsets(d, &p, image.x, own_offsets)
            depthwise_pixel(
                d, &f, image.x, own_offsets, d.out + pixel * image.channels
            )
            advance(image, &p)
            pixel += 1


cdef void find_inner(Depthwise* d) noexcept nogil:
    """The outputs of a line whose windows lie inside it."""
    cdef const Image* image = d.image
    cdef int64_t stride = image.stride[2]
    cdef int64_t room = image.size[2] + image.padding[2]
    room -= (image.kernel[2] - 1) * image.dilation[2]
    d.first_inner = (image.padding[2] + stride - 1) // stride
    d.last_inner = min((room + stride - 1) // stride if room > 0 else 0, image.out[2])


cdef void load_all_columns(
    const Epilogue* epilogue, Py_ssize_t channels, int32_t* offset, float* multiplier, float* bias
) noexcept nogil:
    """Columns of all panels, one after another."""
    cdef Columns columns
    cdef Py_ssize_t first = 0
    cdef int count
    while first < channels:
        count = <int> min(<Py_ssize_t> PANEL_COLUMNS, channels - first)
        load_columns(epilogue, &columns, first, count)
        count = (count + 15) // 16 * 16
        memcpy(offset + first, columns.offset, count * sizeof(int32_t))
        memcpy(multiplier + first, columns.multiplier, count * sizeof(float))
        memcpy(bias + first, columns.bias, count * sizeof(float))
        first += PANEL_COLUMNS


cdef int depthwise(
    const Image* image, const Epilogue* epilogue, const int8_t* taps, Py_ssize_t pixels,
    uint8_t* out, int n_threads,
) except -1 nogil:
    """Run a depthwise convolution with as many outputs as inputs, whose weights are centred."""
    cdef Depthwise d
    cdef Py_ssize_t i
    cdef int32_t* widened
    cdef void* buffer
    cdef Py_ssize_t* offsets
    cdef uint8_t* blank
    d.padded = (image.channels + 15) // 16 * 16
    d.n_taps = image.kernel[0] * image.kernel[1] * image.kernel[2]
    n_threads = useful_threads(<double> pixels * image.channels * d.n_taps, 1 << 20, n_threads)
    blank = <uint8_t*> malloc(image.channels)
    offsets = <Py_ssize_t*> malloc((n_threads + 1) * d.n_taps * sizeof(Py_ssize_t))
    buffer = malloc((d.n_taps + 3) * d.padded * sizeof(int32_t) + 64)
    if blank and offsets and buffer:
        # From a cache line on, so that no load straddles two.
        widened = <int32_t*> ((<size_t> buffer + 63) // 64 * 64)
        for i in range(d.n_taps * d.padded):
            widened[i] = taps[i]
        d.taps, d.column_offset = widened, widened + d.n_taps * d.padded
        d.multiplier = <float*> d.column_offset + d.padded
        d.bias = d.multiplier + d.padded
        load_all_columns(
            epilogue, image.channels, <int32_t*> d.column_offset, <float*> d.multiplier,
            <float*> d.bias,
        )
        find_offsets(image, offsets)
        d.offsets, d.own_offsets = offsets, offsets + d.n_taps
        memset(blank, image.zero_point, image.channels)
        d.image, d.epilogue, d.blank = image, epilogue, blank
        d.pixels, d.out = pixels, out
        find_inner(&d)
        parallel_for(depthwise_task, &d, (pixels + PIXELS - 1) // PIXELS, n_threads)
        pixels = -1
    free(offsets)
    free(buffer)
    free(blank)
    if pixels != -1:
        with gil:
            raise MemoryError()
    return 0
