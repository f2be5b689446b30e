# Rows of bytes: exact sums, and what is normalized by them.

from libc.math cimport sqrtf
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from pyqref._kernels.simd.partial cimport load_n_bytes, load_n_f32, store_n_low_bytes
from pyqref._kernels.simd.primitives cimport *

cdef enum:
    WORK_PER_THREAD = 1 << 14   # elements that are worth a thread
    TASK = 1 << 13              # elements of a task of batch_norm
    BLOCK = 1 << 13             # elements whose squares add up within 32 bits, for any lanes


cdef struct Rows:
    const uint8_t* x
    uint8_t* out
    Py_ssize_t rows                 # known where a task has several
    Py_ssize_t n, period            # elements of a row; rows after which the parameters repeat
    Py_ssize_t inner                # elements side by side that share theirs
    bint is_signed
    float scale, eps, inverse_out   # where statistics are known, scale is the zero point
    const float* weight             # (period, n / inner), or NULL: one
    const float* bias               # (period, n / inner), or NULL: zero
    float lower, upper
    int32_t zero_point
    const int64_t* sums             # of what the rows are parts of, or NULL: of each row itself
    Py_ssize_t count                # elements that these are of; rows of a task of batch_norm


cdef inline void sums_of(
    const uint8_t* x, Py_ssize_t n, bint is_signed, int64_t* total, int64_t* squares,
) noexcept nogil:
    """Exact sums of n integers and of their squares."""
    cdef i32v sum_, square, value
    cdef int32_t[LANES_MAX] lanes
    cdef int32_t single
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t end
    cdef int j
    total[0] = squares[0] = 0
    while i + SIMD_LANES <= n:
        sum_, square = set_i32(0), set_i32(0)
        end = min(n, i + BLOCK)
        while i + SIMD_LANES <= end:
            value = load_bytes_of(x + i, is_signed)
            sum_ = add_i32(sum_, value)
            if is_signed:
                square = add_i32(square, mul_i32(value, value))
            else:
                square = multiply_add_i16(square, value, value)
            i += SIMD_LANES
        store_i32(lanes, sum_)
        for j in range(SIMD_LANES):
            total[0] += lanes[j]
        store_i32(lanes, square)
        for j in range(SIMD_LANES):
            squares[0] += lanes[j]
    while i < n:
        single = <int32_t> (<const int8_t*> x)[i] if is_signed else <int32_t> x[i]
        total[0] += single
        squares[0] += single * single
        i += 1


cdef inline void row_sums(
    const uint8_t* x, Py_ssize_t n, bint is_signed, int64_t* total, int64_t* squares,
) noexcept nogil:
    if is_signed:
        sums_of(x, n, True, total, squares)
    else:
        sums_of(x, n, False, total, squares)


cdef inline f32v normalized(
    const Rows* r, i32v x, f32v weight, f32v bias, bint is_affine, f32v mean, f32v inverse,
    const bint is_known,
) noexcept nogil:
    """``eq-quantized-standardize`` of some elements before it rounds, not above the range.

    Where statistics are known there are factors, and the deviations and ``inverse_out`` are one.
    """
    cdef f32v y = sub_f32(to_f32(x), mean)
    if is_known:
        return min_f32(fma_f32(y, weight, bias), set_f32(r.upper))
    y = mul_f32(y, inverse)
    if is_affine:
        y = fma_f32(y, weight, bias)
    # The bounds are whole, and lower by the zero point, which is added to integers: so they may be
    # taken before rounding. nan is the upper one.
    return min_f32(mul_f32(y, set_f32(r.inverse_out)), set_f32(r.upper))


cdef inline f32v normalized_at(
    const Rows* r, const uint8_t* x, const float* weight, const float* bias, Py_ssize_t i,
    const Py_ssize_t step, f32v mean, f32v inverse, const bint is_signed, const bint is_known,
) noexcept nogil:
    """A vector from element ``i`` on.

    Factors lie side by side, or where ``step`` is 0 a vector of them serves all elements.
    """
    return normalized(
        r, load_bytes_of(x + i, is_signed),
        set_f32(1) if weight == NULL else load_f32(weight + i * step),
        set_f32(0) if bias == NULL else load_f32(bias + i * step),
        weight != NULL or bias != NULL, mean, inverse, is_known,
    )


cdef inline f32v rest_of_factors(
    const float* factors, Py_ssize_t i, const Py_ssize_t step, Py_ssize_t n, float otherwise
) noexcept nogil:
    if factors == NULL:
        return set_f32(otherwise)
    return load_n_f32(factors + i, n) if step else load_f32(factors)


cdef inline i32v rounded(const Rows* r, f32v y) noexcept nogil:
    return add_i32(to_i32(max_f32(y, set_f32(r.lower))), set_i32(r.zero_point))


cdef inline void finish_bytes(
    const Rows* given, const uint8_t* x, uint8_t* out, Py_ssize_t n, const float* weight,
    const float* bias, const Py_ssize_t step, f32v means, f32v inverse, const bint is_signed,
    const bint is_known,
) noexcept nogil:
    # A copy, which no byte that is written could belong to.
    cdef Rows own = given[0]
    cdef const Rows* r = &own
    cdef int lowest = <int> r.lower + r.zero_point
    cdef Py_ssize_t i = 0
    cdef f32v[4] y
    cdef f32v rest
    cdef int v
    while not is_signed and i + 4 * SIMD_LANES <= n:
        for v in range(4):
            y[v] = normalized_at(
                r, x, weight, bias, i + v * SIMD_LANES, step, means, inverse, is_signed, is_known
            )
        store_rounded_u8(
            out + i, out + i + 2 * SIMD_LANES, y[0], y[1], y[2], y[3], r.zero_point, lowest
        )
        i += 4 * SIMD_LANES
    while i + SIMD_LANES <= n:
        rest = normalized_at(
            r, x, weight, bias, i, step, means, inverse, is_signed, is_known
        )
        store_low_bytes(out + i, rounded(r, rest))
        i += SIMD_LANES
    if i < n:
        rest = normalized(
            r, load_n_bytes(x + i, is_signed, n - i),
            rest_of_factors(weight, i, step, n - i, 1), rest_of_factors(bias, i, step, n - i, 0),
            weight != NULL or bias != NULL, means, inverse, is_known,
        )
        store_n_low_bytes(out + i, rounded(r, rest), n - i)


cdef inline void finish_strip(
    const Rows* r, const uint8_t* x, uint8_t* out, Py_ssize_t n, const float* weight,
    const float* bias, const Py_ssize_t step, f32v means, f32v inverse, const bint is_known,
) noexcept nogil:
    """Elements side by side of one row."""
    if r.is_signed:
        finish_bytes(r, x, out, n, weight, bias, step, means, inverse, True, is_known)
    else:
        finish_bytes(r, x, out, n, weight, bias, step, means, inverse, False, is_known)


cdef inline void finish_channels(
    const Rows* r, const uint8_t* x, uint8_t* out, const float* weight, const float* bias,
    f32v means, f32v inverse, const bint is_known,
) noexcept nogil:
    """A row whose elements share their factors in strips."""
    cdef float[LANES_MAX] one_weight
    cdef float[LANES_MAX] one_bias
    cdef Py_ssize_t c
    for c in range(r.n // r.inner):
        if weight != NULL:
            store_f32(one_weight, set_f32(weight[c]))
        if bias != NULL:
            store_f32(one_bias, set_f32(bias[c]))
        finish_strip(
            r, x + c * r.inner, out + c * r.inner, r.inner,
            one_weight if weight != NULL else NULL, one_bias if bias != NULL else NULL, 0, means,
            inverse, is_known,
        )


cdef inline void row_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """One row (eq-quantized-layer-norm)."""
    cdef const Rows* r = <const Rows*> context
    cdef const uint8_t* x = r.x + index * r.n
    cdef uint8_t* out = r.out + index * r.n
    cdef Py_ssize_t first = index % r.period * (r.n // r.inner)
    cdef const float* weight = r.weight
    cdef const float* bias = r.bias
    cdef int64_t total, squares
    cdef float count = <float> r.n
    cdef float[LANES_MAX] one
    cdef float mean, variance
    cdef f32v means, inverse
    if weight != NULL:
        weight += first
    if bias != NULL:
        bias += first
    if r.sums != NULL:
        total, squares, count = r.sums[0], r.sums[1], <float> r.count
    else:
        row_sums(x, r.n, r.is_signed, &total, &squares)
    mean = <float> total / count
    # The fused operation is a primitive of vectors.
    store_f32(one, fma_f32(set_f32(-mean), set_f32(mean), set_f32(<float> squares / count)))
    variance = one[0] if one[0] > 0 else 0
    means = set_f32(mean)
    inverse = set_f32(r.scale / sqrtf(variance * r.scale * r.scale + r.eps))
    if r.inner == 1 or (weight == NULL and bias == NULL):
        finish_strip(r, x, out, r.n, weight, bias, 1, means, inverse, False)
    else:
        finish_channels(r, x, out, weight, bias, means, inverse, False)


cdef inline void channels_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Normalize some rows; each has its channels side by side or is one channel."""
    cdef const Rows* r = <const Rows*> context
    cdef Py_ssize_t row = index * r.count
    cdef Py_ssize_t last = min(row + r.count, r.rows)
    cdef Py_ssize_t channels = r.n // r.inner
    cdef const float* weight
    cdef const float* bias
    cdef f32v zero_points = set_f32(r.scale), one = set_f32(1)
    while row < last:
        weight = r.weight + row % r.period * channels
        bias = r.bias + row % r.period * channels
        if r.inner == 1:
            finish_strip(
                r, r.x + row * r.n, r.out + row * r.n, r.n, weight, bias, 1, zero_points, one, True
            )
        else:
            finish_channels(
                r, r.x + row * r.n, r.out + row * r.n, weight, bias, zero_points, one, True
            )
        row += 1
