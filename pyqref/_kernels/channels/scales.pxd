# What is done to each number with the numbers of its channel.

cimport numpy as cnp
from pyqref._kernels._outputs cimport OF_FLOAT32, require_output_beside
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.channels.constants cimport CHUNK, WORK_PER_THREAD
from pyqref._kernels.simd.partial cimport load_n_f32, store_n_f32
from pyqref._kernels.simd.primitives cimport *

cdef enum Rule:
    MULTIPLY    # x * scale
    DIVIDE      # x / scale
    SHIFT       # x * scale + shift
    CENTER      # (x - center) * scale + shift
    GRADIENT    # x * scale - (y - center) * factor - shift


cdef struct Scaling:
    const float* x
    const float* y
    float* out
    const float* scales
    const float* shifts
    const float* centers
    const float* factors
    Rule rule
    # Where channels lie side by side, each number is a line, and images have some pixels.
    Py_ssize_t channels, length, pixels, lines, lines_per_task
    Py_ssize_t parameters           # of each kind: for each channel, or for each of every image


cdef inline float scaled(
    float x, float y, float scale, float shift, float center, float factor, Rule rule
) noexcept nogil:
    if rule == MULTIPLY:
        return x * scale
    if rule == SHIFT:
        return x * scale + shift
    if rule == CENTER:
        return (x - center) * scale + shift
    if rule == DIVIDE:
        return x / scale
    return x * scale - (y - center) * factor - shift


cdef inline f32v scaled_lanes(
    const float* x, const float* y, const float* scale, const float* shift, const float* center,
    const float* factor, Py_ssize_t n, Rule rule
) noexcept nogil:
    """Scale n neighbouring channels, at most a vector of them."""
    cdef f32v result = lanes(x, n)
    cdef f32v other
    if rule == CENTER:
        result = sub_f32(result, lanes(center, n))
    if rule == DIVIDE:
        return div_f32(result, lanes(scale, n))
    result = mul_f32(result, lanes(scale, n))
    if rule == GRADIENT:
        other = mul_f32(sub_f32(lanes(y, n), lanes(center, n)), lanes(factor, n))
        result = sub_f32(sub_f32(result, other), lanes(shift, n))
    elif rule >= SHIFT:
        result = add_f32(result, lanes(shift, n))
    return result


cdef inline f32v lanes(const float* source, Py_ssize_t n) noexcept nogil:
    return load_f32(source) if n >= SIMD_LANES else load_n_f32(source, n)


cdef inline void scale_across(
    const Scaling* s, Py_ssize_t start, Py_ssize_t n, Py_ssize_t channel, Rule rule
) noexcept nogil:
    """A number of each of n channels, from ``channel`` on."""
    cdef const float* x = s.x + start
    cdef const float* y = s.y + start if rule == GRADIENT else x
    cdef const float* scales = s.scales + channel
    cdef const float* shifts = s.shifts + channel if rule >= SHIFT else scales
    cdef const float* centers = s.centers + channel if rule >= CENTER else scales
    cdef const float* factors = s.factors + channel if rule == GRADIENT else scales
    cdef float* out = s.out + start
    cdef Py_ssize_t i = 0
    while i + SIMD_LANES <= n:
        store_f32(out + i, scaled_lanes(
            x + i, y + i, scales + i, shifts + i, centers + i, factors + i, SIMD_LANES, rule
        ))
        i += SIMD_LANES
    if i < n:
        store_n_f32(out + i, scaled_lanes(
            x + i, y + i, scales + i, shifts + i, centers + i, factors + i, n - i, rule
        ), n - i)


cdef inline void scale_line(const Scaling* s, Py_ssize_t line, Rule rule) noexcept nogil:
    """The numbers of one channel of one image."""
    cdef const float* x = s.x + line * s.length
    cdef const float* y = s.y + line * s.length if rule == GRADIENT else x
    cdef float* out = s.out + line * s.length
    cdef Py_ssize_t channel = line % s.parameters
    cdef float scale = s.scales[channel]
    cdef float shift = s.shifts[channel] if rule >= SHIFT else 0
    cdef float center = s.centers[channel] if rule >= CENTER else 0
    cdef float factor = s.factors[channel] if rule == GRADIENT else 0
    cdef Py_ssize_t i
    for i in range(s.length):
        out[i] = scaled(x[i], y[i], scale, shift, center, factor, rule)


cdef inline void scale_lines(
    const Scaling* s, Py_ssize_t first, Py_ssize_t last, Rule rule
) noexcept nogil:
    """Lines of one channel each; where they are of one number, runs of channels."""
    cdef Py_ssize_t line = first
    cdef Py_ssize_t image_lines = s.channels * s.pixels
    cdef Py_ssize_t channel, end, n, parameter
    if s.length > 1:
        for line in range(first, last):
            scale_line(s, line, rule)
        return
    if first >= last:  # perhaps there are no channels
        return
    channel = line % s.channels
    while line < last:
        parameter = line // image_lines * s.channels % s.parameters
        end = min(last, (line // image_lines + 1) * image_lines)
        while line < end:
            n = min(end - line, s.channels - channel)
            scale_across(s, line, n, parameter + channel, rule)
            line += n
            channel = 0


cdef inline void scaling_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef Scaling s = (<Scaling*> context)[0]
    cdef Py_ssize_t first = index * s.lines_per_task
    cdef Py_ssize_t last = min(first + s.lines_per_task, s.lines)
    # The rule is a constant of each loop.
    if s.rule == MULTIPLY:
        scale_lines(&s, first, last, MULTIPLY)
    elif s.rule == SHIFT:
        scale_lines(&s, first, last, SHIFT)
    elif s.rule == CENTER:
        scale_lines(&s, first, last, CENTER)
    elif s.rule == DIVIDE:
        scale_lines(&s, first, last, DIVIDE)
    else:
        scale_lines(&s, first, last, GRADIENT)


cdef inline Py_ssize_t scaling_tasks(const Scaling* s) noexcept nogil:
    return (s.lines + s.lines_per_task - 1) // s.lines_per_task


cdef inline int fill_scaling(
    Scaling* s, cnp.ndarray x, bint across, cnp.ndarray out
) except -1:
    """``x (images, channels, length)``, or ``(images, length, channels)`` where it is across."""
    require_output_beside("out", out, OF_FLOAT32, x)
    s.x, s.out = <const float*> cnp.PyArray_DATA(x), <float*> cnp.PyArray_DATA(out)
    s.channels, s.length = cnp.PyArray_DIM(x, 2 if across else 1), cnp.PyArray_DIM(x, 2)
    s.pixels = 1
    if across:
        s.length, s.pixels = 1, cnp.PyArray_DIM(x, 1)
    s.lines = cnp.PyArray_SIZE(x) // max(s.length, <Py_ssize_t> 1)
    s.lines_per_task = max(CHUNK // max(s.length, <Py_ssize_t> 1), <Py_ssize_t> 1)
    return 0


cdef inline int run_scaling(
    Scaling* s, cnp.ndarray x, bint across, cnp.ndarray out, int n_threads
) except -1:
    fill_scaling(s, x, across, out)
    n_threads = useful_threads(<double> cnp.PyArray_SIZE(x), WORK_PER_THREAD, n_threads)
    with nogil:
        parallel_for(scaling_task, s, scaling_tasks(s), n_threads)
    return 0
