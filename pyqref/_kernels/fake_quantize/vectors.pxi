# Fake quantization of runs and rows, vector by vector: included by kernel.pyx.

cdef inline f32v place_on_grid(const float* x, const Grid* grid, Rule rule) noexcept nogil:
    """A vector, rounded and shifted, not yet clamped (``v`` of ``eq-fake-quantize-mask``)."""
    cdef f32v value = load_f32(x)
    if rule == FUSED:
        return round_f32(fma_f32(value, grid.inverse, grid.zero_point))
    if rule == BEFORE:
        return round_f32(add_f32(mul_f32(value, grid.inverse), grid.zero_point))
    return add_f32(round_f32(mul_f32(value, grid.inverse)), grid.zero_point)


cdef inline f32v real_of(f32v place, const Grid* grid, f32v low, f32v high) noexcept nogil:
    """The rest of ``eq-fake-quantize-mask``: clamped, and back to real numbers."""
    # nan becomes low, as max gives its second operand there. To add 0 - zero_point is to subtract
    # it, and where it is 0, -0.0 becomes 0.0.
    place = add_f32(min_f32(max_f32(place, low), high), grid.back)
    return mul_f32(place, grid.scale)


cdef inline void load_grid(
    Grid* grid, const float* scales, const float* inverses, const float* zero_points
) noexcept nogil:
    grid.scale, grid.inverse = load_f32(scales), load_f32(inverses)
    grid.zero_point = load_f32(zero_points)
    grid.back = sub_f32(set_f32(0), grid.zero_point)


cdef void fake_quantize_some(
    FakeQuantize* f, Py_ssize_t start, Py_ssize_t n, Py_ssize_t channel, bint across
) noexcept nogil:
    """Fewer numbers than a vector has lanes, of one channel or of n from ``channel`` on."""
    cdef float[4][LANES_MAX] rest
    cdef float[LANES_MAX] y_rest
    cdef f32v place
    cdef f32v low = set_f32(f.low)
    cdef f32v high = set_f32(f.high)
    cdef Grid grid
    cdef Py_ssize_t i
    memset(rest, 0, sizeof(rest))
    memcpy(rest[0], f.x + start, n * sizeof(float))
    for i in range(n):
        rest[1][i] = f.scales[channel + i if across else channel]
        rest[2][i] = f.inverses[channel + i if across else channel]
        rest[3][i] = f.zero_points[channel + i if across else channel]
    load_grid(&grid, rest[1], rest[2], rest[3])
    place = place_on_grid(rest[0], &grid, f.rule)
    if f.bit_mask:
        add_bits(f.bit_mask, start, lanes_inside(place, low, high) & ((<uint32_t> 1 << n) - 1), n)
    store_f32(y_rest, real_of(place, &grid, low, high))
    memcpy(f.y + start, y_rest, n * sizeof(float))


cdef inline void fake_quantize_run(
    FakeQuantize* f, Py_ssize_t start, Py_ssize_t n, Py_ssize_t channel, Rule rule, bint masked
) noexcept nogil:
    """n numbers from ``start`` of one channel."""
    cdef const float* x = f.x
    cdef float* y = f.y
    cdef uint8_t* bit_mask = f.bit_mask
    cdef bint streams = f.streams
    cdef Py_ssize_t last = start + n
    # Where marks fill whole bytes, some vectors at a time.
    cdef Py_ssize_t whole = last if not masked or start % 8 == 0 else start
    cdef f32v place
    cdef f32v low = set_f32(f.low)
    cdef f32v high = set_f32(f.high)
    cdef Grid grid
    grid.scale, grid.inverse = set_f32(f.scales[channel]), set_f32(f.inverses[channel])
    grid.zero_point = set_f32(f.zero_points[channel])
    grid.back = sub_f32(set_f32(0), grid.zero_point)
    cdef int v
    while start + ACROSS * SIMD_LANES <= whole:
        for v in range(ACROSS):
            place = place_on_grid(x + start + v * SIMD_LANES, &grid, rule)
            if masked:
                put_bits(bit_mask, start + v * SIMD_LANES, lanes_inside(place, low, high), True)
            put_f32(y + start + v * SIMD_LANES, real_of(place, &grid, low, high), streams)
        start += ACROSS * SIMD_LANES
    while start + SIMD_LANES <= last:
        place = place_on_grid(x + start, &grid, rule)
        if masked:
            put_bits(bit_mask, start, lanes_inside(place, low, high), False)
        put_f32(y + start, real_of(place, &grid, low, high), streams)
        start += SIMD_LANES
    if start < last:
        fake_quantize_some(f, start, last - start, channel, False)


cdef void fake_quantize_across(
    FakeQuantize* f, Py_ssize_t start, Py_ssize_t n, Py_ssize_t channel
) noexcept nogil:
    """A number of each of n channels from ``channel`` on."""
    cdef Py_ssize_t i = 0
    cdef f32v place
    cdef f32v low = set_f32(f.low)
    cdef f32v high = set_f32(f.high)
    cdef Grid grid
    while i + SIMD_LANES <= n:
        load_grid(&grid, f.scales + channel + i, f.inverses + channel + i,
                  f.zero_points + channel + i)
        place = place_on_grid(f.x + start + i, &grid, f.rule)
        if f.bit_mask:
            put_bits(f.bit_mask, start + i, lanes_inside(place, low, high), False)
        put_f32(f.y + start + i, real_of(place, &grid, low, high), f.streams)
        i += SIMD_LANES
    if i < n:
        fake_quantize_some(f, start + i, n - i, channel + i, True)


cdef inline void fake_quantize_block(
    FakeQuantize* f, Py_ssize_t start, Py_ssize_t rows, Py_ssize_t channel, Rule rule, bint masked
) noexcept nogil:
    """Some vectors of channels, down some rows of all channels."""
    cdef Grid[ACROSS] grid
    cdef const float* x = f.x
    cdef float* y = f.y
    cdef uint8_t* bit_mask = f.bit_mask
    cdef bint streams = f.streams
    cdef Py_ssize_t apart = f.channels
    cdef Py_ssize_t at = start + channel
    cdef Py_ssize_t row, here
    cdef f32v place
    cdef f32v low = set_f32(f.low)
    cdef f32v high = set_f32(f.high)
    cdef int v
    for v in range(ACROSS):
        here = channel + v * SIMD_LANES
        load_grid(&grid[v], f.scales + here, f.inverses + here, f.zero_points + here)
    for row in range(rows):
        for v in range(ACROSS):
            here = at + v * SIMD_LANES
            place = place_on_grid(x + here, &grid[v], rule)
            if masked:
                put_bits(bit_mask, here, lanes_inside(place, low, high), True)
            put_f32(y + here, real_of(place, &grid[v], low, high), streams)
        at += apart


cdef inline void fake_quantize_rows(
    FakeQuantize* f, Py_ssize_t first, Py_ssize_t rows, Rule rule, bint masked
) noexcept nogil:
    """Rows of all channels."""
    cdef Py_ssize_t start = first * f.channels
    cdef Py_ssize_t channel = 0
    cdef Py_ssize_t row
    # Marks that begin within a byte are written one after the other.
    cdef Py_ssize_t whole = f.channels if not masked or f.channels % 8 == 0 else 0
    while channel + ACROSS * SIMD_LANES <= whole:
        fake_quantize_block(f, start, rows, channel, rule, masked)
        channel += ACROSS * SIMD_LANES
    if channel < f.channels:
        for row in range(rows):
            fake_quantize_across(
                f, start + row * f.channels + channel, f.channels - channel, channel
            )
