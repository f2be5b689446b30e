# Real numbers to bytes, per tensor: for quantize, and for products, which quantize their input.

from libc.stdint cimport uint8_t
from pyqref._kernels.cache cimport first_step
from pyqref._kernels.simd.partial cimport load_n_f32, store_n_low_bytes
from pyqref._kernels.simd.primitives cimport *


cdef inline i32v saturate(f32v shifted, f32v low, f32v high) noexcept nogil:
    # The bounds are whole: clamping before rounding gives the same, and cannot overflow.
    # nan becomes high.
    return to_i32(max_f32(min_f32(shifted, high), low))


cdef inline void quantize_bytes(
    const float* x, uint8_t* q, Py_ssize_t n, float inverse, float offset, float quant_min,
    float quant_max,
) noexcept nogil:
    """``eq-affine-quantize`` into bytes; ``inverse`` is the reciprocal of the scale."""
    cdef f32v by = set_f32(inverse)
    cdef f32v zero = set_f32(offset)
    cdef f32v low = set_f32(quant_min)
    cdef f32v high = set_f32(quant_max)
    cdef f32v value
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t step = first_step(x, n, SIMD_LANES, 4 * SIMD_LANES)
    while i + 4 * SIMD_LANES <= n:
        store_rounded_bytes(
            q + i,
            min_f32(fma_f32(load_f32(x + i), by, zero), high),
            min_f32(fma_f32(load_f32(x + i + SIMD_LANES), by, zero), high),
            min_f32(fma_f32(load_f32(x + i + 2 * SIMD_LANES), by, zero), high),
            min_f32(fma_f32(load_f32(x + i + 3 * SIMD_LANES), by, zero), high),
            quant_min < 0,
            <int> quant_min,
            <int> quant_max,
        )
        i, step = i + step, 4 * SIMD_LANES
    step = first_step(x + i, n - i, SIMD_LANES, SIMD_LANES)
    while i + SIMD_LANES <= n:
        store_low_bytes(q + i, saturate(fma_f32(load_f32(x + i), by, zero), low, high))
        i, step = i + step, SIMD_LANES
    if i < n:
        value = fma_f32(load_n_f32(x + i, n - i), by, zero)
        store_n_low_bytes(q + i, saturate(value, low, high), n - i)
