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
    int32_t* sums                   # `longest` for each thread, and as many divisors
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


cdef inline void add_channels(
    int32_t* sums, const uint8_t* x, Py_ssize_t n, bint is_signed
) noexcept nogil:
    cdef Py_ssize_t c = 0
    while c + SIMD_LANES <= n:
        store_i32(sums + c, add_i32(load_i32(sums + c), load_bytes_of(x + c, is_signed)))
        c += SIMD_LANES
    while c < n:
        sums[c] += <int32_t> (<const int8_t*> x)[c] if is_signed else <int32_t> x[c]
        c += 1


cdef void finish(
    const Pool* p, const int32_t* sums, const float* divisors, Py_ssize_t step, Py_ssize_t n,
    uint8_t* out,
) noexcept nogil:
    """``eq-quantized-mean`` of n sums with one divisor (step 0), or one for each (step 1).

    The arrays may be read up to whole vectors.
    """
    cdef f32v low = set_f32(<float> p.lower)
    cdef f32v high = set_f32(<float> p.upper)
    cdef f32v offset = set_f32(<float> p.zero_point)
    cdef f32v scale = set_f32(p.scale)
    cdef f32v divisor = set_f32(divisors[0])
    cdef f32v value
    cdef uint8_t[LANES_MAX] stored
    cdef Py_ssize_t i = 0
    while i < n:
        if step:
            divisor = load_f32(divisors + i)
        value = to_f32(load_i32(sums + i))
        if p.by_reciprocal:
            value = mul_f32(value, div_f32(scale, mul_f32(scale, divisor)))
            value = add_f32(round_f32(value), offset)
        else:
            value = add_f32(div_f32(value, divisor), offset)
        # The bounds are whole: clamping before rounding gives the same, and cannot overflow.
        store_low_bytes(stored, to_i32(max_f32(min_f32(value, high), low)))
        memcpy(out + i, stored, min(n - i, <Py_ssize_t> SIMD_LANES))
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
    cdef int32_t* sums = p.sums + thread * p.longest
    cdef float* divisors = p.divisors + thread * p.longest
    cdef uint8_t* out = p.out + index * p.out_width * p.inner
    cdef const Window* row = p.rows + index % p.out_height
    cdef const Window* column
    cdef const uint8_t* line
    cdef Py_ssize_t x, c
    cdef int64_t y, at
    cdef int32_t total
    for x in range(p.out_width):
        column = p.columns + x
        # The padding adds nothing to the sum of what is left of the zero point.
        total = <int32_t> (-p.zero_point * inside(row, column))
        if p.inner == 1:
            for y in range(row.first, row.last):
                line = line_of(p, index, y)
                if column.first < column.last:
                    total += sum_of(
                        line + column.first, column.last - column.first, p.is_signed
                    )
            sums[x] = total
            divisors[x] = <float> divisor_of(p, row, column)
            continue
        for c in range(p.inner):
            sums[c] = total
        for y in range(row.first, row.last):
            line = line_of(p, index, y)
            for at in range(column.first, column.last):
                if p.is_signed:
                    add_channels(sums, line + at * p.inner, p.inner, True)
                else:
                    add_channels(sums, line + at * p.inner, p.inner, False)
        divisors[0] = <float> divisor_of(p, row, column)
        finish(p, sums, divisors, 0, p.inner, out + x * p.inner)
    if p.inner == 1:
        finish(p, sums, divisors, 1, p.out_width, out)


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
        p.longest = (max(p.inner, p.out_width) + LANES_MAX + 15) // 16 * 16
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
