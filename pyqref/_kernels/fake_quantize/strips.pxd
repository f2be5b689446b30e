# Fake quantization of whole arrays: strips of one channel, shared out.

cimport numpy as cnp
from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.stdint cimport int32_t, uint8_t
from pyqref._kernels._outputs cimport OF_FLOAT32, output_beside
from pyqref._kernels._parallel cimport (
    count_tasks, elements_to_line, parallel_for, task_start, useful_threads,
)
from pyqref._kernels.axes cimport elements_per_channel, is_in_c_order, require_channels
from pyqref._kernels.cache cimport LINE, suits_streams
from pyqref._kernels.fake_quantize.bit_mask cimport BEYOND, strips_of_whole_bytes, whole_bytes
from pyqref._kernels.fake_quantize.parameters cimport (
    AFTER, BEFORE, CHUNK, FAR, FEW, FUSED, SHORT, WORK_PER_THREAD, FakeQuantize, Rule,
)
from pyqref._kernels.fake_quantize.vectors cimport fake_quantize_rows, fake_quantize_strip
from pyqref._kernels.simd.primitives cimport *


cdef inline void strip_by_rule(
    FakeQuantize* f, Py_ssize_t start, Py_ssize_t n, Py_ssize_t channel, bint masked
) noexcept nogil:
    # The rule is a constant of each loop.
    if f.rule == FUSED:
        fake_quantize_strip(f, start, n, channel, FUSED, masked)
    elif f.rule == BEFORE:
        fake_quantize_strip(f, start, n, channel, BEFORE, masked)
    else:
        fake_quantize_strip(f, start, n, channel, AFTER, masked)


cdef inline void fake_quantize_by_rule(
    FakeQuantize* f, Py_ssize_t start, Py_ssize_t n, Py_ssize_t channel
) noexcept nogil:
    if f.bit_mask:
        strip_by_rule(f, start, n, channel, True)
    else:
        strip_by_rule(f, start, n, channel, False)


cdef inline void rows_by_rule(
    FakeQuantize* f, Py_ssize_t first, Py_ssize_t rows, bint masked
) noexcept nogil:
    if f.rule == BEFORE:
        fake_quantize_rows(f, first, rows, BEFORE, masked)
    else:
        fake_quantize_rows(f, first, rows, AFTER, masked)


cdef inline void chunk_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef FakeQuantize* f = <FakeQuantize*> context
    cdef Py_ssize_t start = task_start(index, f.size, f.head, CHUNK)
    cdef Py_ssize_t end = task_start(index + 1, f.size, f.head, CHUNK)
    fake_quantize_by_rule(f, start, end - start, 0)
    if f.streams:
        finish_streams()


cdef inline void strips_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef FakeQuantize* f = <FakeQuantize*> context
    cdef Py_ssize_t strip = index * f.strips_per_task
    cdef Py_ssize_t last = min(strip + f.strips_per_task, f.strips)
    if f.inner == 1 and f.bit_mask:
        rows_by_rule(f, strip, last - strip, True)
    elif f.inner == 1:
        rows_by_rule(f, strip, last - strip, False)
    else:
        while strip < last:
            fake_quantize_by_rule(f, strip * f.inner, f.inner, strip % f.channels)
            strip += 1
    if f.streams:
        finish_streams()


cdef inline void run_all(FakeQuantize* f, int n_threads) noexcept nogil:
    cdef Py_ssize_t length = f.channels if f.inner == 1 else f.inner
    cdef Py_ssize_t strip = length * <Py_ssize_t> sizeof(float)
    cdef Py_ssize_t size = f.size * <Py_ssize_t> sizeof(float)
    if f.size == 0:
        return
    n_threads = useful_threads(<double> f.size, WORK_PER_THREAD, n_threads)
    if f.rule == FUSED or f.channels == 1:
        f.head = whole_bytes(elements_to_line(f.y, sizeof(float), f.size), f.size)
        f.streams = size >= FAR and suits_streams(f.y, LINE, LINE, size)
        parallel_for(chunk_task, f, count_tasks(f.size, f.head, CHUNK), n_threads)
        return
    f.strips = f.size // length
    f.strips_per_task = strips_of_whole_bytes(max(<Py_ssize_t> 1, CHUNK // length), length)
    f.streams = size >= FAR and suits_streams(f.y, strip, strip, size)
    parallel_for(strips_task, f, (f.strips + f.strips_per_task - 1) // f.strips_per_task, n_threads)


cdef inline bint is_covered(x) noexcept:
    """Return True if ``x`` is an array of float32 in C order."""
    return is_in_c_order(x) and cnp.PyArray_TYPE(<cnp.ndarray> x) == cnp.NPY_FLOAT32


cdef inline cnp.ndarray output_for(x, out):
    return output_beside(x, OF_FLOAT32, out, OF_FLOAT32, False) if is_covered(x) else None


cdef inline void run_at_once(FakeQuantize* f) noexcept nogil:
    f.streams = False
    if f.rule == FUSED or f.channels == 1:
        fake_quantize_by_rule(f, 0, f.size, 0)
    elif f.size:
        f.strips = f.size // (f.channels if f.inner == 1 else f.inner)
        f.strips_per_task = f.strips
        strips_task(f, 0, 0)


cdef inline void run(FakeQuantize* f, int n_threads) noexcept:
    if f.size <= SHORT:
        run_at_once(f)
    else:
        with nogil:
            run_all(f, n_threads)


cdef inline cnp.ndarray output_for_bits(cnp.ndarray x):
    cdef cnp.npy_intp size = cnp.PyArray_SIZE(x) // 8 + BEYOND
    return cnp.PyArray_EMPTY(1, &size, cnp.NPY_UINT8, 0)


cdef inline void set_arrays(
    FakeQuantize* f, cnp.ndarray x, cnp.ndarray y, cnp.ndarray bit_mask, float quant_min,
    float quant_max, int rule
) noexcept:
    f.x, f.y = <const float*> cnp.PyArray_DATA(x), <float*> cnp.PyArray_DATA(y)
    f.bit_mask = NULL
    if bit_mask is not None:
        f.bit_mask = <uint8_t*> cnp.PyArray_DATA(bit_mask)
    f.low, f.high, f.rule = quant_min, quant_max, <Rule> rule
    f.size = cnp.PyArray_SIZE(x)


cdef inline void run_per_tensor(
    cnp.ndarray x, cnp.ndarray y, cnp.ndarray bit_mask, float scale, float zero_point,
    float quant_min, float quant_max, int rule, int n_threads,
) noexcept:
    cdef FakeQuantize f
    cdef float inverse = (<float> 1) / scale
    set_arrays(&f, x, y, bit_mask, quant_min, quant_max, rule)
    f.scales, f.inverses, f.zero_points = &scale, &inverse, &zero_point
    f.channels, f.inner = 1, 1
    run(&f, n_threads)


cdef inline cnp.ndarray numbers_of(x, int kind):
    """Parameters of channels as contiguous numbers of one type."""
    if isinstance(x, cnp.ndarray) and cnp.PyArray_TYPE(x) == kind and cnp.PyArray_ISCARRAY_RO(x):
        return x
    return cnp.PyArray_FROMANY(
        x, kind, 0, 0, cnp.NPY_ARRAY_CARRAY_RO | cnp.NPY_ARRAY_FORCECAST
    )


cdef inline int run_per_channel(
    cnp.ndarray x, cnp.ndarray y, cnp.ndarray bit_mask, scales, cnp.ndarray zero_points, int axis,
    float quant_min, float quant_max, int rule, int n_threads,
) except -1:
    cdef FakeQuantize f
    cdef float[2 * FEW] few
    cdef float* inverses = few
    cdef float* offsets
    cdef const int32_t* whole
    cdef Py_ssize_t channel
    cdef cnp.ndarray each_scale = numbers_of(scales, cnp.NPY_FLOAT32)
    cdef cnp.ndarray each_zero_point = numbers_of(
        zero_points, cnp.NPY_INT32 if cnp.PyArray_TYPE(zero_points) == cnp.NPY_INT32
        else cnp.NPY_FLOAT32,
    )
    require_channels(x, axis, each_scale, each_zero_point)
    whole = <const int32_t*> cnp.PyArray_DATA(each_zero_point)
    set_arrays(&f, x, y, bit_mask, quant_min, quant_max, rule)
    f.scales = <const float*> cnp.PyArray_DATA(each_scale)
    f.zero_points = <const float*> cnp.PyArray_DATA(each_zero_point)
    f.channels, f.inner = cnp.PyArray_SIZE(each_scale), elements_per_channel(x, axis)
    if f.channels > FEW:
        inverses = <float*> malloc(2 * f.channels * sizeof(float))
        if inverses == NULL:
            raise MemoryError()
    for channel in range(f.channels):
        inverses[channel] = (<float> 1) / f.scales[channel]
    f.inverses = inverses
    if cnp.PyArray_TYPE(each_zero_point) == cnp.NPY_INT32:
        offsets = inverses + f.channels
        for channel in range(f.channels):
            offsets[channel] = <float> whole[channel]
        f.zero_points = offsets
    run(&f, n_threads)
    if inverses != few:
        free(inverses)
    return 0
