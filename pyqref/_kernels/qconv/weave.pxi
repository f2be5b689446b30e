# The inner loops of depthwise.pxi: pixels are woven into quads, quads multiplied, outputs stored.

cdef inline const uint8_t* pixel_of(
    const Loom* loom, Py_ssize_t row, Py_ssize_t column, Py_ssize_t channels, Py_ssize_t channel
) noexcept nogil:
    cdef Py_ssize_t at = column - loom.padding
    if loom.rows[row] == NULL or at < 0 or at >= loom.limit:
        return loom.blank
    return loom.rows[row] + at * channels + channel


cdef inline void weave_run(
    const Loom* loom, const Weave* weave, Py_ssize_t first, Py_ssize_t last, Py_ssize_t channels,
    Py_ssize_t channel, uint8_t* target, const int flip,
) noexcept nogil:
    """Weave some pixels that all lie inside the image, or above or below it."""
    cdef Bytes[4] x
    cdef Py_ssize_t[4] step
    cdef Py_ssize_t c
    cdef int i
    for i in range(4):
        x[i] = pixel_of(loom, weave.row[i], first + weave.column[i], channels, channel)
        step[i] = channels if loom.rows[weave.row[i]] != NULL else 0
    for c in range(first, last):
        interleave_u8(target, x[0], x[1], x[2], x[3], flip)
        for i in range(4):
            x[i] += step[i]
        target += 4 * VECTOR_BYTES


cdef void weave_pixels(
    const Depthwise* d, Loom* loom, Py_ssize_t first, Py_ssize_t count, Py_ssize_t channel
) noexcept nogil:
    """Weave ``count`` pixels of a line, counted with its padding."""
    cdef Py_ssize_t channels = d.image.channels
    cdef const Weave* weave
    cdef uint8_t* target
    cdef Py_ssize_t end = first + count
    cdef Py_ssize_t w, c, last, inner, inner_end
    for w in range(d.n_weaves):
        weave = &d.weaves[w]
        target = loom.woven + w * d.columns * 4 * VECTOR_BYTES
        # The columns of a weave ascend: the first and the last tell whether all are inside.
        inner = min(max(first, loom.padding), end)
        inner_end = min(max(inner, loom.padding + loom.limit - weave.column[3]), end)
        c = first
        while c < end:
            last = c + 1 if c < inner or c >= inner_end else inner_end
            if d.image.flip:
                weave_run(loom, weave, c, last, channels, channel, target, 128)
            else:
                weave_run(loom, weave, c, last, channels, channel, target, 0)
            target += (last - c) * 4 * VECTOR_BYTES
            c = last


# What is the same for all channels when their sums are finished.
cdef struct Finish:
    f32v bias_multiplier, high
    int zero_point, lower, flip     # as unsigned bytes, 128 higher where the outputs are signed


cdef inline f32v finished(
    const Loom* loom, const Finish* f, i32v total, const int vector
) noexcept nogil:
    return scaled(
        to_f32(total), load_f32(loom.multiplier + vector * SIMD_LANES),
        load_f32(loom.bias + vector * SIMD_LANES), f.bias_multiplier, f.high,
    )


cdef inline void store_output(
    const Loom* loom, const Finish* f, i32v first, i32v second, i32v third, i32v fourth,
    uint8_t* out, Py_ssize_t count,
) noexcept nogil:
    cdef uint8_t[VECTOR_BYTES] stored
    cdef uint8_t* target = out if count == VECTOR_BYTES else stored
    store_rounded_quads(
        target, finished(loom, f, first, 0), finished(loom, f, second, 1),
        finished(loom, f, third, 2), finished(loom, f, fourth, 3), f.zero_point, f.lower, f.flip,
    )
    if count != VECTOR_BYTES:
        memcpy(out, stored, count)


cdef inline void two_outputs(
    const Depthwise* d, const Loom* loom, const Finish* f, const uint8_t* x,
    Py_ssize_t to_second, uint8_t* out, Py_ssize_t count, Py_ssize_t count_of_second,
) noexcept nogil:
    """Two vectors of outputs, side by side, so that weights are loaded once for both."""
    cdef i32v a, b, c, e, a2, b2, c2, e2
    cdef weights_v weights
    cdef const int8_t* w = loom.weights
    cdef const uint8_t* quads
    cdef const uint8_t* quads2
    cdef Py_ssize_t s
    a = a2 = load_i32(loom.offset)
    b = b2 = load_i32(loom.offset + SIMD_LANES)
    c = c2 = load_i32(loom.offset + 2 * SIMD_LANES)
    e = e2 = load_i32(loom.offset + 3 * SIMD_LANES)
    for s in range(d.n_steps):
        quads = x + (d.steps[s].weave * d.columns + d.steps[s].column) * 4 * VECTOR_BYTES
        quads2 = quads + to_second
        weights = load_weights(w)
        a = dot4_quads(a, load_quads(quads), weights)
        a2 = dot4_quads(a2, load_quads(quads2), weights)
        weights = load_weights(w + VECTOR_BYTES)
        b = dot4_quads(b, load_quads(quads + VECTOR_BYTES), weights)
        b2 = dot4_quads(b2, load_quads(quads2 + VECTOR_BYTES), weights)
        weights = load_weights(w + 2 * VECTOR_BYTES)
        c = dot4_quads(c, load_quads(quads + 2 * VECTOR_BYTES), weights)
        c2 = dot4_quads(c2, load_quads(quads2 + 2 * VECTOR_BYTES), weights)
        weights = load_weights(w + 3 * VECTOR_BYTES)
        e = dot4_quads(e, load_quads(quads + 3 * VECTOR_BYTES), weights)
        e2 = dot4_quads(e2, load_quads(quads2 + 3 * VECTOR_BYTES), weights)
        w += 4 * VECTOR_BYTES
    store_output(loom, f, a, b, c, e, out, count)
    if count_of_second:
        store_output(
            loom, f, a2, b2, c2, e2, out + d.pixels_a_vector * d.image.channels, count_of_second
        )


cdef void one_line(
    const Depthwise* d, Loom* loom, const Finish* f, Py_ssize_t channel, uint8_t* out
) noexcept nogil:
    """A line of outputs of VECTOR_BYTES channels, or of all where there are fewer."""
    cdef const Image* image = d.image
    cdef Py_ssize_t channels = min(<Py_ssize_t> VECTOR_BYTES, image.channels)
    cdef Py_ssize_t step = d.pixels_a_vector
    cdef Py_ssize_t to_second = step * image.stride[2] * 4 * VECTOR_BYTES
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t last, at
    cdef Py_ssize_t reached = d.columns - (d.segment - 1) * image.stride[2]
    while first < image.out[2]:
        last = min(first + d.segment, image.out[2])
        weave_pixels(
            d, loom, first * image.stride[2], (last - 1 - first) * image.stride[2] + reached,
            channel,
        )
        at = first
        while at < last:
            two_outputs(
                d, loom, f, loom.woven + (at - first) * image.stride[2] * 4 * VECTOR_BYTES,
                to_second if at + step < last else 0, out + at * image.channels + channel,
                min(step, last - at) * channels, min(step, max(last - at - step, 0)) * channels,
            )
            at += 2 * step
        first = last
