"""Fake quantization."""

cimport numpy as cnp
# tracemalloc sees what these give, so that tests see how much scratch is taken.
from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.string cimport memcpy
from pyqref._kernels._outputs cimport OF_FLOAT32, output_beside
from pyqref._kernels._parallel cimport (
    count_tasks, elements_to_line, parallel_for, task_start, useful_threads,
)
from pyqref._kernels.axes cimport elements_per_channel, is_in_c_order, require_channels
from pyqref._kernels.cache cimport LINE, suits_streams
from pyqref._kernels.fake_quantize.bit_mask cimport (
    BEYOND, add_bits, bits_at, put_bits, strips_of_whole_bytes, whole_bytes,
)
from pyqref._kernels.simd.partial cimport load_n_f32, store_n_f32
from pyqref._kernels.simd.primitives cimport *

cdef enum:
    ACROSS = 4                  # vectors at a time, of channels that go down the rows together
    CHUNK = 1 << 15             # elements a task
    # Elements that take less time than it takes to let other threads of Python run meanwhile.
    SHORT = 1 << 12
    # Bytes of results that caches would not hold, with their input, until they are read.
    FAR = 1 << 24
    FEW = 256                   # channels whose numbers fit on the stack
    LARGEST_BITS = 0x7f7fffff   # of FLT_MAX; positive numbers are in the order of their bits
    # Elements that are worth a thread: fake-quantized, and masked.
    WORK_PER_THREAD = 1 << 15
    MASKED_PER_THREAD = 1 << 17

# Where the zero point comes in.
cdef enum Rule:
    FUSED      # rint(fma(x, inverse, zero_point)): per tensor, as documented
    BEFORE     # rint(x * inverse + zero_point): per channel, as documented
    AFTER      # rint(x * inverse) + zero_point: as torch does

# The parameters of the lanes of a vector; ``back`` is 0 minus the zero points.
cdef struct LaneParameters:
    f32v scale, inverse, zero_point, back

cdef struct FakeQuantize:
    const float* x
    float* y
    uint8_t* bit_mask            # NULL where nobody asks for them
    const float* scales
    const float* inverses
    const float* zero_points
    float low, high
    Rule rule
    bint streams              # whether ``y`` goes past the caches
    Py_ssize_t size, head, channels, inner, strips, strips_per_task


# Gives fake_quantize_strip and fake_quantize_rows.
include "vectors.pxi"


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


cdef void chunk_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef FakeQuantize* f = <FakeQuantize*> context
    cdef Py_ssize_t start = task_start(index, f.size, f.head, CHUNK)
    cdef Py_ssize_t end = task_start(index + 1, f.size, f.head, CHUNK)
    fake_quantize_by_rule(f, start, end - start, 0)
    if f.streams:
        finish_streams()


cdef void strips_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
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


cdef void run_all(FakeQuantize* f, int n_threads) noexcept nogil:
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


cdef bint is_covered(x) noexcept:
    """Whether this is an array of float32 in C order."""
    return is_in_c_order(x) and cnp.PyArray_TYPE(<cnp.ndarray> x) == cnp.NPY_FLOAT32


cdef cnp.ndarray output_for(x, out):
    return output_beside(x, OF_FLOAT32, out, OF_FLOAT32, False) if is_covered(x) else None


cdef void run_at_once(FakeQuantize* f) noexcept nogil:
    f.streams = False
    if f.rule == FUSED or f.channels == 1:
        fake_quantize_by_rule(f, 0, f.size, 0)
    elif f.size:
        f.strips = f.size // (f.channels if f.inner == 1 else f.inner)
        f.strips_per_task = f.strips
        strips_task(f, 0, 0)


cdef void run(FakeQuantize* f, int n_threads) noexcept:
    if f.size <= SHORT:
        run_at_once(f)
    else:
        with nogil:
            run_all(f, n_threads)


cdef cnp.ndarray output_for_bits(cnp.ndarray x):
    cdef cnp.npy_intp size = cnp.PyArray_SIZE(x) // 8 + BEYOND
    return cnp.PyArray_EMPTY(1, &size, cnp.NPY_UINT8, 0)


cdef void set_arrays(
    FakeQuantize* f, cnp.ndarray x, cnp.ndarray y, cnp.ndarray bit_mask, float quant_min,
    float quant_max, int rule
) noexcept:
    f.x, f.y = <const float*> cnp.PyArray_DATA(x), <float*> cnp.PyArray_DATA(y)
    f.bit_mask = NULL
    if bit_mask is not None:
        f.bit_mask = <uint8_t*> cnp.PyArray_DATA(bit_mask)
    f.low, f.high, f.rule = quant_min, quant_max, <Rule> rule
    f.size = cnp.PyArray_SIZE(x)


cdef void run_per_tensor(
    cnp.ndarray x, cnp.ndarray y, cnp.ndarray bit_mask, float scale, float zero_point,
    float quant_min, float quant_max, int rule, int n_threads,
) noexcept:
    cdef FakeQuantize f
    cdef float inverse = (<float> 1) / scale
    set_arrays(&f, x, y, bit_mask, quant_min, quant_max, rule)
    f.scales, f.inverses, f.zero_points = &scale, &inverse, &zero_point
    f.channels, f.inner = 1, 1
    run(&f, n_threads)


def fake_quantize_per_tensor(
    x, out, bint masked, float scale, float zero_point, float quant_min, float quant_max, int rule,
    int n_threads,
):
    """Fake quantize float32 ``x`` into ``out``, or a new array of that dtype.

    Returns it and, where ``masked``, a bit for each number (bit_mask.pxd), else None; or only None
    where ``x`` is something else or not contiguous.
    Rules: 0 fused, 1 zero point before rounding, 2 after.
    """
    cdef cnp.ndarray y = output_for(x, out)
    if y is None:
        return None
    bit_mask = output_for_bits(x) if masked else None
    run_per_tensor(x, y, bit_mask, scale, zero_point, quant_min, quant_max, rule, n_threads)
    return y, bit_mask


def is_grid(
    cnp.ndarray scales, cnp.ndarray zero_points, Py_ssize_t channels, int32_t quant_min,
    int32_t quant_max,
):
    """Whether each channel has a float32 scale, positive and finite, and an int32 in the range."""
    cdef const uint32_t* scale = <const uint32_t*> cnp.PyArray_DATA(scales)
    cdef const uint32_t* zero_point = <const uint32_t*> cnp.PyArray_DATA(zero_points)
    cdef uint32_t low = <uint32_t> quant_min
    cdef uint32_t range_ = <uint32_t> quant_max - low
    cdef uint32_t others = 0
    cdef Py_ssize_t i
    if not (
        quant_min <= quant_max
        and cnp.PyArray_TYPE(scales) == cnp.NPY_FLOAT32
        and cnp.PyArray_TYPE(zero_points) == cnp.NPY_INT32
        and cnp.PyArray_NDIM(scales) == 1 and cnp.PyArray_NDIM(zero_points) == 1
        and cnp.PyArray_DIM(scales, 0) == channels and cnp.PyArray_DIM(zero_points, 0) == channels
        and cnp.PyArray_ISCARRAY_RO(scales) and cnp.PyArray_ISCARRAY_RO(zero_points)
    ):
        return False
    # Compared as integers without a sign, below which negative ones are large: a vector at a time.
    for i in range(channels):
        others |= scale[i] - 1 >= LARGEST_BITS
        others |= zero_point[i] - low > range_
    return not others


cdef cnp.ndarray numbers_of(x, int kind):
    """Parameters of channels as contiguous numbers of one type."""
    if isinstance(x, cnp.ndarray) and cnp.PyArray_TYPE(x) == kind and cnp.PyArray_ISCARRAY_RO(x):
        return x
    return cnp.PyArray_FROMANY(
        x, kind, 0, 0, cnp.NPY_ARRAY_CARRAY_RO | cnp.NPY_ARRAY_FORCECAST
    )


cdef int run_per_channel(
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


def fake_quantize_per_channel(
    x, out, bint masked, scales, zero_points, int axis, float quant_min, float quant_max, int rule,
    int n_threads,
):
    """The same with a scale and a zero point for each index of an axis.

    None also where zero points are no integers.
    """
    cdef cnp.ndarray y = None
    if not isinstance(zero_points, cnp.ndarray):
        zero_points = cnp.PyArray_FROM_O(zero_points)
    if cnp.PyArray_ISINTEGER(zero_points):
        y = output_for(x, out)
    if y is None:
        return None
    bit_mask = output_for_bits(x) if masked else None
    run_per_channel(
        x, y, bit_mask, scales, zero_points, axis, quant_min, quant_max, rule, n_threads
    )
    return y, bit_mask


# Gives straight_through to Python.
include "gradient.pxi"
