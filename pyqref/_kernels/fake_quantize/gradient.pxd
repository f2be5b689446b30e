# The gradient of fake quantization.

from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memcpy
from pyqref._kernels._parallel cimport (
    count_tasks, elements_to_line, parallel_for, task_start, useful_threads,
)
from pyqref._kernels.cache cimport LINE, suits_streams
from pyqref._kernels.fake_quantize.bit_mask cimport bits_at
from pyqref._kernels.fake_quantize.parameters cimport CHUNK, FAR, MASKED_PER_THREAD
from pyqref._kernels.simd.partial cimport store_n_f32
from pyqref._kernels.simd.primitives cimport *

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


cdef inline void straight_through_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef Masked m = (<Masked*> context)[0]
    cdef Py_ssize_t first = task_start(index, m.size, m.head, CHUNK)
    cdef Py_ssize_t last = task_start(index + 1, m.size, m.head, CHUNK)
    if m.bit_mask:
        straight_through_part(&m, first, last, True)
    else:
        straight_through_part(&m, first, last, False)
    if m.streams:
        finish_streams()


cdef inline void straight_through_all(Masked* m, int n_threads) noexcept nogil:
    cdef Py_ssize_t size = m.size * <Py_ssize_t> sizeof(float)
    n_threads = useful_threads(<double> m.size, MASKED_PER_THREAD, n_threads)
    m.head = elements_to_line(m.out, sizeof(float), m.size)
    m.streams = size >= FAR and suits_streams(m.out, LINE, LINE, size)
    parallel_for(straight_through_task, m, count_tasks(m.size, m.head, CHUNK), n_threads)
