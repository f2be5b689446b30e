# Smallest and largest of some numbers: for observe, and for qgemm, which quantizes its input.

from libc.math cimport NAN
from pyqref._kernels.cache cimport first_step
from pyqref._kernels.simd.primitives cimport *


cdef inline void range_of(const float* x, Py_ssize_t n, float* low, float* high) noexcept nogil:
    """Widen [low, high] to n numbers; nan, once met, stays."""
    cdef f32v[4] lows
    cdef f32v[4] highs
    cdef i32v nans = set_i32(0)
    cdef f32v value
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t step = first_step(x, n, SIMD_LANES, 4 * SIMD_LANES)
    cdef int j
    if low[0] != low[0]:
        return
    for j in range(4):
        lows[j], highs[j] = set_f32(low[0]), set_f32(high[0])
    while i + 4 * SIMD_LANES <= n:
        for j in range(4):
            value = load_f32(x + i + j * SIMD_LANES)
            lows[j], highs[j] = min_f32(value, lows[j]), max_f32(value, highs[j])
            nans = or_i32(nans, is_nan(value))
        i, step = i + step, 4 * SIMD_LANES
    while i + SIMD_LANES <= n:
        value = load_f32(x + i)
        lows[0], highs[0] = min_f32(value, lows[0]), max_f32(value, highs[0])
        nans = or_i32(nans, is_nan(value))
        i += SIMD_LANES
    if i < n and n >= SIMD_LANES:
        value = load_f32(x + n - SIMD_LANES)  # which overlaps the one before
        lows[0], highs[0] = min_f32(value, lows[0]), max_f32(value, highs[0])
        nans = or_i32(nans, is_nan(value))
        i = n
    if any_i32(nans):
        low[0] = high[0] = NAN
        return
    low[0] = least_f32(min_f32(min_f32(lows[0], lows[1]), min_f32(lows[2], lows[3])))
    high[0] = greatest_f32(max_f32(max_f32(highs[0], highs[1]), max_f32(highs[2], highs[3])))
    while i < n:  # fewer than a vector in all
        low[0] = x[i] if x[i] < low[0] else low[0]
        high[0] = x[i] if x[i] > high[0] else high[0]
        if x[i] != x[i]:
            low[0] = high[0] = NAN
            return
        i += 1


cdef inline void join_ranges(
    const float* lows, const float* highs, Py_ssize_t n, float* low, float* high
) noexcept nogil:
    """Widen [low, high] to n ranges; nan, once met, stays."""
    cdef Py_ssize_t i
    for i in range(n):
        if not lows[i] >= low[0] and low[0] == low[0]:
            low[0] = lows[i]
        if not highs[i] <= high[0] and high[0] == high[0]:
            high[0] = highs[i]
