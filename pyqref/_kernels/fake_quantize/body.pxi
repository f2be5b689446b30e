# Fake quantization: written once, included by one module an instruction set.

cimport numpy as cnp
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.simd.primitives cimport *

cdef enum:
    CHUNK = 1 << 15             # elements a task
    WORK_PER_THREAD = 1 << 18   # elements that are worth a thread

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
    uint8_t* mask
    const float* scales
    const float* inverses
    const float* zero_points
    float low, high
    Rule rule
    Py_ssize_t size, channels, inner, runs, runs_per_task


cdef inline void fake_quantize_vector(
    const float* x, float* y, uint8_t* mask, Grid* grid, Rule rule
) noexcept nogil:
    """``eq-fake-quantize`` or ``eq-fake-quantize-channel``, then ``eq-fake-quantize-mask``."""
    cdef f32v value = load_f32(x)
    if rule == FUSED:
        value = round_f32(fma_f32(value, grid.inverse, grid.zero_point))
    elif rule == BEFORE:
        value = round_f32(add_f32(mul_f32(value, grid.inverse), grid.zero_point))
    else:
        value = add_f32(round_f32(mul_f32(value, grid.inverse)), grid.zero_point)
    store_low_bytes(mask, is_inside(value, grid.low, grid.high))
    # nan becomes low, as max gives its second operand there; -0.0 becomes 0.0.
    value = add_f32(min_f32(max_f32(value, grid.low), grid.high), set_f32(0))
    store_f32(y, mul_f32(sub_f32(value, grid.zero_point), grid.scale))


cdef inline void load_grid(
    Grid* grid, const float* scales, const float* inverses, const float* zero_points
) noexcept nogil:
    grid.scale, grid.inverse = load_f32(scales), load_f32(inverses)
    grid.zero_point = load_f32(zero_points)


cdef inline void fake_quantize_run(
    FakeQuantize* f, Py_ssize_t start, Py_ssize_t n, Py_ssize_t channel, bint across, Rule rule
) noexcept nogil:
    """n numbers from ``start`` of one channel, or of n channels from 0 where ``across``."""
    cdef const float* x = f.x + start
    cdef float* y = f.y + start
    cdef uint8_t* mask = f.mask + start
    cdef const float* scales = f.scales
    cdef const float* inverses = f.inverses
    cdef const float* zero_points = f.zero_points
    cdef float[4][LANES_MAX] rest
    cdef float[LANES_MAX] y_rest
    cdef uint8_t[LANES_MAX] mask_rest
    cdef Py_ssize_t left, i = 0
    cdef Grid grid
    grid.low, grid.high = set_f32(f.low), set_f32(f.high)
    grid.scale, grid.inverse = set_f32(scales[channel]), set_f32(inverses[channel])
    grid.zero_point = set_f32(zero_points[channel])
    while i + SIMD_LANES <= n:
        if across:
            load_grid(&grid, scales + i, inverses + i, zero_points + i)
        fake_quantize_vector(x + i, y + i, mask + i, &grid, rule)
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
        fake_quantize_vector(rest[0], y_rest, mask_rest, &grid, rule)
        memcpy(y + i, y_rest, left * sizeof(float))
        memcpy(mask + i, mask_rest, left)


cdef inline void fake_quantize_by_rule(
    FakeQuantize* f, Py_ssize_t start, Py_ssize_t n, Py_ssize_t channel, bint across
) noexcept nogil:
    # The rule is a constant of each loop.
    if f.rule == FUSED:
        fake_quantize_run(f, start, n, channel, across, FUSED)
    elif f.rule == BEFORE:
        fake_quantize_run(f, start, n, channel, across, BEFORE)
    else:
        fake_quantize_run(f, start, n, channel, across, AFTER)


cdef void chunk_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef FakeQuantize* f = <FakeQuantize*> context
    cdef Py_ssize_t start = index * CHUNK
    fake_quantize_by_rule(f, start, min(<Py_ssize_t> CHUNK, f.size - start), 0, False)


cdef void runs_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef FakeQuantize* f = <FakeQuantize*> context
    cdef Py_ssize_t run = index * f.runs_per_task
    cdef Py_ssize_t last = min(run + f.runs_per_task, f.runs)
    while run < last:
        if f.inner == 1:
            fake_quantize_by_rule(f, run * f.channels, f.channels, 0, True)
        else:
            fake_quantize_by_rule(f, run * f.inner, f.inner, run % f.channels, False)
        run += 1


cdef void run_all(FakeQuantize* f, int n_threads) noexcept nogil:
    cdef Py_ssize_t length = f.channels if f.inner == 1 else f.inner
    if f.size == 0:
        return
    n_threads = useful_threads(<double> f.size, WORK_PER_THREAD, n_threads)
    if f.channels == 1:
        parallel_for(chunk_task, f, (f.size + CHUNK - 1) // CHUNK, n_threads)
        return
    f.runs = f.size // length
    f.runs_per_task = max(<Py_ssize_t> 1, CHUNK // length)
    parallel_for(runs_task, f, (f.runs + f.runs_per_task - 1) // f.runs_per_task, n_threads)


def fake_quantize_per_tensor(
    cnp.ndarray x, cnp.ndarray y, cnp.ndarray mask, float scale, float zero_point,
    float quant_min, float quant_max, int rule, int n_threads,
):
    """Fake quantize float32 ``x`` into ``y`` and ``mask`` (bytes); all contiguous.

    Rules: 0 fused, 1 zero point before rounding, 2 after.
    """
    cdef FakeQuantize f
    cdef float inverse = (<float> 1) / scale
    f.x, f.y = <const float*> cnp.PyArray_DATA(x), <float*> cnp.PyArray_DATA(y)
    f.mask = <uint8_t*> cnp.PyArray_DATA(mask)
    f.scales, f.inverses, f.zero_points = &scale, &inverse, &zero_point
    f.low, f.high, f.rule = quant_min, quant_max, <Rule> rule
    f.size, f.channels, f.inner = cnp.PyArray_SIZE(x), 1, 1
    with nogil:
        run_all(&f, n_threads)


def fake_quantize_per_channel(
    cnp.ndarray x, cnp.ndarray y, cnp.ndarray mask, cnp.ndarray scales, cnp.ndarray inverses,
    cnp.ndarray zero_points, Py_ssize_t inner, float quant_min, float quant_max, int rule,
    int n_threads,
):
    """The same for ``x`` seen as ``(outer, channels, inner)``; the parameters are float32."""
    cdef FakeQuantize f
    f.x, f.y = <const float*> cnp.PyArray_DATA(x), <float*> cnp.PyArray_DATA(y)
    f.mask = <uint8_t*> cnp.PyArray_DATA(mask)
    f.scales = <const float*> cnp.PyArray_DATA(scales)
    f.inverses = <const float*> cnp.PyArray_DATA(inverses)
    f.zero_points = <const float*> cnp.PyArray_DATA(zero_points)
    f.low, f.high, f.rule = quant_min, quant_max, <Rule> rule
    f.size, f.channels, f.inner = cnp.PyArray_SIZE(x), cnp.PyArray_SIZE(scales), inner
    with nogil:
        run_all(&f, n_threads)


# --- Gradient -----------------------------------------------------------------------------

cdef struct Masked:
    const uint32_t* grad
    const uint8_t* mask
    uint32_t* out
    Py_ssize_t size


cdef void straight_through_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef Masked m = (<Masked*> context)[0]
    cdef Py_ssize_t i
    for i in range(index * CHUNK, min((index + 1) * CHUNK, m.size)):
        # All bits of the number, or none: +0.0 whatever the number is.
        m.out[i] = m.grad[i] & (-<uint32_t> m.mask[i])


def straight_through(cnp.ndarray grad, cnp.ndarray mask, cnp.ndarray out, int n_threads):
    """``eq-straight-through`` of contiguous float32; ``mask`` holds 0 and 1."""
    cdef Masked m
    m.grad = <const uint32_t*> cnp.PyArray_DATA(grad)
    m.mask = <const uint8_t*> cnp.PyArray_DATA(mask)
    m.out = <uint32_t*> cnp.PyArray_DATA(out)
    m.size = cnp.PyArray_SIZE(grad)
    n_threads = useful_threads(<double> m.size, WORK_PER_THREAD, n_threads)
    with nogil:
        parallel_for(straight_through_task, &m, (m.size + CHUNK - 1) // CHUNK, n_threads)
