# Results to which bytes are added before their one rounding.

from libc.stdint cimport int32_t, uint8_t
from pyqref._kernels.product.description cimport PANEL_COLUMNS, Columns, Epilogue
from pyqref._kernels.simd.primitives cimport *


# The same for all results of a product, in every lane.
cdef struct Adding:
    f32v scale, inverse, offset, low, high
    i32v zero_point
    bint relu


cdef inline void fill_adding(Adding* a, const Epilogue* e) noexcept nogil:
    a.scale, a.inverse = set_f32(e.addend.scale), set_f32(e.addend.inverse)
    a.offset, a.low = set_f32(<float> e.zero_point), set_f32(<float> e.lower)
    a.high, a.zero_point = set_f32(<float> e.upper), set_i32(e.addend.zero_point)
    a.relu = e.addend.relu


cdef inline i32v add_and_quantize(f32v real, const uint8_t* bytes, const Adding* a) noexcept nogil:
    """``eq-requantize-function`` of a sum, and of a sum not below 0."""
    cdef f32v steps = to_f32(sub_i32(load_u8(bytes), a.zero_point))
    real = add_f32(real, mul_f32(steps, a.scale))
    if a.relu:
        real = max_f32(set_f32(0), real)  # which keeps nan
    real = fma_f32(real, a.inverse, a.offset)
    return to_i32(max_f32(min_f32(real, a.high), a.low))


cdef inline int finish_added(
    const Epilogue* e, const Columns* columns, int first, const int32_t* sums, int rows,
    uint8_t* out, Py_ssize_t out_stride, int count,
) noexcept nogil:
    """Finish vectors of columns as bytes to which they are added; as finish_reals otherwise."""
    cdef i32v offset
    cdef f32v multiplier, bias, value
    cdef Adding adding
    cdef uint8_t* target
    cdef int c = 0
    cdef int r
    fill_adding(&adding, e)
    while c + SIMD_LANES <= count:
        offset = load_i32(columns.offset + first + c)
        multiplier = load_f32(columns.multiplier + first + c)
        bias = load_f32(columns.bias + first + c)
        target = out + c
        for r in range(rows):
            value = to_f32(add_i32(load_i32(sums + r * PANEL_COLUMNS + c), offset))
            value = add_f32(mul_f32(value, multiplier), bias)
            store_low_bytes(target, add_and_quantize(value, target, &adding))
            target += out_stride
        c += SIMD_LANES
    return c
