# Quantize and dequantize: written once, included by one module an instruction set.

cimport numpy as cnp
from libc.math cimport rintf
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset
from pyqref._kernels._parallel cimport Task, parallel_for, useful_threads
from pyqref._kernels.simd.primitives cimport *

cdef enum:
    CHUNK = 1 << 15             # elements a task
    WORK_PER_THREAD = 1 << 16   # elements that are worth a thread


# The arrays of a call; per channel they are seen as (outer, channels, inner).
cdef struct Affine:
    float* x                  # real numbers
    uint8_t* q                # integers of 1 or 4 bytes
    bint wide, is_signed
    Py_ssize_t size, channels, inner, runs, runs_per_task
    float scale, inverse, offset
    int64_t zero_point
    int32_t quant_min, quant_max
    const float* inverses     # (channels,), for quantizing
    const float* offsets
    const double* scales      # (channels,), for dequantizing
    const double* zero_points


# --- Quantize per tensor ------------------------------------------------------------------

cdef inline i32v saturate(f32v shifted, f32v low, f32v high) noexcept nogil:
    # The bounds are whole: clamping before rounding gives the same, and cannot overflow.
    # nan becomes high.
    return to_i32(max_f32(min_f32(shifted, high), low))


cdef inline int32_t saturate_wide(double shifted, int32_t low, int32_t high) noexcept nogil:
    # nan becomes low.
    if not shifted > low:
        return low
    return high if shifted >= high else <int32_t> rintf(<float> shifted)


cdef void quantize_bytes(const float* x, uint8_t* q, Py_ssize_t n, Affine* a) noexcept nogil:
    """``eq-affine-quantize`` into bytes."""
    cdef f32v inverse = set_f32(a.inverse)
    cdef f32v offset = set_f32(a.offset)
    cdef f32v low = set_f32(<float> a.quant_min)
    cdef f32v high = set_f32(<float> a.quant_max)
    cdef float[LANES_MAX] rest
    cdef uint8_t[LANES_MAX] stored
    cdef Py_ssize_t i = 0
    while i + SIMD_LANES <= n:
        store_low_bytes(q + i, saturate(fma_f32(load_f32(x + i), inverse, offset), low, high))
        i += SIMD_LANES
    if i < n:
        memset(rest, 0, sizeof(rest))
        memcpy(rest, x + i, (n - i) * sizeof(float))
        store_low_bytes(stored, saturate(fma_f32(load_f32(rest), inverse, offset), low, high))
        memcpy(q + i, stored, n - i)


cdef void quantize_wide(
    const float* x, int32_t* q, Py_ssize_t n, float inverse, float offset, Affine* a
) noexcept nogil:
    """Into 32 bits: the product and the sum are rounded separately."""
    cdef Py_ssize_t i
    for i in range(n):
        q[i] = saturate_wide(x[i] * inverse + offset, a.quant_min, a.quant_max)


cdef void quantize_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef Affine* a = <Affine*> context
    cdef Py_ssize_t start = index * CHUNK
    cdef Py_ssize_t n = min(<Py_ssize_t> CHUNK, a.size - start)
    if a.wide:
        quantize_wide(a.x + start, (<int32_t*> a.q) + start, n, a.inverse, a.offset, a)
    else:
        quantize_bytes(a.x + start, a.q + start, n, a)


def quantize_per_tensor(
    cnp.ndarray x, cnp.ndarray q, float scale, float zero_point,
    int32_t quant_min, int32_t quant_max, int n_threads,
):
    """Quantize float32 ``x`` into ``q`` of 1 or 4 bytes an element; both contiguous."""
    cdef Affine a
    a.x = <float*> cnp.PyArray_DATA(x)
    a.q = <uint8_t*> cnp.PyArray_DATA(q)
    a.wide = cnp.PyArray_ITEMSIZE(q) > 1
    a.size = cnp.PyArray_SIZE(x)
    a.inverse, a.offset = (<float> 1) / scale, zero_point
    a.quant_min, a.quant_max = quant_min, quant_max
    n_threads = useful_threads(<double> a.size, WORK_PER_THREAD, n_threads)
    with nogil:
        parallel_for(quantize_task, &a, (a.size + CHUNK - 1) // CHUNK, n_threads)


# --- Quantize per channel -----------------------------------------------------------------

cdef inline i32v saturate_nan_to_zero(f32v shifted, f32v low, f32v high) noexcept nogil:
    return mul_i32(saturate(shifted, low, high), sub_i32(set_i32(1), is_nan(shifted)))


cdef void quantize_run(
    const float* x, uint8_t* q, Py_ssize_t n, const float* inverses, const float* offsets,
    Py_ssize_t step, f32v low, f32v high,
) noexcept nogil:
    """``eq-affine-quantize-channel`` on n numbers of one channel (step 0) or of n (step 1)."""
    cdef f32v inverse = set_f32(inverses[0])
    cdef f32v offset = set_f32(offsets[0])
    cdef float[3][LANES_MAX] rest
    cdef uint8_t[LANES_MAX] stored
    cdef Py_ssize_t i = 0
    while i + SIMD_LANES <= n:
        if step:
            inverse, offset = load_f32(inverses + i), load_f32(offsets + i)
        store_low_bytes(
            q + i,
            saturate_nan_to_zero(add_f32(mul_f32(load_f32(x + i), inverse), offset), low, high),
        )
        i += SIMD_LANES
    if i < n:
        memset(rest, 0, sizeof(rest))
        memcpy(rest[0], x + i, (n - i) * sizeof(float))
        if step:
            memcpy(rest[1], inverses + i, (n - i) * sizeof(float))
            memcpy(rest[2], offsets + i, (n - i) * sizeof(float))
            inverse, offset = load_f32(rest[1]), load_f32(rest[2])
        store_low_bytes(
            stored,
            saturate_nan_to_zero(add_f32(mul_f32(load_f32(rest[0]), inverse), offset), low, high),
        )
        memcpy(q + i, stored, n - i)


cdef void quantize_channels_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef Affine* a = <Affine*> context
    cdef f32v low = set_f32(<float> a.quant_min)
    cdef f32v high = set_f32(<float> a.quant_max)
    cdef Py_ssize_t run = index * a.runs_per_task
    cdef Py_ssize_t last = min(run + a.runs_per_task, a.runs)
    cdef Py_ssize_t length = a.channels if a.inner == 1 else a.inner
    cdef Py_ssize_t channel, i
    while run < last:
        channel = 0 if a.inner == 1 else run % a.channels
        if not a.wide:
            quantize_run(
                a.x + run * length, a.q + run * length, length,
                a.inverses + channel, a.offsets + channel, a.inner == 1, low, high,
            )
        elif a.inner == 1:
            for i in range(length):
                quantize_wide(
                    a.x + run * length + i, (<int32_t*> a.q) + run * length + i, 1,
                    a.inverses[i], a.offsets[i], a,
                )
        else:
            quantize_wide(
                a.x + run * length, (<int32_t*> a.q) + run * length, length,
                a.inverses[channel], a.offsets[channel], a,
            )
        run += 1


cdef void each_run(Affine* a, Task task, int n_threads) noexcept nogil:
    # Runs of one channel, or where channels are innermost, of all of them once.
    cdef Py_ssize_t length = a.channels if a.inner == 1 else a.inner
    if a.size == 0:
        return
    a.runs = a.size // length
    a.runs_per_task = max(<Py_ssize_t> 1, CHUNK // length)
    n_threads = useful_threads(<double> a.size, WORK_PER_THREAD, n_threads)
    parallel_for(task, a, (a.runs + a.runs_per_task - 1) // a.runs_per_task, n_threads)


def quantize_per_channel(
    cnp.ndarray x, cnp.ndarray q, cnp.ndarray inverses, cnp.ndarray zero_points,
    Py_ssize_t inner, int32_t quant_min, int32_t quant_max, int n_threads,
):
    """The same for ``x`` seen as ``(outer, channels, inner)``; the parameters are float32."""
    cdef Affine a
    a.x = <float*> cnp.PyArray_DATA(x)
    a.q = <uint8_t*> cnp.PyArray_DATA(q)
    a.wide = cnp.PyArray_ITEMSIZE(q) > 1
    a.size, a.channels, a.inner = cnp.PyArray_SIZE(x), cnp.PyArray_SIZE(inverses), inner
    a.inverses = <const float*> cnp.PyArray_DATA(inverses)
    a.offsets = <const float*> cnp.PyArray_DATA(zero_points)
    a.quant_min, a.quant_max = quant_min, quant_max
    with nogil:
        each_run(&a, quantize_channels_task, n_threads)


# --- Dequantize ---------------------------------------------------------------------------

cdef inline f32v centred(const uint8_t* q, i32v zero_point, bint is_signed) noexcept nogil:
    if is_signed:
        return to_f32(sub_i32(load_s8(<const int8_t*> q), zero_point))
    return to_f32(sub_i32(load_u8(q), zero_point))


cdef inline void dequantize_bytes(
    const uint8_t* q, float* x, Py_ssize_t n, float scale, int32_t zero_point, bint is_signed
) noexcept nogil:
    """``eq-affine-dequantize`` from bytes."""
    cdef f32v scales = set_f32(scale)
    cdef i32v zero_points = set_i32(zero_point)
    cdef float[LANES_MAX] stored
    cdef uint8_t[LANES_MAX] rest
    cdef Py_ssize_t i = 0
    while i + SIMD_LANES <= n:
        store_f32(x + i, mul_f32(centred(q + i, zero_points, is_signed), scales))
        i += SIMD_LANES
    if i < n:
        memset(rest, 0, sizeof(rest))
        memcpy(rest, q + i, n - i)
        store_f32(stored, mul_f32(centred(rest, zero_points, is_signed), scales))
        memcpy(x + i, stored, (n - i) * sizeof(float))


cdef void dequantize_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef Affine* a = <Affine*> context
    cdef Py_ssize_t start = index * CHUNK
    cdef Py_ssize_t n = min(<Py_ssize_t> CHUNK, a.size - start)
    cdef const int32_t* q = (<int32_t*> a.q) + start
    cdef float* x = a.x + start
    cdef Py_ssize_t i
    if a.wide:
        for i in range(n):
            x[i] = (<float> (<int64_t> q[i] - a.zero_point)) * a.scale
    elif a.is_signed:
        dequantize_bytes(a.q + start, x, n, a.scale, <int32_t> a.zero_point, True)
    else:
        dequantize_bytes(a.q + start, x, n, a.scale, <int32_t> a.zero_point, False)


def dequantize_per_tensor(
    cnp.ndarray q, cnp.ndarray x, float scale, int64_t zero_point, bint is_signed, int n_threads
):
    """Dequantize ``q`` of 1 or 4 bytes an element into float32 ``x``; both contiguous."""
    cdef Affine a
    a.x = <float*> cnp.PyArray_DATA(x)
    a.q = <uint8_t*> cnp.PyArray_DATA(q)
    a.wide, a.is_signed = cnp.PyArray_ITEMSIZE(q) > 1, is_signed
    a.size, a.scale, a.zero_point = cnp.PyArray_SIZE(q), scale, zero_point
    n_threads = useful_threads(<double> a.size, WORK_PER_THREAD, n_threads)
    with nogil:
        parallel_for(dequantize_task, &a, (a.size + CHUNK - 1) // CHUNK, n_threads)


ctypedef fused integer:
    uint8_t
    int8_t
    int32_t


cdef inline void dequantize_run(
    const integer* q, float* x, Py_ssize_t n, const double* zero_points, const double* scales,
    bint across,
) noexcept nogil:
    """``eq-affine-dequantize-channel`` on n numbers of one channel, or of n."""
    cdef double zero_point = zero_points[0]
    cdef double scale = scales[0]
    cdef Py_ssize_t i
    if across:
        for i in range(n):
            x[i] = <float> ((<double> q[i] - zero_points[i]) * scales[i])
    else:
        for i in range(n):
            x[i] = <float> ((<double> q[i] - zero_point) * scale)


cdef void dequantize_channels_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef Affine* a = <Affine*> context
    cdef Py_ssize_t run = index * a.runs_per_task
    cdef Py_ssize_t last = min(run + a.runs_per_task, a.runs)
    cdef bint across = a.inner == 1
    cdef Py_ssize_t length = a.channels if across else a.inner
    cdef Py_ssize_t channel, at
    cdef float* x
    while run < last:
        channel = 0 if across else run % a.channels
        at = run * length
        x = a.x + at
        if a.wide:
            dequantize_run(
                (<const int32_t*> a.q) + at, x, length,
                a.zero_points + channel, a.scales + channel, across,
            )
        elif a.is_signed:
            dequantize_run(
                (<const int8_t*> a.q) + at, x, length,
                a.zero_points + channel, a.scales + channel, across,
            )
        else:
            dequantize_run(
                <const uint8_t*> a.q + at, x, length,
                a.zero_points + channel, a.scales + channel, across,
            )
        run += 1


def dequantize_per_channel(
    cnp.ndarray q, cnp.ndarray x, cnp.ndarray scales, cnp.ndarray zero_points,
    Py_ssize_t inner, bint is_signed, int n_threads,
):
    """The same for ``q`` seen as ``(outer, channels, inner)``; the parameters are float64."""
    cdef Affine a
    a.x = <float*> cnp.PyArray_DATA(x)
    a.q = <uint8_t*> cnp.PyArray_DATA(q)
    a.wide, a.is_signed = cnp.PyArray_ITEMSIZE(q) > 1, is_signed
    a.size, a.channels, a.inner = cnp.PyArray_SIZE(q), cnp.PyArray_SIZE(scales), inner
    a.scales = <const double*> cnp.PyArray_DATA(scales)
    a.zero_points = <const double*> cnp.PyArray_DATA(zero_points)
    with nogil:
        each_run(&a, dequantize_channels_task, n_threads)
