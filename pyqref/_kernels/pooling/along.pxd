# Means of one channel, whose places side by side are neighbours in memory.

from cpython.mem cimport PyMem_RawCalloc as calloc, PyMem_RawFree as free
from libc.stdint cimport int8_t, int32_t, uint8_t
from pyqref._kernels._parallel cimport parallel_for
from pyqref._kernels.pooling.few cimport LARGE, add_most
from pyqref._kernels.pooling.mean cimport (
    Division, division_by, divisor_of, mean_of, start_of, store_mean,
)
from pyqref._kernels.pooling.pool cimport (
    ACROSS, ALONG, Line, Pool, Share, Taps, Window, cut_lines, length_of, share_of, sum_s8, sum_u8,
)
from pyqref._kernels.simd.primitives cimport *


cdef inline int32_t sum_of(const uint8_t* x, Py_ssize_t n, bint is_signed) noexcept nogil:
    return sum_s8(<const int8_t*> x, n) if is_signed else sum_u8(x, n)


cdef inline int32_t sum_of_large(
    const Pool* p, const Line* line, const Window* column
) noexcept nogil:
    """The sum of a window of many taps."""
    cdef Taps taps
    cdef int32_t total = 0
    cdef Py_ssize_t z, y
    taps.first = line.x + column.first
    taps.planes, taps.plane_step = length_of(line.plane), line.plane_step
    taps.rows, taps.row_step = length_of(line.row), line.row_step
    taps.columns, taps.column_step = length_of(column), 1
    add_most(p, &taps, ACROSS * SIMD_LANES, &total)
    for z in range(taps.planes):
        for y in range(taps.rows):
            total += sum_of(
                taps.first + z * taps.plane_step + y * taps.row_step, taps.columns, p.is_signed
            )
    return total


cdef inline void finish(
    const Pool* p, const int32_t* sums, const float* divisors, Py_ssize_t n, uint8_t* out
) noexcept nogil:
    """``eq-quantized-mean`` of n sums, each with its divisor, but all with that of the pool.

    The arrays may be read up to whole vectors.
    """
    cdef Division d = division_by(p, p.divisor)
    cdef f32v scale = set_f32(p.scale)
    cdef Py_ssize_t i = 0
    while i < n:
        if not p.divisor:
            d.divisor = load_f32(divisors + i)
            d.factor = div_f32(scale, mul_f32(scale, d.divisor))
        store_mean(p, mean_of(p, load_i32(sums + i), &d), out + i, n - i)
        i += SIMD_LANES


cdef inline void means_along(
    void* context, Py_ssize_t index, int thread, bint are_large
) noexcept nogil:
    """Compute one line, whose windows may be large or not."""
    cdef const Pool* p = <const Pool*> context
    cdef Share share = share_of(p, index)
    cdef const Line* line = &share.line
    cdef int32_t* sums = p.sums + thread * p.longest
    cdef float* divisors = p.divisors + thread * p.longest
    cdef const Window* column
    cdef const uint8_t* first
    cdef Py_ssize_t begin = share.begin
    cdef Py_ssize_t count, x, z, y
    while begin < share.end:
        count = min(share.end - begin, <Py_ssize_t> ALONG)
        for x in range(count):
            column = p.columns + begin + x
            sums[x] = start_of(p, line, column)
            divisors[x] = <float> divisor_of(p, line, column)
            if are_large:
                sums[x] += sum_of_large(p, line, column)
                continue
            for z in range(length_of(line.plane)):
                first = line.x + z * line.plane_step + column.first
                for y in range(length_of(line.row)):
                    sums[x] += sum_of(first + y * line.row_step, length_of(column), p.is_signed)
        finish(p, sums, divisors, count, line.out + begin)
        begin += count


cdef inline void along_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    means_along(context, index, thread, False)


cdef inline void along_large_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    means_along(context, index, thread, True)


cdef inline int mean_of_lines(Pool* p, double work, tuple longest, int n_threads) except -1:
    """Means of images whose channels are one with the batch."""
    cdef Py_ssize_t taps = 1
    for places in longest:
        taps *= <Py_ssize_t> places
    p.longest = (min(p.out_width, <Py_ssize_t> ALONG) + LANES_MAX + 15) // 16 * 16
    p.sums = <int32_t*> calloc(p.longest * n_threads, sizeof(int32_t))
    p.divisors = <float*> calloc(p.longest * n_threads, sizeof(float))
    if p.sums == NULL or p.divisors == NULL:
        free(p.sums)
        free(p.divisors)
        raise MemoryError()
    with nogil:
        parallel_for(
            along_large_task if taps >= LARGE else along_task, p, cut_lines(p, work, n_threads),
            n_threads,
        )
        free(p.sums)
        free(p.divisors)
    return 0
