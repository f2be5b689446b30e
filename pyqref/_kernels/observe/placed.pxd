# Whole counts of numbers on grids: nested ones (eq-nested-bin), and between edges (eq-edge-bin).

from libc.stdint cimport int32_t, int64_t
from pyqref._kernels.observe.counts cimport BLOCK, COUNTS_PER_TASK, TABLES
from pyqref._kernels.simd.primitives cimport *


# Numbers to be counted: rows of them on nested grids, or one row between edges.
cdef struct Placing:
    const float* x
    Py_ssize_t size                 # of a row
    Py_ssize_t bins
    const int64_t* exponents        # of each row; NULL between edges
    const double* edges             # bins + 1, ascending
    float first, per_bin            # a guess: bin (x - first) * per_bin
    int64_t* tables                 # of each thread, bins + 1 each: the last is for what is outside
    int tables_per_thread
    int64_t* rows                   # counts of each row, where a row is one task


cdef inline f32v nested_places(f32v value, f32v factor, f32v width, f32v half) noexcept nogil:
    """The bins, not rounded down below zero by the product but by a comparison.

    A product with a power of two is exact unless it gets too small for float32, where it is -0.0.
    """
    cdef f32v place = to_f32(truncate_i32(mul_f32(value, factor)))
    cdef f32v less = if_less(value, mul_f32(place, width), set_f32(1), set_f32(0))
    return add_f32(sub_f32(place, less), half)


cdef inline void place_block(
    const Placing* p, const float* x, Py_ssize_t n, float width, int32_t* found
) noexcept nogil:
    """The bins of at most BLOCK numbers; between edges, near them."""
    cdef float[LANES_MAX] few
    cdef f32v last = set_f32(<float> (p.bins - 1))
    cdef f32v factor = set_f32(1 / width if p.edges == NULL else p.per_bin)
    cdef f32v half = set_f32(<float> (p.bins // 2))
    cdef f32v value, place
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t j
    while i < n:
        if i + SIMD_LANES > n:
            for j in range(SIMD_LANES):
                few[j] = x[i + j] if i + j < n else x[i]
            value = load_f32(few)
        else:
            value = load_f32(x + i)
        if p.edges == NULL:
            place = nested_places(value, factor, set_f32(width), half)
        else:
            place = mul_f32(sub_f32(value, set_f32(p.first)), factor)
        store_i32(found + i, truncate_i32(max_f32(min_f32(place, last), set_f32(0))))
        i += SIMD_LANES
    if p.edges != NULL:
        move_to_edges(p.edges, p.bins, x, n, found)


cdef inline void move_to_edges(
    const double* edges, Py_ssize_t bins, const float* x, Py_ssize_t n, int32_t* found
) noexcept nogil:
    """Correct each guess; ``bins`` for what lies outside."""
    cdef double low = edges[0]
    cdef double high = edges[bins]
    cdef int32_t last = <int32_t> bins - 1
    cdef Py_ssize_t i
    for i in range(n):
        if (x[i] >= low) & (x[i] <= high):
            found[i] = bin_near(edges, last, x[i], found[i])
        else:
            found[i] = last + 1


cdef inline int32_t bin_near(
    const double* edges, int32_t last, double x, int32_t at
) noexcept nogil:
    """The bin of x, a step or two from a guess as a rule; else by halves."""
    cdef int32_t low = 0
    cdef int _i
    for _i in range(4):
        if at > 0 and x < edges[at]:
            at -= 1
        elif at < last and x >= edges[at + 1]:
            at += 1
        else:
            return at
    while low < last:
        at = low + (last - low + 1) // 2
        if edges[at] <= x:
            low = at
        else:
            last = at - 1
    return low


cdef inline void count_placed(
    const Placing* p, const float* x, Py_ssize_t n, float width, int64_t** tables
) noexcept nogil:
    """Count n numbers; neighbours in different tables."""
    cdef int32_t[BLOCK + LANES_MAX] found
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t i, some
    while start < n:
        some = min(<Py_ssize_t> BLOCK, n - start)
        place_block(p, x + start, some, width, found)
        for i in range(some):
            tables[i % TABLES][found[i]] += 1
        start += some


cdef inline float width_of(int64_t exponent) noexcept nogil:
    """2**exponent, exponent in [-126, 126]."""
    cdef float width = 1
    cdef float step = 2 if exponent > 0 else <float> 0.5
    cdef int64_t _i
    for _i in range(exponent if exponent > 0 else -exponent):
        width *= step
    return width


cdef inline void part_of_row_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Count a part of the only row, in tables of this thread."""
    cdef const Placing* p = <const Placing*> context
    cdef int64_t* own = p.tables + thread * p.tables_per_thread * (p.bins + 1)
    cdef (int64_t*)[TABLES] tables
    cdef Py_ssize_t start = index * COUNTS_PER_TASK
    cdef float width = 1 if p.exponents == NULL else width_of(p.exponents[0])
    cdef int i
    for i in range(TABLES):
        tables[i] = own + (i * (p.bins + 1) if p.tables_per_thread == TABLES else 0)
    count_placed(
        p, p.x + start, min(<Py_ssize_t> COUNTS_PER_TASK, p.size - start), width, tables
    )


cdef inline void row_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Count one of several rows on its nested grid."""
    cdef const Placing* p = <const Placing*> context
    cdef (int64_t*)[TABLES] tables
    cdef int i
    for i in range(TABLES):
        tables[i] = p.rows + index * p.bins
    count_placed(p, p.x + index * p.size, p.size, width_of(p.exponents[index]), tables)
