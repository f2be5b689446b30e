# Pooling of bytes: written once, included by one module an instruction set.

cimport numpy as cnp
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from pyqref._kernels._parallel cimport Task, parallel_for, useful_threads
from pyqref._kernels.simd.primitives cimport *

cdef extern from "pooling/bytes.h":
    ctypedef struct Taps "taps_t":
        const uint8_t* first
        Py_ssize_t rows, row_step, columns, column_step
    void largest_of(uint8_t* out, const Taps* taps, Py_ssize_t channels, uint8_t flip) nogil
    int32_t sum_u8(const uint8_t* x, Py_ssize_t n) nogil
    int32_t sum_s8(const int8_t* x, Py_ssize_t n) nogil

cdef enum:
    WORK_PER_THREAD = 1 << 20   # bytes under all windows that are worth a thread
    ACROSS = 4                  # vectors of channels that are averaged together


# Where a window lies along one axis, and its part of the divisor.
cdef struct Window:
    int64_t first, last, counted


# An image (outer, height, width, inner) of bytes and the windows that walk over it.
cdef struct Pool:
    const uint8_t* x
    uint8_t* out
    Py_ssize_t height, width, inner, outer
    const Window* rows
    const Window* columns
    Py_ssize_t out_height, out_width
    int64_t step_y, step_x          # between the taps of a window
    bint is_signed, by_reciprocal
    int32_t zero_point, lower, upper
    float scale
    int64_t divisor                 # 0: that of the window
    int32_t* sums                   # where there is one channel: `longest` a thread
    float* divisors
    Py_ssize_t longest


cdef inline const uint8_t* line_of(const Pool* p, Py_ssize_t index, int64_t y) noexcept nogil:
    return p.x + ((index // p.out_height * p.height + y) * p.width) * p.inner


# --- Largest ------------------------------------------------------------------------------

cdef inline Py_ssize_t count_taps(const Window* window, int64_t step) noexcept nogil:
    return (window.last - window.first + step - 1) // step if window.last > window.first else 0


cdef void max_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """One line of results."""
    cdef const Pool* p = <const Pool*> context
    cdef uint8_t* out = p.out + index * p.out_width * p.inner
    cdef const Window* row = p.rows + index % p.out_height
    cdef const uint8_t* line = line_of(p, index, row.first)
    cdef uint8_t flip = 0x80 if p.is_signed else 0
    cdef Taps taps
    cdef Py_ssize_t x
    taps.rows = count_taps(row, p.step_y)
    taps.row_step = p.step_y * p.width * p.inner
    taps.column_step = p.step_x * p.inner
    for x in range(p.out_width):
        taps.columns = count_taps(p.columns + x, p.step_x)
        taps.first = line + p.columns[x].first * p.inner
        largest_of(out + x * p.inner, &taps, p.inner, flip)


# --- Mean ---------------------------------------------------------------------------------

cdef inline int32_t sum_of(const uint8_t* x, Py_ssize_t n, bint is_signed) noexcept nogil:
    return sum_s8(<const int8_t*> x, n) if is_signed else sum_u8(x, n)


cdef inline i32v load_bytes_of(const uint8_t* source, bint is_signed) noexcept nogil:
    if is_signed:
        return load_s8(<const int8_t*> source)
    return load_u8(source)


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


cdef inline void mean_across(
    const Pool* p, const Taps* taps, int32_t start, Division* d, bint is_signed, uint8_t* out
) noexcept nogil:
    """All channels of one result; ``start`` is what the sums begin with."""
    cdef i32v[ACROSS] totals
    cdef f32v[ACROSS] means
    cdef uint8_t[LANES_MAX] rest
    cdef f32v high = set_f32(<float> p.upper)
    cdef const uint8_t* x
    cdef Py_ssize_t c = 0
    cdef Py_ssize_t left, y, at
    cdef int v
    while c + ACROSS * SIMD_LANES <= p.inner:
        for v in range(ACROSS):
            totals[v] = set_i32(start)
        for y in range(taps.rows):
            x = taps.first + y * taps.row_step + c
            for at in range(taps.columns):
                for v in range(ACROSS):
                    totals[v] = add_i32(totals[v], load_bytes_of(x + v * SIMD_LANES, is_signed))
                x += taps.column_step
        for v in range(ACROSS):
            means[v] = mean_of(p, totals[v], d)
        if is_signed:
            for v in range(ACROSS):
                store_mean(p, means[v], out + c + v * SIMD_LANES, SIMD_LANES)
        else:
            store_rounded_u8(
                out + c, out + c + 2 * SIMD_LANES, min_f32(means[0], high),
                min_f32(means[1], high), min_f32(means[2], high), min_f32(means[3], high),
                0, p.lower,
            )
        c += ACROSS * SIMD_LANES
    while c < p.inner:
        left = min(p.inner - c, <Py_ssize_t> SIMD_LANES)
        totals[0] = set_i32(start)
        for y in range(taps.rows):
            x = taps.first + y * taps.row_step + c
            for at in range(taps.columns):
                if left == SIMD_LANES:
                    totals[0] = add_i32(totals[0], load_bytes_of(x, is_signed))
                else:
                    memset(rest, 0, sizeof(rest))
                    memcpy(rest, x, left)
                    totals[0] = add_i32(totals[0], load_bytes_of(rest, is_signed))
                x += taps.column_step
        store_mean(p, mean_of(p, totals[0], d), out + c, left)
        c += SIMD_LANES


cdef void finish(
    const Pool* p, const int32_t* sums, const float* divisors, Py_ssize_t n, uint8_t* out
) noexcept nogil:
    """``eq-quantized-mean`` of n sums, each with its divisor, but all with that of the pool.

    The arrays may be read up to whole vectors.
    """
    cdef Division d = division_by(p, p.divisor)
    cdef f32v scale = set_f32(p.scale)
    cdef Py_ssize_t i = 0
    while i < n:
        if not p.divisor:
            d.divisor = load_f32(divisors + i)
            d.factor = div_f32(scale, mul_f32(scale, d.divisor))
        store_mean(p, mean_of(p, load_i32(sums + i), &d), out + i, n - i)
        i += SIMD_LANES


cdef inline int64_t divisor_of(
    const Pool* p, const Window* row, const Window* column
) noexcept nogil:
    return p.divisor if p.divisor else row.counted * column.counted


cdef inline int64_t inside(const Window* row, const Window* column) noexcept nogil:
    return max(row.last - row.first, 0) * max(column.last - column.first, 0)


cdef void mean_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """One line of results."""
    cdef const Pool* p = <const Pool*> context
    cdef uint8_t* out = p.out + index * p.out_width * p.inner
    cdef const Window* row = p.rows + index % p.out_height
    cdef const Window* column
    cdef int64_t divisor
    cdef int64_t last_divisor = 0
    cdef Division d
    cdef Taps taps
    cdef Py_ssize_t x
    cdef int32_t start
    if p.inner == 1:
        mean_along(p, index, thread)
        return
    taps.rows, taps.row_step = row.last - row.first, p.width * p.inner
    taps.column_step = p.inner
    for x in range(p.out_width):
        column = p.columns + x
        taps.first = line_of(p, index, row.first) + column.first * p.inner
        taps.columns = column.last - column.first
        # The padding adds nothing to the sum of what is left of the zero point.
        start = <int32_t> (-p.zero_point * inside(row, column))
        divisor = divisor_of(p, row, column)
        if x == 0 or divisor != last_divisor:
            d = division_by(p, divisor)
            last_divisor = divisor
        if p.is_signed:
            mean_across(p, &taps, start, &d, True, out + x * p.inner)
        else:
            mean_across(p, &taps, start, &d, False, out + x * p.inner)


cdef void mean_along(const Pool* p, Py_ssize_t index, int thread) noexcept nogil:
    """One line of results of one channel: places side by side are neighbours in memory."""
    cdef int32_t* sums = p.sums + thread * p.longest
    cdef float* divisors = p.divisors + thread * p.longest
    cdef const Window* row = p.rows + index % p.out_height
    cdef const Window* column
    cdef Py_ssize_t x
    cdef int64_t y
    for x in range(p.out_width):
        column = p.columns + x
        sums[x] = <int32_t> (-p.zero_point * inside(row, column))
        divisors[x] = <float> divisor_of(p, row, column)
        if column.first >= column.last:
            continue
        for y in range(row.first, row.last):
            sums[x] += sum_of(
                line_of(p, index, y) + column.first, column.last - column.first, p.is_signed
            )
    finish(p, sums, divisors, p.out_width, p.out + index * p.out_width)


# --- Calls --------------------------------------------------------------------------------

cdef void set_pool(
    Pool* p, cnp.ndarray x, bint is_signed, cnp.ndarray rows, cnp.ndarray columns,
    cnp.ndarray out,
):
    p.x, p.out = <const uint8_t*> cnp.PyArray_DATA(x), <uint8_t*> cnp.PyArray_DATA(out)
    p.is_signed = is_signed
    p.outer, p.height = cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 1)
    p.width, p.inner = cnp.PyArray_DIM(x, 2), cnp.PyArray_DIM(x, 3)
    p.out_height, p.out_width = cnp.PyArray_DIM(out, 1), cnp.PyArray_DIM(out, 2)
    p.rows = <const Window*> cnp.PyArray_DATA(rows)
    p.columns = <const Window*> cnp.PyArray_DATA(columns)


def max_pool(
    cnp.ndarray x, bint is_signed, cnp.ndarray rows, cnp.ndarray columns, tuple steps,
    cnp.ndarray out, double taps, int n_threads,
):
    """``eq-quantized-max-pool`` of ``x (outer, height, width, inner)``, contiguous.

    ``rows`` and ``columns`` are int64 ``(outputs, 3)``: where each window begins and ends
    inside the image; ``steps`` the distances of its taps.
    """
    cdef Pool p
    set_pool(&p, x, is_signed, rows, columns, out)
    p.step_y, p.step_x = steps
    with nogil:
        n_threads = useful_threads(
            <double> cnp.PyArray_SIZE(out) * taps, WORK_PER_THREAD, n_threads
        )
        parallel_for(max_task, &p, p.outer * p.out_height, n_threads)


def mean_pool(
    cnp.ndarray x, bint is_signed, cnp.ndarray rows, cnp.ndarray columns, int32_t zero_point,
    int64_t divisor, bint by_reciprocal, float scale, int32_t lower, int32_t upper,
    cnp.ndarray out, int n_threads,
):
    """``eq-quantized-mean`` of the windows of ``x``, which are given as in max_pool.

    The third number of a window is its part of the divisor, unless ``divisor`` is not 0.
    """
    cdef Pool p
    cdef int64_t covered_rows = 0
    cdef int64_t covered_columns = 0
    cdef Py_ssize_t i
    set_pool(&p, x, is_signed, rows, columns, out)
    p.zero_point, p.lower, p.upper = zero_point, lower, upper
    p.divisor, p.by_reciprocal, p.scale = divisor, by_reciprocal, scale
    for i in range(p.out_height):
        covered_rows += max(p.rows[i].last - p.rows[i].first, 0)
    for i in range(p.out_width):
        covered_columns += max(p.columns[i].last - p.columns[i].first, 0)
    with nogil:
        n_threads = useful_threads(
            <double> p.outer * p.inner * covered_rows * covered_columns, WORK_PER_THREAD,
            n_threads,
        )
        p.longest = (p.out_width + LANES_MAX + 15) // 16 * 16
        p.sums = <int32_t*> malloc(p.longest * n_threads * sizeof(int32_t))
        p.divisors = <float*> malloc(p.longest * n_threads * sizeof(float))
        if p.sums and p.divisors:
            memset(p.sums, 0, p.longest * n_threads * sizeof(int32_t))
            memset(p.divisors, 0, p.longest * n_threads * sizeof(float))
            parallel_for(mean_task, &p, p.outer * p.out_height, n_threads)
            p.longest = 0
        free(p.sums)
        free(p.divisors)
    if p.longest:
        raise MemoryError()
