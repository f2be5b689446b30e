# From integers to real numbers: included by kernel.pyx.

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
        dequantize_bytes(a, a.q + start, x, n, True)
    else:
        dequantize_bytes(a, a.q + start, x, n, False)
    if a.streams:
        finish_streams()


cdef void run_dequantize(
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


def dequantize_per_tensor(q, out, float scale, int64_t zero_point, int n_threads):
    """Dequantize ``q`` of 1 or 4 bytes an element into ``out`` of float32, or a new array.

    Returns the result, or None if ``q`` is of another type or lies in no order that results lie in.
    """
    cdef cnp.ndarray x = output_beside(q, OF_INTEGERS, out, OF_FLOAT32, False)
    if x is not None:
        run_dequantize(q, x, scale, zero_point, n_threads)
    return x


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


cdef void dequantize_channels_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
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


def dequantize_per_channel(q, out, scales, zero_points, int axis, int n_threads):
    """The same with a scale and a zero point for each index of an axis, of ``q`` in C order."""
    cdef Affine a
    cdef cnp.ndarray each_scale, each_zero_point
    cdef cnp.ndarray x = None
    if is_in_c_order(q):
        x = output_beside(q, OF_INTEGERS, out, OF_FLOAT32, False)
    if x is None:
        return None
    each_scale, each_zero_point = doubles(scales), doubles(zero_points)
    require_channels(q, axis, each_scale, each_zero_point)
    a.x = <float*> cnp.PyArray_DATA(x)
    a.q = <uint8_t*> cnp.PyArray_DATA(q)
    a.wide, a.is_signed = cnp.PyArray_ITEMSIZE(q) > 1, cnp.PyArray_TYPE(q) == cnp.NPY_INT8
    a.size, a.channels = cnp.PyArray_SIZE(q), cnp.PyArray_SIZE(each_scale)
    a.inner = elements_per_channel(q, axis)
    a.scales = <const double*> cnp.PyArray_DATA(each_scale)
    a.zero_points = <const double*> cnp.PyArray_DATA(each_zero_point)
    each_strip(&a, dequantize_channels_task, n_threads)
    return x
