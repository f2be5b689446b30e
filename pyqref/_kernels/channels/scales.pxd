# What is done to each number with the numbers of its channel.

cimport numpy as cnp
from pyqref._kernels._outputs cimport OF_FLOAT32, require_output_beside
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.channels.constants cimport CHUNK, WORK_PER_THREAD

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
    Py_ssize_t channels, length, lines, lines_per_task


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


cdef inline void scale_strip(
    const Scaling* s, Py_ssize_t start, Py_ssize_t n, Py_ssize_t channel, bint across, Rule rule
) noexcept nogil:
    """n numbers of one channel, or of n from ``channel`` where they go ``across``."""
    cdef const float* x = s.x + start
    cdef const float* y = s.y + start if rule == GRADIENT else x
    cdef float* out = s.out + start
    cdef const float* scales = s.scales + channel
    cdef const float* shifts = s.shifts + channel if rule >= SHIFT else scales
    cdef const float* centers = s.centers + channel if rule >= CENTER else scales
    cdef const float* factors = s.factors + channel if rule == GRADIENT else scales
    cdef float scale = scales[0]
    cdef float shift = shifts[0]
    cdef float center = centers[0]
    cdef float factor = factors[0]
    cdef Py_ssize_t i
    if across:
        for i in range(n):
            out[i] = scaled(x[i], y[i], scales[i], shifts[i], centers[i], factors[i], rule)
    else:
        for i in range(n):
            out[i] = scaled(x[i], y[i], scale, shift, center, factor, rule)


cdef inline void scale_lines(
    const Scaling* s, Py_ssize_t first, Py_ssize_t last, Rule rule
) noexcept nogil:
    """Lines of one channel each; where they are of one number, strips of channels."""
    cdef Py_ssize_t line = first
    cdef Py_ssize_t n
    while line < last:
        if s.length == 1:
            n = min(last - line, s.channels - line % s.channels)
            scale_strip(s, line, n, line % s.channels, True, rule)
            line += n
        else:
            scale_strip(s, line * s.length, s.length, line % s.channels, False, rule)
            line += 1


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


cdef inline int run_scaling(Scaling* s, cnp.ndarray x, cnp.ndarray out, int n_threads) except -1:
    cdef Py_ssize_t size = cnp.PyArray_SIZE(x)
    require_output_beside("out", out, OF_FLOAT32, x)
    if size == 0:
        return 0
    s.x, s.out = <const float*> cnp.PyArray_DATA(x), <float*> cnp.PyArray_DATA(out)
    s.channels, s.length = cnp.PyArray_DIM(x, 1), cnp.PyArray_DIM(x, 2)
    s.lines = size // s.length
    s.lines_per_task = max(CHUNK // s.length, <Py_ssize_t> 1)
    n_threads = useful_threads(<double> size, WORK_PER_THREAD, n_threads)
    with nogil:
        parallel_for(
            scaling_task, s, (s.lines + s.lines_per_task - 1) // s.lines_per_task, n_threads
        )
    return 0
