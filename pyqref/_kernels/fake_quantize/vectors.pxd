# Fake quantization of strips and rows, vector by vector.

from libc.stdint cimport uint8_t, uint32_t
from pyqref._kernels.fake_quantize.bit_mask cimport add_bits, put_bits
from pyqref._kernels.fake_quantize.parameters cimport (
    ACROSS, BEFORE, FUSED, FakeQuantize, LaneParameters, Rule,
)
from pyqref._kernels.simd.partial cimport load_n_f32, store_n_f32
from pyqref._kernels.simd.primitives cimport *


cdef inline f32v place_on_grid(f32v value, const LaneParameters* p, Rule rule) noexcept nogil:
    """A vector, rounded and shifted, not yet clamped (``v`` of ``eq-fake-quantize-mask``)."""
    if rule == FUSED:
        return round_f32(fma_f32(value, p.inverse, p.zero_point))
    if rule == BEFORE:
        return round_f32(add_f32(mul_f32(value, p.inverse), p.zero_point))
    return add_f32(round_f32(mul_f32(value, p.inverse)), p.zero_point)


cdef inline f32v real_of(
    f32v place, const LaneParameters* p, f32v low, f32v high
) noexcept nogil:
    """The rest of ``eq-fake-quantize-mask``: clamped, and back to real numbers."""
    # nan becomes low, as max gives its second operand there. To add 0 - zero_point is to subtract
    # it, and where it is 0, -0.0 becomes 0.0.
    place = add_f32(min_f32(max_f32(place, low), high), p.back)
    return mul_f32(place, p.scale)


cdef inline void set_parameters(
    LaneParameters* p, f32v scale, f32v inverse, f32v zero_point
) noexcept nogil:
    p.scale, p.inverse, p.zero_point = scale, inverse, zero_point
    p.back = sub_f32(set_f32(0), zero_point)


cdef inline void load_parameters(
    LaneParameters* p, const FakeQuantize* f, Py_ssize_t channel
) noexcept nogil:
    """Load the parameters of as many channels as a vector has lanes."""
    set_parameters(
        p, load_f32(f.scales + channel), load_f32(f.inverses + channel),
        load_f32(f.zero_points + channel),
    )


cdef inline void fake_quantize_some(
    FakeQuantize* f, Py_ssize_t start, Py_ssize_t n, Py_ssize_t channel, bint across
) noexcept nogil:
    """Fewer numbers than a vector has lanes, of one channel or of n from ``channel`` on."""
    cdef f32v low = set_f32(f.low)
    cdef f32v high = set_f32(f.high)
    cdef f32v place
    cdef LaneParameters p
    if across:
        set_parameters(
            &p, load_n_f32(f.scales + channel, n), load_n_f32(f.inverses + channel, n),
            load_n_f32(f.zero_points + channel, n),
        )
    else:
        set_parameters(
            &p, set_f32(f.scales[channel]), set_f32(f.inverses[channel]),
            set_f32(f.zero_points[channel]),
        )
    place = place_on_grid(load_n_f32(f.x + start, n), &p, f.rule)
    if f.bit_mask:
        add_bits(f.bit_mask, start, lanes_inside(place, low, high) & ((<uint32_t> 1 << n) - 1), n)
    store_n_f32(f.y + start, real_of(place, &p, low, high), n)


cdef inline void fake_quantize_strip(
    FakeQuantize* f, Py_ssize_t start, Py_ssize_t n, Py_ssize_t channel, Rule rule, bint masked
) noexcept nogil:
    """n numbers from ``start`` of one channel."""
    cdef const float* x = f.x
    cdef float* y = f.y
    cdef uint8_t* bit_mask = f.bit_mask
    cdef bint streams = f.streams
    cdef Py_ssize_t last = start + n
    # Where bits of the mask fill whole bytes, some vectors at a time.
    cdef Py_ssize_t whole = last if not masked or start % 8 == 0 else start
    cdef f32v place
    cdef f32v low = set_f32(f.low)
    cdef f32v high = set_f32(f.high)
    cdef LaneParameters p
    cdef int v
    set_parameters(
        &p, set_f32(f.scales[channel]), set_f32(f.inverses[channel]),
        set_f32(f.zero_points[channel]),
    )
    while start + ACROSS * SIMD_LANES <= whole:
        for v in range(ACROSS):
            place = place_on_grid(load_f32(x + start + v * SIMD_LANES), &p, rule)
            if masked:
                put_bits(bit_mask, start + v * SIMD_LANES, lanes_inside(place, low, high), True)
            put_f32(y + start + v * SIMD_LANES, real_of(place, &p, low, high), streams)
        start += ACROSS * SIMD_LANES
    while start + SIMD_LANES <= last:
        place = place_on_grid(load_f32(x + start), &p, rule)
        if masked:
            put_bits(bit_mask, start, lanes_inside(place, low, high), False)
        put_f32(y + start, real_of(place, &p, low, high), streams)
        start += SIMD_LANES
    if start < last:
        fake_quantize_some(f, start, last - start, channel, False)


cdef inline void fake_quantize_across(
    FakeQuantize* f, Py_ssize_t start, Py_ssize_t n, Py_ssize_t channel
) noexcept nogil:
    """A number of each of n channels from ``channel`` on."""
    cdef Py_ssize_t i = 0
    cdef f32v place
    cdef f32v low = set_f32(f.low)
    cdef f32v high = set_f32(f.high)
    cdef LaneParameters p
    while i + SIMD_LANES <= n:
        load_parameters(&p, f, channel + i)
        place = place_on_grid(load_f32(f.x + start + i), &p, f.rule)
        if f.bit_mask:
            put_bits(f.bit_mask, start + i, lanes_inside(place, low, high), False)
        put_f32(f.y + start + i, real_of(place, &p, low, high), f.streams)
        i += SIMD_LANES
    if i < n:
        fake_quantize_some(f, start + i, n - i, channel + i, True)


cdef inline void fake_quantize_block(
    FakeQuantize* f, Py_ssize_t start, Py_ssize_t rows, Py_ssize_t channel, Rule rule, bint masked
) noexcept nogil:
    """Some vectors of channels, down some rows of all channels."""
    cdef LaneParameters[ACROSS] p
    cdef const float* x = f.x
    cdef float* y = f.y
    cdef uint8_t* bit_mask = f.bit_mask
    cdef bint streams = f.streams
    cdef Py_ssize_t apart = f.channels
    cdef Py_ssize_t at = start + channel
    cdef Py_ssize_t _row, here
    cdef f32v place
    cdef f32v low = set_f32(f.low)
    cdef f32v high = set_f32(f.high)
    cdef int v
    for v in range(ACROSS):
        load_parameters(&p[v], f, channel + v * SIMD_LANES)
    for _row in range(rows):
        for v in range(ACROSS):
            here = at + v * SIMD_LANES
            place = place_on_grid(load_f32(x + here), &p[v], rule)
            if masked:
                put_bits(bit_mask, here, lanes_inside(place, low, high), True)
            put_f32(y + here, real_of(place, &p[v], low, high), streams)
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
