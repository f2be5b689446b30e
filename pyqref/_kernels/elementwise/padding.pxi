# Borders of a constant around arrays in C order, whatever their elements: included by kernel.pyx.

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


cdef void pad_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
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


def pad(cnp.ndarray x, tuple before, tuple sizes, cnp.ndarray border, int n_threads):
    """``x (outer, depth, height, width)`` in a new array ``(outer, *sizes)``, in which it begins
    ``before`` elements behind the beginning.

    ``border`` is a line of the constant, as long as those of the result. Both are in C order and of
    one type.
    """
    cdef Padded p
    cdef cnp.npy_intp[4] shape
    cdef cnp.ndarray result
    cdef Py_ssize_t itemsize = cnp.PyArray_ITEMSIZE(x)
    cdef int axis
    if not (is_in_c_order(x) and is_in_c_order(border)):
        raise ValueError("x and border must be in C order")
    if cnp.PyArray_NDIM(x) != 4 or cnp.PyArray_TYPE(x) != cnp.PyArray_TYPE(border):
        raise ValueError("x must have four axes, and border its type")
    if not len(before) == len(sizes) == 3:
        raise ValueError(f"before and sizes must be of three axes, got {before} and {sizes}")
    if cnp.PyArray_SIZE(border) != sizes[2]:
        raise ValueError(f"border must have {sizes[2]} elements, got {border.size}")
    shape[0] = cnp.PyArray_DIM(x, 0)
    for axis in range(3):
        p.before[axis] = before[axis]
        p.size[axis], p.out_size[axis] = cnp.PyArray_DIM(x, axis + 1), sizes[axis]
        shape[axis + 1] = p.out_size[axis]
    result = buffer(4, shape, x.descr)
    if cnp.PyArray_SIZE(result) == 0:
        return result
    p.before[2] *= itemsize
    p.size[2] *= itemsize
    p.out_size[2] *= itemsize
    p.x, p.out = <const uint8_t*> cnp.PyArray_DATA(x), <uint8_t*> cnp.PyArray_DATA(result)
    p.border = <const uint8_t*> cnp.PyArray_DATA(border)
    p.lines = shape[0] * shape[1] * shape[2]
    p.lines_per_task = max(<Py_ssize_t> 1, CHUNK // p.out_size[2])
    with nogil:
        n_threads = useful_threads(<double> p.lines * p.out_size[2], BYTES_PER_THREAD, n_threads)
        parallel_for(
            pad_task, &p, (p.lines + p.lines_per_task - 1) // p.lines_per_task, n_threads
        )
    return result
