# Gradients of the largest and of means of windows, of images whose channels are last in memory:
# each pixel gathers from the windows that hold it, and each channel has a lane.

from libc.stdint cimport uint8_t, uint32_t
from pyqref._kernels._parallel cimport is_ending
from pyqref._kernels.simd.partial cimport load_n_bytes, load_n_f32, store_n_f32
from pyqref._kernels.simd.primitives cimport *
from pyqref._kernels.windows.across cimport COLUMNS
from pyqref._kernels.windows.largest cimport Maxima

cdef enum:
    MOST_TAPS = 256     # of a kernel


# The windows along one axis that hold a pixel, in the order of their taps.
cdef struct Holders:
    Py_ssize_t count
    Py_ssize_t[MOST_TAPS] window
    Py_ssize_t[MOST_TAPS] tap


cdef inline void find_holders(
    Holders* h, Py_ssize_t place, Py_ssize_t taps, Py_ssize_t dilation, Py_ssize_t stride,
    Py_ssize_t windows
) noexcept nogil:
    """``place`` is that of the pixel behind the first of the padding."""
    cdef Py_ssize_t tap, window
    h.count = 0
    for tap in range(taps):
        if place < 0:
            return
        window = place if stride == 1 else place // stride
        if window < windows and window * stride == place:
            h.window[h.count], h.tap[h.count] = window, tap
            h.count += 1
        place -= dilation


cdef inline f32v gathered(
    const Maxima* m, const Holders* rows, const Holders* columns, Py_ssize_t start, Py_ssize_t n
) noexcept nogil:
    """Add up what n neighbouring channels of a pixel get, at most a vector of them."""
    cdef bint is_whole = n == SIMD_LANES
    cdef f32v sums = set_f32(0)
    cdef f32v half = set_f32(0.5)
    cdef f32v grad, distance
    cdef i32v winner
    cdef Py_ssize_t y, x, line, at
    for y in range(rows.count):
        line = start + rows.window[y] * m.out_width * m.channels
        for x in range(columns.count):
            at = line + columns.window[x] * m.channels
            grad = load_f32(m.grad + at) if is_whole else load_n_f32(m.grad + at, n)
            if m.winner != NULL:
                winner = load_u8(m.winner + at) if is_whole else (
                    load_n_bytes(m.winner + at, False, n)
                )
                distance = sub_f32(
                    to_f32(winner), set_f32(<float> (rows.tap[y] * m.kernel_x + columns.tap[x]))
                )
                grad = if_less(abs_f32(distance), half, grad, set_f32(0))
            sums = add_f32(sums, grad)
    return sums


cdef inline void across_gradient_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """One line of pixels: of means where there are no winners."""
    cdef const Maxima* m = <const Maxima*> context
    cdef Py_ssize_t image = index // m.height
    cdef Py_ssize_t start = image * m.out_height * m.out_width * m.channels
    cdef float* out = m.out + index * m.width * m.channels
    cdef Py_ssize_t column, i
    cdef Holders rows, columns
    find_holders(
        &rows, index % m.height + m.before_y, m.kernel_y, m.dilation_y, m.stride_y, m.out_height
    )
    for column in range(m.width):
        find_holders(
            &columns, column + m.before_x, m.kernel_x, m.dilation_x, m.stride_x, m.out_width
        )
        i = 0
        while i + SIMD_LANES <= m.channels:
            store_f32(out + i, gathered(m, &rows, &columns, start + i, SIMD_LANES))
            i += SIMD_LANES
        if i < m.channels:
            store_n_f32(
                out + i, gathered(m, &rows, &columns, start + i, m.channels - i), m.channels - i
            )
        out += m.channels
        if (column + 1) % COLUMNS == 0 and is_ending():
            return
