# From integers to real numbers.

cimport numpy as cnp
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from pyqref._kernels.cache cimport LINE, suits_streams
from pyqref._kernels.quantize.chunks cimport CHUNK, FAR_REALS, Affine, each_chunk
from pyqref._kernels.simd.partial cimport load_n_bytes, store_n_f32
from pyqref._kernels.simd.primitives cimport *


cdef inline f32v real_of(i32v q, i32v zero_point, f32v scale) noexcept nogil:
    """``eq-affine-dequantize``"""
    return mul_f32(to_f32(sub_i32(q, zero_point)), scale)


cdef inline void dequantize_bytes(
    const Affine* a, const uint8_t* q, float* x, Py_ssize_t n, bint is_signed
) noexcept nogil:
    cdef f32v scales = set_f32(a.scale)
    cdef i32v zero_points = set_i32(<int32_t> a.zero_point)
    cdef i32v rest
    cdef bint streams = a.streams
    cdef Py_ssize_t i = 0
    while i + SIMD_LANES <= n:
        put_f32(x + i, real_of(load_bytes_of(q + i, is_signed), zero_points, scales), streams)
        i += SIMD_LANES
    if i < n:
        rest = load_n_bytes(q + i, is_signed, n - i)
        store_n_f32(x + i, real_of(rest, zero_points, scales), n - i)


cdef inline void dequantize_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
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
        dequantize_bytes(a, a.q + start, x, n, True)
    else:
        dequantize_bytes(a, a.q + start, x, n, False)
    if a.streams:
        finish_streams()


cdef inline void run_dequantize(
    cnp.ndarray q, cnp.ndarray x, float scale, int64_t zero_point, int n_threads
) noexcept:
    cdef Affine a
    a.x = <float*> cnp.PyArray_DATA(x)
    a.q = <uint8_t*> cnp.PyArray_DATA(q)
    a.wide, a.is_signed = cnp.PyArray_ITEMSIZE(q) > 1, cnp.PyArray_TYPE(q) == cnp.NPY_INT8
    a.size, a.scale, a.zero_point = cnp.PyArray_SIZE(q), scale, zero_point
    a.streams = (
        a.size >= FAR_REALS // <Py_ssize_t> sizeof(float)
        and suits_streams(a.x, LINE, LINE, FAR_REALS)
    )
    each_chunk(&a, dequantize_task, n_threads)


ctypedef fused integer:
    uint8_t
    int8_t
    int32_t


cdef inline void dequantize_strip(
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


cdef inline void dequantize_channels_task(
    void* context, Py_ssize_t index, int thread
) noexcept nogil:
    cdef Affine* a = <Affine*> context
    cdef Py_ssize_t strip = index * a.strips_per_task
    cdef Py_ssize_t last = min(strip + a.strips_per_task, a.strips)
    cdef bint across = a.inner == 1
    cdef Py_ssize_t length = a.channels if across else a.inner
    cdef Py_ssize_t channel, at
    cdef float* x
    while strip < last:
        channel = 0 if across else strip % a.channels
        at = strip * length
        x = a.x + at
        if a.wide:
            dequantize_strip(
                (<const int32_t*> a.q) + at, x, length,
                a.zero_points + channel, a.scales + channel, across,
            )
        elif a.is_signed:
            dequantize_strip(
                (<const int8_t*> a.q) + at, x, length,
                a.zero_points + channel, a.scales + channel, across,
            )
        else:
            dequantize_strip(
                <const uint8_t*> a.q + at, x, length,
                a.zero_points + channel, a.scales + channel, across,
            )
        strip += 1
