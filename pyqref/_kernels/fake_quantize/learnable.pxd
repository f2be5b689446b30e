# Gradients of fake quantization whose grid learns (eq-learnable-position,
# eq-learnable-scale-gradient, eq-learnable-zero-point-gradient), in one pass.

from pyqref._kernels.lane_sums cimport LANES_OF_SUM, PART_OF_SUM, sum_of_lanes
from pyqref._kernels.simd.partial cimport load_n_f32, store_n_f32
from pyqref._kernels.simd.primitives cimport *

cdef enum:
    BLOCK = 1 << 9              # numbers whose terms are kept until they are added up

# Rows of numbers, each with a scale; the sums of each row's parts, one after the other.
cdef struct Learnable:
    const float* x
    const float* grad
    float* to_x
    const float* scales
    const float* zero_points
    float low, high, factor
    double* to_scale
    double* to_zero_point       # NULL where nobody asks for it
    Py_ssize_t size, parts

# What each lane of a row's vectors has.
cdef struct Grid:
    f32v scale, inverse, zero_point, low, high, below, above, low_end, high_end, minus_scale, factor


cdef inline void set_grid(Grid* g, const Learnable* m, Py_ssize_t row) noexcept nogil:
    cdef float scale = m.scales[row]
    cdef float zero_point = m.zero_points[row]
    g.scale, g.inverse = set_f32(scale), set_f32(1 / scale)
    g.zero_point, g.factor = set_f32(zero_point), set_f32(m.factor)
    g.low, g.high = set_f32(m.low), set_f32(m.high)
    # Positions are whole, or nan, which is not above.
    g.below, g.above = set_f32(m.low - <float> 0.5), set_f32(m.high + <float> 0.5)
    g.low_end, g.high_end = set_f32(m.low - zero_point), set_f32(m.high - zero_point)
    g.minus_scale = set_f32(-scale)


cdef inline f32v position(const Grid* g, f32v x) noexcept nogil:
    return round_f32(fma_f32(x, g.inverse, g.zero_point))


cdef inline f32v if_inside(const Grid* g, f32v place, f32v inside, f32v outside) noexcept nogil:
    return if_less(g.below, place, if_less(place, g.above, inside, outside), outside)


cdef inline f32v scale_term(const Grid* g, f32v x, f32v grad, f32v place) noexcept nogil:
    cdef f32v steps = sub_f32(min_f32(max_f32(place, g.low), g.high), g.zero_point)
    cdef f32v error = fma_f32(steps, g.scale, sub_f32(set_f32(0), x))
    cdef f32v inside = mul_f32(mul_f32(grad, error), g.inverse)
    cdef f32v outside = mul_f32(grad, if_less(g.high, place, g.high_end, g.low_end))
    return mul_f32(if_inside(g, place, inside, outside), g.factor)


cdef inline f32v zero_point_term(const Grid* g, f32v grad, f32v place) noexcept nogil:
    return mul_f32(if_inside(g, place, set_f32(0), mul_f32(g.minus_scale, grad)), g.factor)


cdef inline void add_block(double* sums, const float* terms, Py_ssize_t n) noexcept nogil:
    """Add n numbers, a multiple of the lanes, to the sums of lanes."""
    cdef Py_ssize_t i = 0
    cdef int lane
    while i < n:
        for lane in range(LANES_OF_SUM):
            sums[lane] += <double> terms[i + lane]
        i += LANES_OF_SUM


cdef inline void gradients_of_block(
    const Learnable* m, const Grid* g, Py_ssize_t start, Py_ssize_t n, float* terms, float* ends
) noexcept nogil:
    """n numbers from ``start`` on: the gradients of x, and the terms of the sums."""
    cdef Py_ssize_t i = 0
    cdef f32v x, grad, place
    while i + SIMD_LANES <= n:
        x, grad = load_f32(m.x + start + i), load_f32(m.grad + start + i)
        place = position(g, x)
        store_f32(m.to_x + start + i, if_inside(g, place, grad, set_f32(0)))
        store_f32(terms + i, scale_term(g, x, grad, place))
        if m.to_zero_point:
            store_f32(ends + i, zero_point_term(g, grad, place))
        i += SIMD_LANES
    if i < n:
        x, grad = load_n_f32(m.x + start + i, n - i), load_n_f32(m.grad + start + i, n - i)
        place = position(g, x)
        store_n_f32(m.to_x + start + i, if_inside(g, place, grad, set_f32(0)), n - i)
        store_n_f32(terms + i, scale_term(g, x, grad, place), n - i)
        if m.to_zero_point:
            store_n_f32(ends + i, zero_point_term(g, grad, place), n - i)


cdef inline void learnable_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """One part of one row: terms in lanes, and the lanes by halves."""
    cdef const Learnable* m = <const Learnable*> context
    cdef Py_ssize_t row = index // m.parts
    cdef Py_ssize_t at = index % m.parts * PART_OF_SUM
    cdef Py_ssize_t last = min(at + PART_OF_SUM, m.size)
    cdef Py_ssize_t n, filled, i
    cdef float[BLOCK] terms
    cdef float[BLOCK] ends
    cdef double[LANES_OF_SUM] sums
    cdef double[LANES_OF_SUM] sums_of_ends
    cdef Grid g
    set_grid(&g, m, row)
    for i in range(LANES_OF_SUM):
        sums[i], sums_of_ends[i] = 0, 0
    while at < last:
        n = min(<Py_ssize_t> BLOCK, last - at)
        gradients_of_block(m, &g, row * m.size + at, n, terms, ends)
        filled = (n + LANES_OF_SUM - 1) // LANES_OF_SUM * LANES_OF_SUM
        for i in range(n, filled):
            terms[i], ends[i] = 0, 0
        add_block(sums, terms, filled)
        if m.to_zero_point:
            add_block(sums_of_ends, ends, filled)
        at += n
    m.to_scale[index] = sum_of_lanes(sums)
    if m.to_zero_point:
        m.to_zero_point[index] = sum_of_lanes(sums_of_ends)
