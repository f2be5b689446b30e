# Fake quantization: written once, included by one module an instruction set.

cimport numpy as cnp
# tracemalloc sees what these give, so that tests see how much scratch is taken.
from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.float cimport FLT_MAX
from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memcpy, memset
from pyqref._kernels._layout cimport room_beside
from pyqref._kernels._parallel cimport (
    count_tasks, elements_to_line, parallel_for, task_start, useful_threads,
)
from pyqref._kernels.axes cimport elements_per_channel, is_in_c_order
from pyqref._kernels.cache cimport LINE, suits_streams
from pyqref._kernels.simd.primitives cimport *

cdef enum:
    ACROSS = 4                  # vectors of channels that go down the rows together
    CHUNK = 1 << 15             # elements a task
    # Elements that are worth a thread: fake-quantized, and masked.
    WORK_PER_THREAD = 1 << 15
    MASKED_PER_THREAD = 1 << 17

# Where the zero point comes in.
cdef enum Rule:
    FUSED      # rint(fma(x, inverse, zero_point)): per tensor, as documented
    BEFORE     # rint(x * inverse + zero_point): per channel, as documented
    AFTER      # rint(x * inverse) + zero_point: as torch does

# What one vector needs, and where the scales, inverses and zero points of its lanes are.
cdef struct Grid:
    f32v scale, inverse, zero_point, low, high

cdef struct FakeQuantize:
    const float* x
    float* y
    uint8_t* mask             # NULL where nobody asks for it
    const float* scales
    const float* inverses
    const float* zero_points
    float low, high
    Rule rule
    bint streams              # whether ``y`` goes past the caches
    Py_ssize_t size, head, channels, inner, runs, runs_per_task


cdef inline void put_f32(float* target, f32v value, bint streams) noexcept nogil:
    if streams:
        stream_f32(target, value)
    else:
        store_f32(target, value)


cdef inline f32v fake_quantize_vector(
    const float* x, uint8_t* mask, const Grid* grid, Rule rule, bint masked
) noexcept nogil:
    """``eq-fake-quantize`` or ``eq-fake-quantize-channel``, then ``eq-fake-quantize-mask``."""
    cdef f32v value = load_f32(x)
    if rule == FUSED:
        value = round_f32(fma_f32(value, grid.inverse, grid.zero_point))
    elif rule == BEFORE:
        value = round_f32(add_f32(mul_f32(value, grid.inverse), grid.zero_point))
    else:
        value = add_f32(round_f32(mul_f32(value, grid.inverse)), grid.zero_point)
    if masked:
        store_low_bytes(mask, is_inside(value, grid.low, grid.high))
    # nan becomes low, as max gives its second operand there; -0.0 becomes 0.0.
    value = add_f32(min_f32(max_f32(value, grid.low), grid.high), set_f32(0))
    return mul_f32(sub_f32(value, grid.zero_point), grid.scale)


cdef inline void load_grid(
    Grid* grid, const float* scales, const float* inverses, const float* zero_points
) noexcept nogil:
    grid.scale, grid.inverse = load_f32(scales), load_f32(inverses)
    grid.zero_point = load_f32(zero_points)


cdef inline void fake_quantize_run(
    FakeQuantize* f, Py_ssize_t start, Py_ssize_t n, Py_ssize_t channel, bint across, Rule rule,
    bint masked,
) noexcept nogil:
    """n numbers from ``start`` of one channel, or of n from ``channel`` where ``across``."""
    cdef const float* x = f.x + start
    cdef float* y = f.y + start
    cdef uint8_t* mask = f.mask + start if masked else NULL
    cdef const float* scales = f.scales + channel
    cdef const float* inverses = f.inverses + channel
    cdef const float* zero_points = f.zero_points + channel
    cdef float[4][LANES_MAX] rest
    cdef float[LANES_MAX] y_rest
    cdef uint8_t[LANES_MAX] mask_rest
    cdef Py_ssize_t left, i = 0
    cdef Grid grid
    grid.low, grid.high = set_f32(f.low), set_f32(f.high)
    grid.scale, grid.inverse = set_f32(scales[0]), set_f32(inverses[0])
    grid.zero_point = set_f32(zero_points[0])
    while i + SIMD_LANES <= n:
        if across:
            load_grid(&grid, scales + i, inverses + i, zero_points + i)
        put_f32(y + i, fake_quantize_vector(x + i, mask + i, &grid, rule, masked), f.streams)
        i += SIMD_LANES
    left = n - i
    if left > 0:
        memset(rest, 0, sizeof(rest))
        memcpy(rest[0], x + i, left * sizeof(float))
        if across:
            memcpy(rest[1], scales + i, left * sizeof(float))
            memcpy(rest[2], inverses + i, left * sizeof(float))
            memcpy(rest[3], zero_points + i, left * sizeof(float))
            load_grid(&grid, rest[1], rest[2], rest[3])
        store_f32(y_rest, fake_quantize_vector(rest[0], mask_rest, &grid, rule, masked))
        memcpy(y + i, y_rest, left * sizeof(float))
        if masked:
            memcpy(mask + i, mask_rest, left)


cdef inline void fake_quantize_block(
    FakeQuantize* f, Py_ssize_t start, Py_ssize_t rows, Py_ssize_t channel, Rule rule, bint masked
) noexcept nogil:
    """Some vectors of channels, down some rows of all channels."""
    cdef Grid[ACROSS] grid
    cdef Py_ssize_t at = start + channel
    cdef Py_ssize_t row
    cdef int v
    for v in range(ACROSS):
        load_grid(
            &grid[v], f.scales + channel + v * SIMD_LANES, f.inverses + channel + v * SIMD_LANES,
            f.zero_points + channel + v * SIMD_LANES,
        )
        grid[v].low, grid[v].high = set_f32(f.low), set_f32(f.high)
    for row in range(rows):
        for v in range(ACROSS):
            put_f32(
                f.y + at + v * SIMD_LANES,
                fake_quantize_vector(
                    f.x + at + v * SIMD_LANES, f.mask + at + v * SIMD_LANES if masked else NULL,
                    &grid[v], rule, masked,
                ),
                f.streams,
            )
        at += f.channels


cdef inline void fake_quantize_rows(
    FakeQuantize* f, Py_ssize_t first, Py_ssize_t rows, Rule rule, bint masked
) noexcept nogil:
    """Rows of all channels."""
    cdef Py_ssize_t start = first * f.channels
    cdef Py_ssize_t channel = 0
    cdef Py_ssize_t row
    while channel + ACROSS * SIMD_LANES <= f.channels:
        fake_quantize_block(f, start, rows, channel, rule, masked)
        channel += ACROSS * SIMD_LANES
    if channel < f.channels:
        for row in range(rows):
            fake_quantize_run(
                f, start + row * f.channels + channel, f.channels - channel, channel, True, rule,
                masked,
            )


cdef inline void run_by_rule(
    FakeQuantize* f, Py_ssize_t start, Py_ssize_t n, Py_ssize_t channel, bint masked
) noexcept nogil:
    # The rule is a constant of each loop.
    if f.rule == FUSED:
        fake_quantize_run(f, start, n, channel, False, FUSED, masked)
    elif f.rule == BEFORE:
        fake_quantize_run(f, start, n, channel, False, BEFORE, masked)
    else:
        fake_quantize_run(f, start, n, channel, False, AFTER, masked)


cdef inline void fake_quantize_by_rule(
    FakeQuantize* f, Py_ssize_t start, Py_ssize_t n, Py_ssize_t channel
) noexcept nogil:
    if f.mask:
        run_by_rule(f, start, n, channel, True)
    else:
        run_by_rule(f, start, n, channel, False)


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
    fake_quantize_by_rule(f, start, task_start(index + 1, f.size, f.head, CHUNK) - start, 0)
    if f.streams:
        finish_streams()


cdef void runs_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef FakeQuantize* f = <FakeQuantize*> context
    cdef Py_ssize_t run = index * f.runs_per_task
    cdef Py_ssize_t last = min(run + f.runs_per_task, f.runs)
    if f.inner == 1 and f.mask:
        rows_by_rule(f, run, last - run, True)
    elif f.inner == 1:
        rows_by_rule(f, run, last - run, False)
    else:
        while run < last:
            fake_quantize_by_rule(f, run * f.inner, f.inner, run % f.channels)
            run += 1
    if f.streams:
        finish_streams()


cdef void run_all(FakeQuantize* f, int n_threads) noexcept nogil:
    cdef Py_ssize_t length = f.channels if f.inner == 1 else f.inner
    cdef Py_ssize_t run = length * <Py_ssize_t> sizeof(float)
    cdef Py_ssize_t size = f.size * <Py_ssize_t> sizeof(float)
    if f.size == 0:
        return
    n_threads = useful_threads(<double> f.size, WORK_PER_THREAD, n_threads)
    if f.rule == FUSED or f.channels == 1:
        f.head = elements_to_line(f.y, sizeof(float), f.size)
        f.streams = suits_streams(f.y, LINE, LINE, size)
        parallel_for(chunk_task, f, count_tasks(f.size, f.head, CHUNK), n_threads)
        return
    f.runs = f.size // length
    f.runs_per_task = max(<Py_ssize_t> 1, CHUNK // length)
    f.streams = suits_streams(f.y, run, run, size)
    parallel_for(runs_task, f, (f.runs + f.runs_per_task - 1) // f.runs_per_task, n_threads)


cdef bint is_covered(x) noexcept:
    """Whether this is an array of float32 in C order."""
    return is_in_c_order(x) and cnp.PyArray_TYPE(<cnp.ndarray> x) == cnp.NPY_FLOAT32


cdef tuple rooms_for(x, out, mask):
    """Both results, the mask None if that is not wanted; None where ``x`` is not covered."""
    cdef cnp.ndarray y = room_beside(x, out, False) if is_covered(x) else None
    if y is None:
        return None
    return y, None if mask is None else room_beside(x, mask, False)


cdef void set_arrays(
    FakeQuantize* f, cnp.ndarray x, cnp.ndarray y, mask, float quant_min, float quant_max, int rule
):
    f.x, f.y = <const float*> cnp.PyArray_DATA(x), <float*> cnp.PyArray_DATA(y)
    f.mask = NULL
    if mask is not None:
        f.mask = <uint8_t*> cnp.PyArray_DATA(mask)
    f.low, f.high, f.rule = quant_min, quant_max, <Rule> rule
    f.size = cnp.PyArray_SIZE(x)


def fake_quantize_per_tensor(
    x, out, mask, float scale, float zero_point, float quant_min, float quant_max, int rule,
    int n_threads,
):
    """Fake quantize float32 ``x`` into ``out`` and ``mask``, or room of these dtypes.

    Returns both, or None where ``x`` is something else or not contiguous. There may be no mask.
    Rules: 0 fused, 1 zero point before rounding, 2 after.
    """
    cdef FakeQuantize f
    cdef float inverse = (<float> 1) / scale
    cdef tuple results = rooms_for(x, out, mask)
    if results is None:
        return None
    set_arrays(&f, x, results[0], results[1], quant_min, quant_max, rule)
    f.scales, f.inverses, f.zero_points = &scale, &inverse, &zero_point
    f.channels, f.inner = 1, 1
    with nogil:
        run_all(&f, n_threads)
    return results


def is_grid(
    cnp.ndarray scales, cnp.ndarray zero_points, Py_ssize_t channels, int32_t quant_min,
    int32_t quant_max,
):
    """Whether each channel has a float32 scale, positive and finite, and an int32 in the range."""
    cdef const float* scale = <const float*> cnp.PyArray_DATA(scales)
    cdef const int32_t* zero_point = <const int32_t*> cnp.PyArray_DATA(zero_points)
    cdef bint others = False
    cdef Py_ssize_t i
    if not (
        cnp.PyArray_TYPE(scales) == cnp.NPY_FLOAT32
        and cnp.PyArray_TYPE(zero_points) == cnp.NPY_INT32
        and cnp.PyArray_NDIM(scales) == 1 and cnp.PyArray_NDIM(zero_points) == 1
        and cnp.PyArray_DIM(scales, 0) == channels and cnp.PyArray_DIM(zero_points, 0) == channels
        and cnp.PyArray_ISCARRAY_RO(scales) and cnp.PyArray_ISCARRAY_RO(zero_points)
    ):
        return False
    for i in range(channels):
        others |= not 0 < scale[i] <= FLT_MAX
        others |= not quant_min <= zero_point[i] <= quant_max
    return not others


def fake_quantize_per_channel(
    x, out, mask, cnp.ndarray scales, cnp.ndarray zero_points, int axis, float quant_min,
    float quant_max, int rule, int n_threads,
):
    """The same with a scale and a zero point for each index of an axis.

    The parameters are float32, zero points may be int32.
    """
    cdef FakeQuantize f
    cdef float* inverses
    cdef float* offsets
    cdef const int32_t* whole
    cdef Py_ssize_t channel
    cdef tuple results = rooms_for(x, out, mask)
    if results is None:
        return None
    scales = cnp.PyArray_GETCONTIGUOUS(scales)
    zero_points = cnp.PyArray_GETCONTIGUOUS(zero_points)
    whole = <const int32_t*> cnp.PyArray_DATA(zero_points)
    set_arrays(&f, x, results[0], results[1], quant_min, quant_max, rule)
    f.scales = <const float*> cnp.PyArray_DATA(scales)
    f.zero_points = <const float*> cnp.PyArray_DATA(zero_points)
    f.channels, f.inner = cnp.PyArray_SIZE(scales), elements_per_channel(x, axis)
    inverses = <float*> malloc((2 * f.channels + 1) * sizeof(float))
    if inverses == NULL:
        raise MemoryError()
    for channel in range(f.channels):
        inverses[channel] = (<float> 1) / f.scales[channel]
    f.inverses = inverses
    if cnp.PyArray_TYPE(zero_points) == cnp.NPY_INT32:
        offsets = inverses + f.channels
        for channel in range(f.channels):
            offsets[channel] = <float> whole[channel]
        f.zero_points = offsets
    with nogil:
        run_all(&f, n_threads)
        free(inverses)
    return results


include "gradient.pxi"
