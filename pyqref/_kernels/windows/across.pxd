# The largest of each window, and means, of images whose channels are last in memory: each channel
# has a lane.

from libc.math cimport INFINITY
from libc.stdint cimport uint8_t
from pyqref._kernels._parallel cimport is_ending
from pyqref._kernels.simd.partial cimport load_n_f32, store_n_f32, store_n_low_bytes
from pyqref._kernels.simd.primitives cimport *
from pyqref._kernels.windows.largest cimport Maxima

cdef enum:
    COLUMNS = 256               # of results, after which a task asks is_ending


# A window: the taps that lie inside the image.
cdef struct Inside:
    Py_ssize_t first_y, last_y, first_x, last_x
    Py_ssize_t step_y, step_x       # floats from tap to tap


cdef inline Py_ssize_t first_inside(Py_ssize_t start, Py_ssize_t dilation) noexcept nogil:
    return (dilation - 1 - start) // dilation if start < 0 else 0


cdef inline Py_ssize_t last_inside(
    Py_ssize_t start, Py_ssize_t dilation, Py_ssize_t taps, Py_ssize_t size
) noexcept nogil:
    return min(taps, (size - start + dilation - 1) // dilation) if start < size else 0


cdef inline void put_means(
    const Inside* w, const float* x, float divisor, Py_ssize_t n, float* out
) noexcept nogil:
    """Add up the taps of n neighbouring channels, at most a vector of them, and divide."""
    cdef bint is_whole = n == SIMD_LANES
    cdef f32v sums = set_f32(0)
    cdef const float* at
    cdef Py_ssize_t y, _x
    for y in range(w.first_y, w.last_y):
        at = x + y * w.step_y + w.first_x * w.step_x
        for _x in range(w.first_x, w.last_x):
            sums = add_f32(sums, load_f32(at) if is_whole else load_n_f32(at, n))
            at += w.step_x
    sums = div_f32(sums, set_f32(divisor))
    if is_whole:
        store_f32(out, sums)
    else:
        store_n_f32(out, sums, n)


cdef inline void put_largest_number(
    const Inside* w, const float* x, Py_ssize_t kernel_x, float* out, uint8_t* winner
) noexcept nogil:
    """The first of equals wins, and nan over everything."""
    cdef float best = -INFINITY
    cdef float value
    cdef Py_ssize_t index = 0
    cdef Py_ssize_t ky, kx
    for ky in range(w.first_y, w.last_y):
        for kx in range(w.first_x, w.last_x):
            value = x[ky * w.step_y + kx * w.step_x]
            if value > best or value != value:
                best, index = value, ky * kernel_x + kx
    out[0], winner[0] = best, <uint8_t> index


cdef inline void put_largest(
    const Inside* w, const float* x, Py_ssize_t kernel_x, Py_ssize_t n, float* out,
    uint8_t* winner
) noexcept nogil:
    """Put the largest of n neighbouring channels, at most a vector of them."""
    cdef bint is_whole = n == SIMD_LANES
    cdef f32v best = set_f32(-INFINITY)
    cdef f32v winners = set_f32(0)
    cdef f32v one = set_f32(1)
    cdef i32v nans = set_i32(0)
    cdef f32v value, index
    cdef const float* at
    cdef Py_ssize_t y, _x, i
    for y in range(w.first_y, w.last_y):
        at = x + y * w.step_y + w.first_x * w.step_x
        index = set_f32(<float> (y * kernel_x + w.first_x))
        for _x in range(w.first_x, w.last_x):
            value = load_f32(at) if is_whole else load_n_f32(at, n)
            winners = if_less(best, value, index, winners)
            best = max_f32(value, best)
            nans = or_i32(nans, is_nan(value))
            index = add_f32(index, one)
            at += w.step_x
    if any_i32(nans):
        for i in range(n):
            put_largest_number(w, x + i, kernel_x, out + i, winner + i)
    elif is_whole:
        store_f32(out, best)
        store_low_bytes(winner, to_i32(winners))
    else:
        store_n_f32(out, best, n)
        store_n_low_bytes(winner, to_i32(winners), n)


cdef inline void across_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """One line of results of one image: means where there are divisors."""
    cdef const Maxima* m = <const Maxima*> context
    cdef Py_ssize_t top = index % m.out_height * m.stride_y - m.before_y
    cdef Py_ssize_t channels = m.channels
    cdef Py_ssize_t at = index * m.out_width * channels
    cdef Py_ssize_t windows = m.out_height * m.out_width
    cdef Py_ssize_t column, left, i, n
    cdef const float* first
    cdef Inside w
    w.step_x = m.dilation_x * channels
    w.step_y = m.dilation_y * m.width * channels
    w.first_y = first_inside(top, m.dilation_y)
    w.last_y = last_inside(top, m.dilation_y, m.kernel_y, m.height)
    first = m.x + (index // m.out_height * m.height + top) * m.width * channels
    for column in range(m.out_width):
        left = column * m.stride_x - m.before_x
        w.first_x = first_inside(left, m.dilation_x)
        w.last_x = last_inside(left, m.dilation_x, m.kernel_x, m.width)
        i = 0
        while i < channels:
            n = min(channels - i, <Py_ssize_t> SIMD_LANES)
            if m.divisors != NULL:
                put_means(
                    &w, first + left * channels + i,
                    m.divisors[0 if m.has_one_divisor else at // channels % windows], n,
                    m.out + at + i,
                )
            else:
                put_largest(
                    &w, first + left * channels + i, m.kernel_x, n, m.out + at + i,
                    m.winner + at + i,
                )
            i += SIMD_LANES
        at += channels
        if (column + 1) % COLUMNS == 0 and is_ending():
            return
