# Images of float32, resized by weighted sums along both axes.

from libc.stdint cimport int64_t
from pyqref._kernels.simd.primitives cimport *

# Planes (height, width) in C order, and results. Of each result along an axis, the places of its
# taps and their weights: rows (out_height, taps), columns (taps, out_width). Without weights there
# is one tap, which is copied.
cdef struct Resample:
    const float* x
    float* out
    float* scratch                  # a line a thread
    Py_ssize_t height, width, out_height, out_width, lines, lines_per_task
    const int64_t* rows
    const int64_t* columns
    const float* down
    const float* along
    Py_ssize_t row_taps, column_taps


cdef inline void sum_of_rows(
    const Resample* r, const float* plane, Py_ssize_t y, float* out
) noexcept nogil:
    """One line of weighted sums of lines: products and sums are rounded one by one."""
    cdef const int64_t* rows = r.rows + y * r.row_taps
    cdef const float* down = r.down + y * r.row_taps
    cdef const float* line
    cdef Py_ssize_t width = r.width
    cdef Py_ssize_t tap, i
    cdef f32v weight, value
    for tap in range(r.row_taps):
        line, weight = plane + rows[tap] * width, set_f32(down[tap])
        i = 0
        while i + SIMD_LANES <= width:
            value = mul_f32(load_f32(line + i), weight)
            store_f32(out + i, add_f32(load_f32(out + i), value) if tap else value)
            i += SIMD_LANES
        while i < width:
            out[i] = out[i] + line[i] * down[tap] if tap else line[i] * down[tap]
            i += 1


cdef inline void sum_of_columns(const Resample* r, const float* line, float* out) noexcept nogil:
    """Add up the weighted numbers of a line for each column of the output."""
    cdef const int64_t* columns = r.columns
    cdef const float* along = r.along
    cdef Py_ssize_t n = r.out_width
    cdef Py_ssize_t x, tap
    cdef float value
    if along == NULL:
        for x in range(n):
            out[x] = line[columns[x]]
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
    cdef float* scratch = r.scratch + thread * r.width
    cdef const float* line
    cdef const float* plane
    cdef Py_ssize_t at = index * r.lines_per_task
    cdef Py_ssize_t last = min(at + r.lines_per_task, r.lines)
    cdef Py_ssize_t y
    while at < last:
        y = at % r.out_height
        plane = r.x + at // r.out_height * r.height * r.width
        line = scratch
        if r.down == NULL:
            line = plane + r.rows[y] * r.width
        else:
            sum_of_rows(r, plane, y, scratch)
        sum_of_columns(r, line, r.out + at * r.out_width)
        at += 1
