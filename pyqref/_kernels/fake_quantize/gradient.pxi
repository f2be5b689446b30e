# The gradient of fake quantization: included by kernel.pyx.

cdef struct Masked:
    const int32_t* grad
    const uint8_t* mask       # a byte for each number, or ...
    const uint8_t* bit_mask      # ... a bit
    float* out
    bint streams
    Py_ssize_t size, head


cdef inline f32v pass_vector(const int32_t* grad, const uint8_t* mask) noexcept nogil:
    """All bits of a number times 1, or none, +0.0 whatever the number is."""
    cdef i32v bits = mul_i32(load_i32(grad), load_u8(mask))
    cdef f32v passed
    memcpy(&passed, &bits, sizeof(passed))
    return passed


cdef inline void straight_through_part(
    const Masked* m, Py_ssize_t i, Py_ssize_t last, bint packed
) noexcept nogil:
    cdef Py_ssize_t left
    cdef int32_t[LANES_MAX] rest
    cdef uint8_t[LANES_MAX] mask_rest
    while i + SIMD_LANES <= last:
        if packed:
            put_f32(m.out + i, lanes_of(m.grad + i, bits_at(m.bit_mask, i)), m.streams)
        else:
            put_f32(m.out + i, pass_vector(m.grad + i, m.mask + i), m.streams)
        i += SIMD_LANES
    left = last - i
    if left > 0:
        memcpy(rest, m.grad + i, left * sizeof(float))
        if packed:
            store_n_f32(m.out + i, lanes_of(rest, bits_at(m.bit_mask, i)), left)
        else:
            memcpy(mask_rest, m.mask + i, left)
            store_n_f32(m.out + i, pass_vector(rest, mask_rest), left)


cdef void straight_through_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef Masked m = (<Masked*> context)[0]
    cdef Py_ssize_t first = task_start(index, m.size, m.head, CHUNK)
    cdef Py_ssize_t last = task_start(index + 1, m.size, m.head, CHUNK)
    if m.bit_mask:
        straight_through_part(&m, first, last, True)
    else:
        straight_through_part(&m, first, last, False)
    if m.streams:
        finish_streams()


cdef void straight_through_all(Masked* m, int n_threads) noexcept nogil:
    cdef Py_ssize_t size = m.size * <Py_ssize_t> sizeof(float)
    n_threads = useful_threads(<double> m.size, MASKED_PER_THREAD, n_threads)
    m.head = elements_to_line(m.out, sizeof(float), m.size)
    m.streams = size >= FAR and suits_streams(m.out, LINE, LINE, size)
    parallel_for(straight_through_task, m, count_tasks(m.size, m.head, CHUNK), n_threads)


def straight_through(grad, cnp.ndarray mask, out, int n_threads):
    """``eq-straight-through`` of float32 into ``out`` (maybe ``grad``), or a new array.

    ``mask`` holds 0 and 1, or is what fake quantization gave, a bit for each number. Returns the
    result, or None where one of both is of another type or shape, or not contiguous.
    """
    cdef Masked m
    cdef cnp.ndarray result
    cdef bint packed = cnp.PyArray_TYPE(mask) == cnp.NPY_UINT8
    if not is_covered(grad) or not cnp.PyArray_CHKFLAGS(mask, cnp.NPY_ARRAY_C_CONTIGUOUS):
        return None
    m.size = cnp.PyArray_SIZE(grad)
    if packed:
        if cnp.PyArray_SIZE(mask) != m.size // 8 + BEYOND:
            return None
    elif cnp.PyArray_TYPE(mask) != cnp.NPY_BOOL or not cnp.PyArray_SAMESHAPE(grad, mask):
        return None
    result = output_beside(grad, OF_FLOAT32, out, OF_FLOAT32, False)
    if result is None:
        return None
    m.grad = <const int32_t*> cnp.PyArray_DATA(grad)
    m.mask = <const uint8_t*> cnp.PyArray_DATA(mask)
    m.bit_mask = m.mask if packed else NULL
    m.out = <float*> cnp.PyArray_DATA(result)
    if m.size <= SHORT:
        straight_through_all(&m, 1)
    else:
        with nogil:
            straight_through_all(&m, n_threads)
    return result
