# The largest of each window of a plane of floats, and its gradient.

cimport numpy as cnp
from libc.math cimport INFINITY
from libc.stdint cimport uint8_t, uint32_t
from pyqref._kernels._parallel cimport Task, is_ending, parallel_for, useful_threads
from pyqref._kernels.windows.gathering cimport WORK_PER_THREAD

cdef enum:
    LONG_LINE = 1 << 12         # numbers under the windows of a line, for which it asks is_ending


# Planes (planes, height, width) and what their windows gave, (planes, out_height, out_width); or
# images whose channels are last, (images, height, width, channels): see across.pxd.
cdef struct Maxima:
    const float* x
    const float* grad
    float* out
    uint8_t* winner
    const float* divisors           # of means: one, or one for each window of an image; or NULL
    bint has_one_divisor
    Py_ssize_t height, width, out_height, out_width, channels
    Py_ssize_t kernel_y, kernel_x, stride_y, stride_x, dilation_y, dilation_x, before_y, before_x


cdef inline void largest_of_window(
    const Maxima* m, const float* plane, Py_ssize_t top, Py_ssize_t left, float* out,
    uint8_t* winner,
) noexcept nogil:
    """The first of equals wins, and nan over everything; minus infinity is beside the plane."""
    cdef float best = -INFINITY
    cdef float value
    cdef uint8_t best_index = 0
    cdef uint8_t index = 0
    cdef Py_ssize_t _ky, _kx
    cdef Py_ssize_t y = top
    cdef Py_ssize_t x
    for _ky in range(m.kernel_y):
        x = left
        for _kx in range(m.kernel_x):
            if 0 <= y < m.height and 0 <= x < m.width:
                value = plane[y * m.width + x]
                if value > best or value != value:
                    best, best_index = value, index
            index += 1
            x += m.dilation_x
        y += m.dilation_y
    out[0], winner[0] = best, best_index


cdef inline bint largest_inside(
    const float* first, Py_ssize_t kernel_y, Py_ssize_t kernel_x, Py_ssize_t step_y,
    Py_ssize_t step_x, float* out, uint8_t* winner,
) noexcept nogil:
    """:func:`largest_of_window` for a window that lies inside the plane, from its first number on.

    Which number wins no processor foresees, so it is computed instead of branched on. Gives False
    where there was a nan: what was written is then not what was asked for.
    """
    cdef float best = first[0]
    cdef float value
    cdef uint32_t best_index = 0
    cdef uint32_t index = 0
    cdef uint32_t are_numbers = 1
    cdef Py_ssize_t ky, kx
    for ky in range(kernel_y):
        for kx in range(kernel_x):
            value = first[ky * step_y + kx * step_x]
            best_index ^= (best_index ^ index) & -<uint32_t> (value > best)
            best = value if value > best else best
            are_numbers &= value == value
            index += 1
    out[0], winner[0] = best, <uint8_t> best_index
    return are_numbers


cdef inline void largest_of_lines(
    const Maxima* maxima, Py_ssize_t plane_index, Py_ssize_t first_line, Py_ssize_t last_line
) noexcept nogil:
    """Some lines of results of one plane."""
    cdef Maxima m = maxima[0]       # a copy: results might lie in what is pointed to
    cdef const float* plane = m.x + plane_index * m.height * m.width
    cdef const float* first
    cdef Py_ssize_t at = (plane_index * m.out_height + first_line) * m.out_width
    cdef float* out = m.out + at
    cdef uint8_t* winner = m.winner + at
    cdef Py_ssize_t last_top = m.height - 1 - (m.kernel_y - 1) * m.dilation_y
    cdef Py_ssize_t last_left = m.width - 1 - (m.kernel_x - 1) * m.dilation_x
    cdef Py_ssize_t step_y = m.dilation_y * m.width
    cdef Py_ssize_t step_x = m.dilation_x
    cdef Py_ssize_t y, x, top, left
    cdef bint is_done
    for y in range(first_line, last_line):
        top = y * m.stride_y - m.before_y
        for x in range(m.out_width):
            left = x * m.stride_x - m.before_x
            first = plane + top * m.width + left
            if not (0 <= top <= last_top and 0 <= left <= last_left):
                is_done = False
            elif m.kernel_y == 2 and m.kernel_x == 2:  # constants leave no loops
                is_done = largest_inside(first, 2, 2, step_y, step_x, out + x, winner + x)
            elif m.kernel_y == 3 and m.kernel_x == 3:
                is_done = largest_inside(first, 3, 3, step_y, step_x, out + x, winner + x)
            else:
                is_done = largest_inside(
                    first, m.kernel_y, m.kernel_x, step_y, step_x, out + x, winner + x
                )
            if not is_done:
                largest_of_window(&m, plane, top, left, out + x, winner + x)
        out += m.out_width
        winner += m.out_width


cdef inline void largest_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """One plane, a line at a time where lines are long."""
    cdef const Maxima* m = <const Maxima*> context
    cdef Py_ssize_t step = m.out_height
    cdef Py_ssize_t line = 0
    if m.out_width * m.kernel_y * m.kernel_x >= LONG_LINE:
        step = 1
    while line < m.out_height:
        largest_of_lines(m, index, line, line + step)
        line += step
        if line < m.out_height and is_ending():
            return


cdef inline void gradient_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """One plane. From the last window to the first: what meets comes in the order of the kernel."""
    cdef Maxima m = (<const Maxima*> context)[0]  # a copy, as above
    cdef float* plane = m.out + index * m.height * m.width
    cdef Py_ssize_t i = (index + 1) * m.out_height * m.out_width
    cdef Py_ssize_t top, left, y, x, row, column
    cdef uint32_t ky, kx
    cdef bint is_long = m.out_width >= LONG_LINE
    for row in range(m.out_height - 1, -1, -1):
        if is_long and is_ending():
            return
        top = row * m.stride_y - m.before_y
        for column in range(m.out_width - 1, -1, -1):
            left = column * m.stride_x - m.before_x
            i -= 1
            ky = m.winner[i] // <uint32_t> m.kernel_x
            kx = m.winner[i] - ky * <uint32_t> m.kernel_x
            y, x = top + ky * m.dilation_y, left + kx * m.dilation_x
            if 0 <= y < m.height and 0 <= x < m.width:
                plane[y * m.width + x] += m.grad[i]


cdef inline void run_maxima(
    Maxima* m, cnp.ndarray planes, cnp.ndarray out, tuple kernel, tuple geometry, Task task,
    Py_ssize_t tasks, int n_threads,
):
    """``planes`` and ``out``: inputs of windows, and an array with an element for each window."""
    m.height, m.width = cnp.PyArray_DIM(planes, 1), cnp.PyArray_DIM(planes, 2)
    m.out_height, m.out_width = cnp.PyArray_DIM(out, 1), cnp.PyArray_DIM(out, 2)
    m.channels = cnp.PyArray_DIM(planes, 3) if cnp.PyArray_NDIM(planes) == 4 else 1
    m.kernel_y, m.kernel_x = kernel
    m.stride_y, m.stride_x, m.dilation_y, m.dilation_x, m.before_y, m.before_x = geometry
    n_threads = useful_threads(<double> cnp.PyArray_SIZE(planes), WORK_PER_THREAD, n_threads)
    with nogil:
        parallel_for(task, m, tasks, n_threads)
