# The mean of each window.

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy
from pyqref._kernels.pooling.pool cimport Line, Pool, Window, length_of
from pyqref._kernels.simd.primitives cimport *

# How a sum becomes a mean: divided, or multiplied by a factor.
cdef struct Division:
    f32v divisor, factor
    bint divides


cdef inline Division division_by(const Pool* p, int64_t divisor) noexcept nogil:
    cdef Division d
    cdef f32v scale = set_f32(p.scale)
    d.divisor = set_f32(<float> divisor)
    d.divides = False
    if p.by_reciprocal:
        d.factor = div_f32(scale, mul_f32(scale, d.divisor))
    else:
        # The reciprocal of a power of two is exact: the product then is the quotient.
        d.divides = divisor < 1 or (divisor & (divisor - 1)) != 0
        d.factor = div_f32(set_f32(1), d.divisor)
    return d


cdef inline f32v mean_of(const Pool* p, i32v total, Division* d) noexcept nogil:
    """``eq-quantized-mean``, neither rounded nor clamped but where torch rounds early."""
    cdef f32v offset = set_f32(<float> p.zero_point)
    cdef f32v value = to_f32(total)
    if p.by_reciprocal:
        return add_f32(round_f32(mul_f32(value, d.factor)), offset)
    if d.divides:
        return add_f32(div_f32(value, d.divisor), offset)
    return add_f32(mul_f32(value, d.factor), offset)


cdef inline void store_mean(
    const Pool* p, f32v value, uint8_t* out, Py_ssize_t left
) noexcept nogil:
    cdef uint8_t[LANES_MAX] stored
    # The bounds are whole: clamping before rounding gives the same, and cannot overflow.
    cdef i32v q = to_i32(
        max_f32(min_f32(value, set_f32(<float> p.upper)), set_f32(<float> p.lower))
    )
    if left >= SIMD_LANES:
        store_low_bytes(out, q)
    else:
        store_low_bytes(stored, q)
        memcpy(out, stored, left)


cdef inline int64_t divisor_of(
    const Pool* p, const Line* line, const Window* column
) noexcept nogil:
    return p.divisor if p.divisor else line.plane.counted * line.row.counted * column.counted


cdef inline int64_t inside(const Line* line, const Window* column) noexcept nogil:
    return length_of(line.plane) * length_of(line.row) * length_of(column)


cdef inline int32_t start_of(const Pool* p, const Line* line, const Window* column) noexcept nogil:
    """Return the first term of a sum: padding adds nothing to the part of the zero point."""
    return <int32_t> (-p.zero_point * inside(line, column))
