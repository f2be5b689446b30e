# Borders of a constant around arrays in C order, whatever their elements.

from libc.stdint cimport uint8_t
from libc.string cimport memcpy

cdef extern from "simd/copy.h":
    void copy_bytes(uint8_t* target, const uint8_t* source, Py_ssize_t n) nogil


cdef enum:
    AT_ONCE = 16                # bytes, of numbers of any type


# Volumes (outer, depth, height, width) and results that are larger, or smaller where borders are
# negative. The last numbers count bytes; the border is a line of the constant.
cdef struct Padded:
    const uint8_t* x
    const uint8_t* border
    uint8_t* out
    Py_ssize_t[3] before, size, out_size
    Py_ssize_t lines, lines_per_task


cdef inline void pad_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some lines of the result."""
    cdef const Padded* p = <const Padded*> context
    cdef Py_ssize_t line = index * p.lines_per_task
    cdef Py_ssize_t last = min(line + p.lines_per_task, p.lines)
    cdef Py_ssize_t length = p.out_size[2]
    cdef Py_ssize_t left = min(max(p.before[2], <Py_ssize_t> 0), length)
    cdef Py_ssize_t skipped = max(-p.before[2], <Py_ssize_t> 0)
    cdef Py_ssize_t n = max(min(p.size[2] - skipped, length - left), <Py_ssize_t> 0)
    cdef Py_ssize_t y = line % p.out_size[1] - p.before[1]
    cdef Py_ssize_t z = line // p.out_size[1] % p.out_size[0] - p.before[0]
    cdef Py_ssize_t outer = line // p.out_size[1] // p.out_size[0]
    cdef const uint8_t* border = p.border
    cdef uint8_t* out = p.out + line * length
    while line < last:
        if 0 <= y < p.size[1] and 0 <= z < p.size[0]:
            if length >= AT_ONCE and left <= AT_ONCE and length - left - n <= AT_ONCE:
                # Narrow borders are written too wide, and then what is between them.
                memcpy(out, border, AT_ONCE)
                memcpy(out + length - AT_ONCE, border, AT_ONCE)
            else:
                copy_bytes(out, border, left)
                copy_bytes(out + left + n, border, length - left - n)
            copy_bytes(
                out + left,
                p.x + ((outer * p.size[0] + z) * p.size[1] + y) * p.size[2] + skipped, n,
            )
        else:
            copy_bytes(out, border, length)
        line += 1
        out += length
        y += 1
        if y + p.before[1] == p.out_size[1]:
            y = -p.before[1]
            z += 1
            if z + p.before[0] == p.out_size[0]:
                z = -p.before[0]
                outer += 1
