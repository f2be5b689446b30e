# Images of float32, resized by weighted sums along both axes.

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memset
from pyqref._kernels.simd.primitives cimport *

cdef extern from "simd/copy.h":
    void copy_bytes(uint8_t* target, const uint8_t* source, Py_ssize_t n) nogil

# Planes (height, width, inner) in C order, and results. Of each result along an axis, the places of
# its taps and their weights: rows (out_height, taps), columns (taps, out_width) or, where inner is
# more than 1, (out_width, taps). Without weights there is one tap, which is copied. Where there are
# fewer taps, places of -1 follow them.
cdef struct Resample:
    const float* x
    float* out
    float* scratch                  # a line a thread
    Py_ssize_t height, width, inner, out_height, out_width, lines, lines_per_task
    const int64_t* rows
    const int64_t* columns
    const float* down
    const float* along
    Py_ssize_t row_taps, column_taps
    bint has_fewer                  # a result has fewer taps along its line than column_taps


cdef inline void sum_of_taps(
    const float* x, const int64_t* places, const float* weights, Py_ssize_t taps, Py_ssize_t n,
    float* out
) noexcept nogil:
    """Weighted sums of runs of n numbers: products and sums are rounded one by one."""
    while taps and places[taps - 1] < 0:
        taps -= 1
    if taps == 0:
        memset(out, 0, n * sizeof(float))
        return
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t tap
    cdef f32v sums
    cdef float value
    if weights == NULL:
        copy_bytes(<uint8_t*> out, <const uint8_t*> (x + places[0] * n), n * sizeof(float))
        return
    while i + SIMD_LANES <= n:
        sums = mul_f32(load_f32(x + places[0] * n + i), set_f32(weights[0]))
        for tap in range(1, taps):
            sums = add_f32(
                sums, mul_f32(load_f32(x + places[tap] * n + i), set_f32(weights[tap]))
            )
        store_f32(out + i, sums)
        i += SIMD_LANES
    while i < n:
        value = x[places[0] * n + i] * weights[0]
        for tap in range(1, taps):
            value += x[places[tap] * n + i] * weights[tap]
        out[i] = value
        i += 1


cdef inline void sum_of_columns(const Resample* r, const float* line, float* out) noexcept nogil:
    """Add up the weighted numbers of a line for each column of the output."""
    cdef const int64_t* columns = r.columns
    cdef const float* along = r.along
    cdef Py_ssize_t n = r.out_width
    cdef Py_ssize_t x, tap
    cdef float value, product
    if along == NULL:
        for x in range(n):
            out[x] = line[columns[x]]
    elif r.has_fewer:
        for x in range(n):
            value = 0
            for tap in range(r.column_taps):
                if columns[tap * n + x] < 0:
                    break
                product = line[columns[tap * n + x]] * along[tap * n + x]
                value = value + product if tap else product
            out[x] = value
    elif r.column_taps == 2:
        for x in range(n):
            out[x] = line[columns[x]] * along[x] + line[columns[n + x]] * along[n + x]
    else:
        for x in range(n):
            value = line[columns[x]] * along[x]
            for tap in range(1, r.column_taps):
                value += line[columns[tap * n + x]] * along[tap * n + x]
            out[x] = value


cdef inline void resample_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some lines of results."""
    cdef const Resample* r = <const Resample*> context
    cdef Py_ssize_t width = r.width * r.inner
    cdef float* scratch = r.scratch + thread * width
    cdef const float* line
    cdef const float* plane
    cdef const float* along
    cdef float* out
    cdef Py_ssize_t at = index * r.lines_per_task
    cdef Py_ssize_t last = min(at + r.lines_per_task, r.lines)
    cdef Py_ssize_t y, x
    while at < last:
        y = at % r.out_height
        plane = r.x + at // r.out_height * r.height * width
        out = r.out + at * r.out_width * r.inner
        line = scratch
        if r.down == NULL:
            line = plane + r.rows[y] * width
        else:
            sum_of_taps(
                plane, r.rows + y * r.row_taps, r.down + y * r.row_taps, r.row_taps, width, scratch
            )
        if r.inner == 1:
            sum_of_columns(r, line, out)
        else:
            for x in range(r.out_width):
                along = NULL if r.along == NULL else r.along + x * r.column_taps
                sum_of_taps(
                    line, r.columns + x * r.column_taps, along, r.column_taps, r.inner,
                    out + x * r.inner,
                )
        at += 1
