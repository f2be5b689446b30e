# Bytes joined along an axis.

cimport numpy as cnp
from libc.stdint cimport uint8_t
from pyqref._kernels.axes cimport is_in_c_order
from pyqref._kernels.elementwise.pairs cimport CHUNK
from pyqref._kernels.memory cimport buffer
from pyqref._kernels.memory_order cimport are_plain, nth_of_channels_last
from pyqref._kernels.simd.primitives cimport *

cdef extern from "simd/copy.h":
    void copy_rows(
        uint8_t* target, Py_ssize_t step, const uint8_t* source, Py_ssize_t n, Py_ssize_t rows
    ) nogil

cdef enum:
    BLOCK = 1 << 14             # bytes of results that are written part by part


# Rows of bytes that stand side by side in each row of the result; wide elements are so many bytes.
# A task takes some rows, or of long rows some columns.
cdef struct Joined:
    uint8_t* out
    Py_ssize_t row, rows, rows_per_task, tasks_per_row, count
    const uint8_t** parts
    const uint8_t** tables          # of a part that is on a grid of its own; else NULL
    Py_ssize_t* lengths             # of a row of each part


cdef inline void look_up_rows(
    uint8_t* target, Py_ssize_t step, const uint8_t* source, Py_ssize_t n, Py_ssize_t rows,
    const uint8_t* table,
) noexcept nogil:
    """``copy_rows`` of what stands in a table, at most BLOCK bytes or one row."""
    cdef uint8_t[BLOCK] moved
    if rows == 1:
        look_up_u8(target, source, n, table)
    else:
        look_up_u8(moved, source, rows * n, table)
        copy_rows(target, step, moved, n, rows)


cdef inline void join(
    const Joined* j, Py_ssize_t first, Py_ssize_t rows, Py_ssize_t start, Py_ssize_t stop
) noexcept nogil:
    """Columns [start, stop) of at most BLOCK bytes of rows, or of one row."""
    cdef uint8_t* out = j.out + first * j.row
    cdef const uint8_t* source
    # What the pointer holds is read once: bytes that are written might be it.
    cdef const uint8_t** parts = j.parts
    cdef const uint8_t** tables = j.tables
    cdef const Py_ssize_t* lengths = j.lengths
    cdef Py_ssize_t row = j.row
    cdef Py_ssize_t begin = 0
    cdef Py_ssize_t part, low, length
    for part in range(j.count):
        low = max(begin, start)
        length = min(begin + lengths[part], stop) - low
        source = parts[part] + first * lengths[part] + low - begin
        begin += lengths[part]
        if length <= 0:
            continue
        if tables[part] == NULL:
            copy_rows(out + low, row, source, length, rows)
        else:
            look_up_rows(out + low, row, source, length, rows, tables[part])


cdef inline void cat_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef const Joined* j = <const Joined*> context
    cdef Py_ssize_t row = index // j.tasks_per_row * j.rows_per_task
    cdef Py_ssize_t last = min(row + j.rows_per_task, j.rows)
    cdef Py_ssize_t start = index % j.tasks_per_row * CHUNK
    cdef Py_ssize_t stop = min(start + CHUNK, j.row)
    cdef Py_ssize_t step = max(<Py_ssize_t> 1, BLOCK // j.row)
    while row < last:
        join(j, row, min(step, last - row), start, stop)
        row += step


cdef enum:
    MOST_AXES = 32


cdef inline int axis_at(int place, int ndim, bint last) noexcept:
    """The axis that varies fastest (``place`` 0), second fastest, ..., in one of two orders."""
    return nth_of_channels_last(place, ndim) if last else ndim - 1 - place


cdef inline cnp.ndarray room_for(cnp.ndarray like, cnp.npy_intp* shape, bint last):
    """A new array of this shape, in C order or with the channels last."""
    cdef cnp.npy_intp[MOST_AXES] strides
    cdef cnp.npy_intp stride = cnp.PyArray_ITEMSIZE(like)
    cdef int ndim = cnp.PyArray_NDIM(like)
    cdef int place, axis
    if not last:
        return buffer(ndim, shape, like.descr)
    for place in range(ndim):
        axis = axis_at(place, ndim, True)
        strides[axis] = stride
        stride *= shape[axis]
    return buffer(ndim, shape, like.descr, strides)


cdef inline bint can_follow(cnp.ndarray first, cnp.ndarray part, int axis) except -1:
    """Return True if two parts have one type; raise where shapes differ beyond the axis."""
    cdef int each
    cdef bint fits = cnp.PyArray_NDIM(first) == cnp.PyArray_NDIM(part)
    for each in range(cnp.PyArray_NDIM(first) if fits else 0):
        if each != axis:
            fits = fits and cnp.PyArray_DIM(first, each) == cnp.PyArray_DIM(part, each)
    if not fits:
        raise ValueError(
            f"parts must be alike but along axis {axis}, got shapes {(<object> first).shape} and "
            f"{(<object> part).shape}"
        )
    return cnp.PyArray_TYPE(first) == cnp.PyArray_TYPE(part) and cnp.PyArray_ISNUMBER(part) and (
        are_plain(part)
    )


cdef inline int require_tables(tables, tuple parts) except -1:
    """A table of 256 bytes for each part of bytes, or None."""
    if len(tables) != len(parts):
        raise ValueError(f"tables must be as many as parts, {len(parts)}, got {len(tables)}")
    for part, table in zip(parts, tables):
        if table is None:
            continue
        if not (is_in_c_order(table) and (<cnp.ndarray> table).nbytes == 256):
            raise ValueError("a table must have 256 bytes in C order")
        if cnp.PyArray_ITEMSIZE(part) != 1 or cnp.PyArray_ITEMSIZE(table) != 1:
            raise ValueError("parts and tables must be of bytes")
    return 0
