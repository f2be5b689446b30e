# Results with gaps between them, in which other parts of the work put theirs.

from libc.stdint cimport uint8_t
from pyqref._kernels.qconv.im2col cimport Image, Position, advance, locate, place_of_result

cdef extern from "simd/copy.h":
    void copy_bytes(uint8_t* target, const uint8_t* source, Py_ssize_t n) nogil


cdef inline Py_ssize_t distance_of_results(const Image* image) noexcept nogil:
    """Bytes from each result to the next where these are always as many, else 0."""
    cdef Py_ssize_t distance = 0
    cdef Py_ssize_t expected = 0
    cdef Py_ssize_t count
    cdef int axis
    for axis in range(3, -1, -1):
        count = image.out[axis - 1] if axis else image.batch
        if count == 1:
            continue
        if distance == 0:
            distance = expected = image.step[axis]
        elif image.step[axis] != expected:
            return 0
        expected *= count
    return distance if distance else image.step[3]


cdef inline void scatter_line(
    const Image* image, const uint8_t* results, Py_ssize_t step, Py_ssize_t size,
    Py_ssize_t count, uint8_t* out,
) noexcept nogil:
    """Put ``size`` bytes of each of some results, ``step`` apart, where their line goes on."""
    cdef Py_ssize_t _i
    for _i in range(count):
        copy_bytes(out, results, size)
        results += step
        out += image.step[3]


cdef inline void move_windows(
    const Image* image, Py_ssize_t first, Py_ssize_t count, uint8_t* results, Py_ssize_t step,
    Py_ssize_t size, uint8_t* out, bint back,
) noexcept nogil:
    cdef Py_ssize_t i, some
    cdef Position p
    cdef uint8_t* line
    locate(image, first, &p)
    while count > 0:
        some = min(count, image.out[2] - p.at[2])
        line = out + place_of_result(image, &p)
        if back:
            for i in range(some):
                copy_bytes(results + i * step, line + i * image.step[3], size)
        else:
            scatter_line(image, results, step, size, some, line)
        results += some * step
        count -= some
        p.at[2] += some - 1
        advance(image, &p)


cdef inline void scatter_windows(
    const void* source, Py_ssize_t first, Py_ssize_t count, uint8_t* results, Py_ssize_t step,
    Py_ssize_t size, uint8_t* out,
) noexcept nogil:
    """Put the results of some windows, from the ``first``, in their places."""
    move_windows(<const Image*> source, first, count, results, step, size, out, False)


cdef inline void fetch_windows(
    const void* source, Py_ssize_t first, Py_ssize_t count, uint8_t* results, Py_ssize_t step,
    Py_ssize_t size, uint8_t* out,
) noexcept nogil:
    """Take what lies in the places of some results, from those of the ``first`` window."""
    move_windows(<const Image*> source, first, count, results, step, size, out, True)
