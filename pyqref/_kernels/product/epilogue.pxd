# From accumulators to stored results.

from libc.math cimport fabsf
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset
from pyqref._kernels.product.added cimport Adding, add_and_quantize, fill_adding, finish_added
from pyqref._kernels.product.description cimport (
    ADDED, BYTES, FUSED, PANEL_COLUMNS, SEPARATE, SUMS, Columns, Epilogue, bytes_of_result,
    requantize, scaled,
)
from pyqref._kernels.simd.primitives cimport *


cdef inline void load_columns(
    const Epilogue* e, Columns* columns, Py_ssize_t first, int count
) noexcept nogil:
    """Gather what ``count`` columns from ``first`` need.

    With x and w not centred, sum (x - zx)(w - zw) = sum x w - zx sum w - zw sum x + K zx zw:
    all but the term with sum x is known before the product.
    """
    cdef int c
    cdef uint32_t x_zero_point = <uint32_t> e.x_zero_point
    cdef uint32_t each = <uint32_t> e.depth * x_zero_point
    cdef uint32_t* offset = <uint32_t*> columns.offset
    cdef const uint32_t* weight_sums = <const uint32_t*> e.weight_sums + first
    # Named here, for the compiler to know that no store changes them.
    cdef float* multiplier = columns.multiplier
    cdef const float* bias = columns.bias
    cdef const float* multipliers = e.multiplier
    cdef const int32_t* integer_bias = e.integer_bias
    cdef float x_scale = e.x_scale
    cdef float bias_multiplier = e.bias_multiplier
    cdef int is_small = 1
    cdef float most
    columns.in_registers = False
    if count < PANEL_COLUMNS:
        memset(columns, 0, sizeof(Columns))
    for c in range(count):
        offset[c] = <uint32_t> 0 - x_zero_point * weight_sums[c]
    if e.weight_zero_points != NULL:
        for c in range(count):
            columns.weight_zero_point[c] = <int32_t> (
                e.weight_zero_points[(first + c) * e.weight_zero_point_step]
            )
            offset[c] += each * <uint32_t> columns.weight_zero_point[c]
    if e.integer_bias != NULL:
        for c in range(count):
            offset[c] += <uint32_t> integer_bias[first + c]
    if e.store == SUMS:
        return
    if e.multiplier_step:
        for c in range(count):
            multiplier[c] = x_scale * multipliers[first + c]
    else:
        for c in range(count):
            multiplier[c] = x_scale * multipliers[0]
    if e.bias != NULL:
        memcpy(columns.bias, e.bias + first, count * sizeof(float))
    else:
        for c in range(count):
            columns.bias[c] = -0.0  # what can be added to either zero without changing it
    if e.weight_zero_points != NULL:
        return
    columns.in_registers = e.store == FUSED or e.store == SEPARATE
    if e.store == BYTES and e.lower >= 0:
        for c in range(count):
            # Of sums, which fit 32 bits, multiplied: below 2^31, and no nan.
            most = fabsf(bias[c] * bias_multiplier) + <float> 2.147483648e9
            is_small &= fabsf(multiplier[c]) * most < <float> 2e9
        columns.in_registers = is_small


cdef inline void finish_row(
    const Epilogue* e, const Columns* columns, int first, const int32_t* sums, int32_t row_sum,
    uint8_t* out, int count,
) noexcept nogil:
    """Finish ``count`` columns from ``first`` of one row; ``row_sum`` is the sum of its x."""
    cdef f32v bias_multiplier = set_f32(e.bias_multiplier)
    cdef f32v low = set_f32(<float> (e.lower - e.zero_point))
    cdef f32v high = set_f32(<float> (e.upper - e.zero_point))
    cdef i32v zero_point = set_i32(e.zero_point)
    cdef i32v row = set_i32(row_sum)
    cdef bint has_zero_points = e.weight_zero_points != NULL
    cdef i32v total
    cdef f32v real, multiplier, bias
    cdef uint8_t[4 * LANES_MAX] stored
    cdef uint8_t* target
    cdef int c = 0
    cdef int left
    cdef Adding adding
    fill_adding(&adding, e)
    memset(stored, 0, LANES_MAX)
    while c < count:
        total = add_i32(load_i32(sums + c), load_i32(columns.offset + first + c))
        multiplier = load_f32(columns.multiplier + first + c)
        bias = load_f32(columns.bias + first + c)
        if has_zero_points:
            total = sub_i32(total, mul_i32(load_i32(columns.weight_zero_point + first + c), row))
        left = count - c
        if e.store == SUMS:
            if left >= SIMD_LANES:
                store_i32((<int32_t*> out) + c, total)
            else:
                store_i32(<int32_t*> stored, total)
                memcpy(out + 4 * c, stored, 4 * left)
        elif bytes_of_result(e) != 1:
            if e.store == FUSED:
                real = fma_f32(to_f32(total), multiplier, bias)
            else:
                real = add_f32(mul_f32(to_f32(total), multiplier), bias)
            if left >= SIMD_LANES:
                store_f32((<float*> out) + c, real)
            else:
                store_f32(<float*> stored, real)
                memcpy(out + 4 * c, stored, 4 * left)
        else:
            target = out + c
            if left < SIMD_LANES:
                memcpy(stored, target, left)
                target = stored
            if e.store == ADDED:
                real = add_f32(mul_f32(to_f32(total), multiplier), bias)
                total = add_and_quantize(real, target, &adding)
            else:
                total = requantize(
                    to_f32(total), multiplier, bias, bias_multiplier, low, high, zero_point
                )
            store_low_bytes(target, total)
            if left < SIMD_LANES:
                memcpy(out + c, stored, left)
        c += SIMD_LANES


cdef inline void copy_few(uint8_t* target, const uint8_t* source, int count) noexcept nogil:
    """Copy at most 32 bytes; the usual count is a multiple of 8, with copies of a constant size."""
    if count == 24:
        memcpy(target, source, 16)
        memcpy(target + 16, source + 16, 8)
    elif count == 16:
        memcpy(target, source, 16)
    elif count == 8:
        memcpy(target, source, 8)
    else:
        memcpy(target, source, count)


cdef inline void finish_bytes(
    const Epilogue* e, const Columns* columns, int first, const int32_t* sums, int rows,
    uint8_t* out, Py_ssize_t out_stride, int count,
) noexcept nogil:
    """Finish pairs of vectors of columns, two rows at a time, as unsigned bytes.

    No weight has a zero point. Columns that are not asked for are computed, but not stored.
    """
    cdef f32v bias_multiplier = set_f32(e.bias_multiplier)
    cdef f32v high = set_f32(<float> (e.upper - e.zero_point))
    cdef i32v left_offset, right_offset
    cdef f32v left_multiplier, left_bias, right_multiplier, right_bias
    cdef const int32_t* upper_sums
    cdef const int32_t* lower_sums
    cdef uint8_t[2 * LANES_MAX] upper, lower
    cdef uint8_t* upper_out
    cdef uint8_t* lower_out
    cdef bint is_whole
    cdef int c = 0
    cdef int r, other
    while c < count:
        is_whole = c + 2 * SIMD_LANES <= count
        left_offset = load_i32(columns.offset + first + c)
        left_multiplier = load_f32(columns.multiplier + first + c)
        left_bias = load_f32(columns.bias + first + c)
        right_offset = load_i32(columns.offset + first + c + SIMD_LANES)
        right_multiplier = load_f32(columns.multiplier + first + c + SIMD_LANES)
        right_bias = load_f32(columns.bias + first + c + SIMD_LANES)
        for r in range(0, rows, 2):
            other = min(r + 1, rows - 1)
            upper_sums = sums + r * PANEL_COLUMNS + c
            lower_sums = sums + other * PANEL_COLUMNS + c
            upper_out, lower_out = upper, lower
            if is_whole:
                upper_out, lower_out = out + r * out_stride + c, out + other * out_stride + c
            store_rounded_u8(
                upper_out,
                lower_out,
                scaled(
                    to_f32(add_i32(load_i32(upper_sums), left_offset)),
                    left_multiplier, left_bias, bias_multiplier, high,
                ),
                scaled(
                    to_f32(add_i32(load_i32(upper_sums + SIMD_LANES), right_offset)),
                    right_multiplier, right_bias, bias_multiplier, high,
                ),
                scaled(
                    to_f32(add_i32(load_i32(lower_sums), left_offset)),
                    left_multiplier, left_bias, bias_multiplier, high,
                ),
                scaled(
                    to_f32(add_i32(load_i32(lower_sums + SIMD_LANES), right_offset)),
                    right_multiplier, right_bias, bias_multiplier, high,
                ),
                e.zero_point, e.lower,
            )
            if not is_whole:
                copy_few(out + r * out_stride + c, upper, count - c)
                copy_few(out + other * out_stride + c, lower, count - c)
        c += 2 * SIMD_LANES


cdef inline int finish_reals(
    const Epilogue* e, const Columns* columns, int first, const int32_t* sums, int rows,
    uint8_t* out, Py_ssize_t out_stride, int count,
) noexcept nogil:
    """Finish vectors of columns as real numbers; the same otherwise."""
    cdef i32v offset
    cdef f32v multiplier, bias, value
    cdef bint is_fused = e.store == FUSED
    cdef int c = 0
    cdef int r
    while c + SIMD_LANES <= count:
        offset = load_i32(columns.offset + first + c)
        multiplier = load_f32(columns.multiplier + first + c)
        bias = load_f32(columns.bias + first + c)
        for r in range(rows):
            value = to_f32(add_i32(load_i32(sums + r * PANEL_COLUMNS + c), offset))
            if is_fused:
                value = fma_f32(value, multiplier, bias)
            else:
                value = add_f32(mul_f32(value, multiplier), bias)
            store_f32((<float*> (out + r * out_stride)) + c, value)
        c += SIMD_LANES
    return c


cdef inline void finish_tile(
    const Epilogue* e, const Columns* columns, int first, const int32_t* sums,
    const int32_t* row_sums, int rows, uint8_t* out, Py_ssize_t out_stride, int count,
) noexcept nogil:
    """Finish ``rows`` by ``count`` sums, of the columns from ``first`` of a panel.

    ``out_stride`` is in bytes; ``row_sums`` are read where weights have zero points.
    """
    cdef int done = 0
    cdef int itemsize = bytes_of_result(e)
    cdef int r
    if e.weight_zero_points == NULL:
        # What most layers are.
        if e.store == BYTES and e.lower >= 0:
            finish_bytes(e, columns, first, sums, rows, out, out_stride, count)
            return
        elif e.store == FUSED or e.store == SEPARATE:
            done = finish_reals(e, columns, first, sums, rows, out, out_stride, count)
        elif e.store == ADDED:
            done = finish_added(e, columns, first, sums, rows, out, out_stride, count)
    if done == count:
        return
    for r in range(rows):
        finish_row(
            e, columns, first + done, sums + r * PANEL_COLUMNS + done, row_sums[r],
            out + r * out_stride + done * itemsize, count - done,
        )
