# The gradient of fake quantization: included by body.pxi.

cdef struct Masked:
    const int32_t* grad
    const uint8_t* mask
    float* out
    bint streams
    Py_ssize_t size, head


cdef inline f32v pass_vector(const int32_t* grad, const uint8_t* mask) noexcept nogil:
    """All bits of a number times 1, or none, +0.0 whatever the number is."""
    cdef i32v bits = mul_i32(load_i32(grad), load_u8(mask))
    cdef f32v passed
    memcpy(&passed, &bits, sizeof(passed))
    return passed


cdef void straight_through_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef Masked m = (<Masked*> context)[0]
    cdef Py_ssize_t i = task_start(index, m.size, m.head, CHUNK)
    cdef Py_ssize_t last = task_start(index + 1, m.size, m.head, CHUNK)
    cdef Py_ssize_t left
    cdef int32_t[LANES_MAX] rest
    cdef uint8_t[LANES_MAX] mask_rest
    cdef float[LANES_MAX] out_rest
    while i + SIMD_LANES <= last:
        put_f32(m.out + i, pass_vector(m.grad + i, m.mask + i), m.streams)
        i += SIMD_LANES
    left = last - i
    if left > 0:
        memcpy(rest, m.grad + i, left * sizeof(float))
        memcpy(mask_rest, m.mask + i, left)
        store_f32(out_rest, pass_vector(rest, mask_rest))
        memcpy(m.out + i, out_rest, left * sizeof(float))
    if m.streams:
        finish_streams()


def straight_through(cnp.ndarray grad, cnp.ndarray mask, out, int n_threads):
    """``eq-straight-through`` of float32 into ``out``, or room of that dtype.

    ``mask`` holds 0 and 1. Returns the result, or None where one of both is of another type or
    shape, or not contiguous.
    """
    cdef Masked m
    cdef cnp.ndarray result
    if not is_covered(grad) or not cnp.PyArray_SAMESHAPE(grad, mask) or not (
        cnp.PyArray_TYPE(mask) == cnp.NPY_BOOL
        and cnp.PyArray_CHKFLAGS(mask, cnp.NPY_ARRAY_C_CONTIGUOUS)
    ):
        return None
    result = room_beside(grad, out, False)
    if result is None:
        return None
    m.grad = <const int32_t*> cnp.PyArray_DATA(grad)
    m.mask = <const uint8_t*> cnp.PyArray_DATA(mask)
    m.out = <float*> cnp.PyArray_DATA(result)
    m.size = cnp.PyArray_SIZE(grad)
    n_threads = useful_threads(<double> m.size, MASKED_PER_THREAD, n_threads)
    with nogil:
        m.head = elements_to_line(m.out, sizeof(float), m.size)
        m.streams = suits_streams(m.out, LINE, LINE, m.size * <Py_ssize_t> sizeof(float))
        parallel_for(straight_through_task, &m, count_tasks(m.size, m.head, CHUNK), n_threads)
    return result
