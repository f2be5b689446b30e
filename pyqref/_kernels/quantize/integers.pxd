# From real numbers to integers.

cimport numpy as cnp
from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.math cimport rintf
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy
from pyqref._kernels.axes cimport elements_per_channel, require_channels
from pyqref._kernels.cache cimport LINE, first_step, next_line, suits_streams
from pyqref._kernels.quantize.chunks cimport (
    BLOCK, CHUNK, FAR_BYTES, FEW, SHORT, TOO_HIGH, Affine, doubles, each_chunk, each_strip,
)
from pyqref._kernels.quantize.to_bytes cimport quantize_bytes
from pyqref._kernels.simd.partial cimport load_n_f32, store_n_low_bytes
from pyqref._kernels.simd.primitives cimport *

# --- Quantize per tensor ------------------------------------------------------------------

cdef inline int32_t saturate_wide(double shifted, int32_t low, int32_t high) noexcept nogil:
    # nan becomes low.
    if not shifted > low:
        return low
    return high if shifted >= high else <int32_t> rintf(<float> shifted)


cdef inline void quantize_wide(
    const float* x, int32_t* q, Py_ssize_t n, float inverse, float offset, Affine* a
) noexcept nogil:
    """Quantize into 32 bits: the product and the sum are rounded separately."""
    cdef Py_ssize_t i
    for i in range(n):
        q[i] = saturate_wide(x[i] * inverse + offset, a.quant_min, a.quant_max)


cdef inline void quantize_past_caches(
    const Affine* a, const float* x, uint8_t* q, Py_ssize_t n
) noexcept nogil:
    """Bytes that go past the caches, by way of a block that stays in one."""
    cdef uint8_t[BLOCK + LINE] buffer
    cdef uint8_t* block = <uint8_t*> next_line(buffer)
    cdef Py_ssize_t vector = SIMD_LANES * sizeof(float)
    cdef Py_ssize_t some, at
    while n > 0:
        some = min(<Py_ssize_t> BLOCK, n)
        quantize_bytes(
            x, block, some, a.inverse, a.offset, <float> a.quant_min, <float> a.quant_max
        )
        at = 0
        while at + vector <= some:
            stream_f32(<float*> (q + at), load_f32(<float*> (block + at)))
            at += vector
        memcpy(q + at, block + at, some - at)
        x, q, n = x + some, q + some, n - some
    finish_streams()


cdef inline void quantize_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef Affine* a = <Affine*> context
    cdef Py_ssize_t start = index * CHUNK
    cdef Py_ssize_t n = min(<Py_ssize_t> CHUNK, a.size - start)
    if a.wide:
        quantize_wide(a.x + start, (<int32_t*> a.q) + start, n, a.inverse, a.offset, a)
    elif a.streams:
        quantize_past_caches(a, a.x + start, a.q + start, n)
    else:
        quantize_bytes(
            a.x + start, a.q + start, n, a.inverse, a.offset, <float> a.quant_min,
            <float> a.quant_max,
        )


cdef inline void run_per_tensor(
    cnp.ndarray x, cnp.ndarray q, float scale, float zero_point, int64_t quant_min,
    int64_t quant_max, int n_threads,
) noexcept:
    cdef Affine a
    a.x = <float*> cnp.PyArray_DATA(x)
    a.q = <uint8_t*> cnp.PyArray_DATA(q)
    a.wide = cnp.PyArray_ITEMSIZE(q) > 1
    a.size = cnp.PyArray_SIZE(x)
    a.inverse, a.offset = (<float> 1) / scale, zero_point
    a.quant_min, a.quant_max = <int32_t> quant_min, <int32_t> quant_max
    a.streams = not a.wide and a.size >= FAR_BYTES and suits_streams(a.q, LINE, LINE, FAR_BYTES)
    each_chunk(&a, quantize_task, n_threads)


# --- Quantize per channel -----------------------------------------------------------------

cdef inline f32v on_grid(f32v x, f32v inverse, f32v offset) noexcept nogil:
    # The product and the sum are rounded separately.
    return add_f32(mul_f32(x, inverse), offset)


cdef inline i32v saturated(f32v shifted, const Affine* a) noexcept nogil:
    # nan passes both bounds, which are given first, and becomes 0.
    cdef f32v low = set_f32(<float> a.quant_min)
    cdef f32v high = set_f32(<float> a.quant_max)
    return to_i32(if_nan(max_f32(low, min_f32(high, shifted)), set_f32(0)))


cdef inline void quantize_four(
    const Affine* a, const float* x, uint8_t* q, const f32v* inverse, const f32v* offset,
    int32_t quant_min, int32_t quant_max,
) noexcept nogil:
    """Four vectors, each on a grid of its own.

    The range is that of ``a``, as it was read before: for all a compiler knows, q might lie there.
    """
    cdef f32v[4] shifted
    cdef int v
    for v in range(4):
        shifted[v] = on_grid(load_f32(x + v * SIMD_LANES), inverse[v], offset[v])
    if all_below(shifted[0], shifted[1], shifted[2], shifted[3], set_f32(TOO_HIGH)):
        store_rounded_bytes(
            q, shifted[0], shifted[1], shifted[2], shifted[3],
            quant_min < 0, quant_min, quant_max,
        )
    else:
        for v in range(4):
            store_low_bytes(q + v * SIMD_LANES, saturated(shifted[v], a))


cdef inline void load_four(const float* x, f32v* vectors) noexcept nogil:
    cdef int v
    for v in range(4):
        vectors[v] = load_f32(x + v * SIMD_LANES)


cdef inline void quantize_strip(
    const Affine* a, const float* x, uint8_t* q, Py_ssize_t n, const float* inverses,
    const float* offsets, bint of_each,
) noexcept nogil:
    """``eq-affine-quantize-channel`` on n numbers of one channel, or one of each of n channels."""
    cdef f32v[4] inverse
    cdef f32v[4] offset
    cdef f32v rest
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t step = first_step(x, n, SIMD_LANES, 4 * SIMD_LANES)
    cdef int32_t quant_min = a.quant_min
    cdef int32_t quant_max = a.quant_max
    cdef int v
    for v in range(4):
        inverse[v], offset[v] = set_f32(inverses[0]), set_f32(offsets[0])
    while i + 4 * SIMD_LANES <= n:
        if of_each:
            load_four(inverses + i, inverse)
            load_four(offsets + i, offset)
        quantize_four(a, x + i, q + i, inverse, offset, quant_min, quant_max)
        i, step = i + step, 4 * SIMD_LANES
    step = first_step(x + i, n - i, SIMD_LANES, SIMD_LANES)
    while i + SIMD_LANES <= n:
        if of_each:
            inverse[0], offset[0] = load_f32(inverses + i), load_f32(offsets + i)
        store_low_bytes(q + i, saturated(on_grid(load_f32(x + i), inverse[0], offset[0]), a))
        i, step = i + step, SIMD_LANES
    if i < n:
        if of_each:
            inverse[0] = load_n_f32(inverses + i, n - i)
            offset[0] = load_n_f32(offsets + i, n - i)
        rest = on_grid(load_n_f32(x + i, n - i), inverse[0], offset[0])
        store_n_low_bytes(q + i, saturated(rest, a), n - i)


cdef inline void quantize_block(
    const Affine* a, Py_ssize_t start, Py_ssize_t rows, const float* inverses,
    const float* offsets,
) noexcept nogil:
    """Four vectors of channels, down some rows of all channels."""
    cdef f32v[4] inverse
    cdef f32v[4] offset
    cdef const float* x = a.x + start
    cdef uint8_t* q = a.q + start
    cdef Py_ssize_t channels = a.channels
    cdef int32_t quant_min = a.quant_min
    cdef int32_t quant_max = a.quant_max
    cdef Py_ssize_t _row
    load_four(inverses, inverse)
    load_four(offsets, offset)
    for _row in range(rows):
        quantize_four(a, x, q, inverse, offset, quant_min, quant_max)
        x += channels
        q += channels


cdef inline void quantize_rows(
    const Affine* a, Py_ssize_t first, Py_ssize_t rows
) noexcept nogil:
    """Rows of all channels, into bytes.

    Where a row is whole vectors, all begin equally far from a place where aligned vectors do, and
    are taken from one such place to another: each from some channel on, to the one before it in
    the next.
    """
    cdef Py_ssize_t start = first * a.channels
    cdef Py_ssize_t channel = 0
    cdef Py_ssize_t row
    cdef Py_ssize_t lead = 0
    cdef const float* inverses = a.inverses
    cdef const float* offsets = a.offsets
    if a.channels % SIMD_LANES == 0 and a.size > SHORT:
        lead = first_step(a.x + start, rows * a.channels, SIMD_LANES, 0)
    if lead:
        quantize_strip(a, a.x + start, a.q + start, lead, inverses, offsets, True)
        start, rows = start + lead, rows - 1
        inverses, offsets = inverses + lead, offsets + lead
        row = start + rows * a.channels
        quantize_strip(a, a.x + row, a.q + row, a.channels - lead, inverses, offsets, True)
    while channel + 4 * SIMD_LANES <= a.channels:
        quantize_block(a, start + channel, rows, inverses + channel, offsets + channel)
        channel += 4 * SIMD_LANES
    if channel < a.channels:
        for row in range(rows):
            quantize_strip(
                a, a.x + start + row * a.channels + channel,
                a.q + start + row * a.channels + channel,
                a.channels - channel, inverses + channel, offsets + channel, True,
            )


cdef inline void quantize_channels_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef Affine* a = <Affine*> context
    cdef Py_ssize_t strip = index * a.strips_per_task
    cdef Py_ssize_t last = min(strip + a.strips_per_task, a.strips)
    cdef Py_ssize_t length = a.channels if a.inner == 1 else a.inner
    cdef Py_ssize_t channel, i
    if a.inner == 1 and not a.wide:
        quantize_rows(a, strip, last - strip)
        return
    while strip < last:
        channel = 0 if a.inner == 1 else strip % a.channels
        if not a.wide:
            quantize_strip(
                a, a.x + strip * length, a.q + strip * length, length,
                a.inverses + channel, a.offsets + channel, False,
            )
        elif a.inner == 1:
            for i in range(length):
                quantize_wide(
                    a.x + strip * length + i, (<int32_t*> a.q) + strip * length + i, 1,
                    a.inverses[i], a.offsets[i], a,
                )
        else:
            quantize_wide(
                a.x + strip * length, (<int32_t*> a.q) + strip * length, length,
                a.inverses[channel], a.offsets[channel], a,
            )
        strip += 1


cdef inline const float* with_more(
    const float* each, Py_ssize_t channels, float* target
) noexcept:
    """The first channels once more behind the last, for rows that begin with another."""
    memcpy(target, each, channels * sizeof(float))
    memcpy(target + channels, each, min(channels, <Py_ssize_t> LANES_MAX) * sizeof(float))
    return target


cdef inline int run_steps(
    cnp.ndarray x, cnp.ndarray q, const float* steps, Py_ssize_t channels, int axis,
    int64_t quant_min, int64_t quant_max, int n_threads,
) except -1:
    """``steps (2, channels)``: reciprocals of the scales above the zero points."""
    cdef Affine a
    cdef float[2 * FEW] few
    cdef float* buffer = few
    a.x = <float*> cnp.PyArray_DATA(x)
    a.q = <uint8_t*> cnp.PyArray_DATA(q)
    a.wide = cnp.PyArray_ITEMSIZE(q) > 1
    a.size, a.channels = cnp.PyArray_SIZE(x), channels
    a.inner = elements_per_channel(x, axis)
    a.quant_min, a.quant_max = <int32_t> quant_min, <int32_t> quant_max
    a.inverses, a.offsets = steps, steps + channels
    if a.size > SHORT:
        if channels + LANES_MAX > FEW:
            buffer = <float*> malloc(2 * (channels + LANES_MAX) * sizeof(float))
            if buffer == NULL:
                raise MemoryError()
        a.inverses = with_more(a.inverses, channels, buffer)
        a.offsets = with_more(a.offsets, channels, buffer + channels + LANES_MAX)
    each_strip(&a, quantize_channels_task, n_threads)
    if buffer != few:
        free(buffer)
    return 0


cdef inline int run_per_channel(
    cnp.ndarray x, cnp.ndarray q, scales, zero_points, int axis, int64_t quant_min,
    int64_t quant_max, int n_threads,
) except -1:
    cdef cnp.ndarray each_scale = doubles(scales)
    cdef cnp.ndarray each_zero_point = doubles(zero_points)
    cdef const double* scale = <const double*> cnp.PyArray_DATA(each_scale)
    cdef const double* zero_point = <const double*> cnp.PyArray_DATA(each_zero_point)
    cdef Py_ssize_t channels = cnp.PyArray_SIZE(each_scale)
    cdef Py_ssize_t channel
    cdef float[2 * FEW] few
    cdef float* steps = few
    require_channels(x, axis, each_scale, each_zero_point)
    if channels > FEW:
        steps = <float*> malloc(2 * channels * sizeof(float))
        if steps == NULL:
            raise MemoryError()
    for channel in range(channels):
        steps[channel] = <float> 1 / <float> scale[channel]
        steps[channels + channel] = <float> zero_point[channel]
    try:
        run_steps(x, q, steps, channels, axis, quant_min, quant_max, n_threads)
    finally:
        if steps != few:
            free(steps)
    return 0
