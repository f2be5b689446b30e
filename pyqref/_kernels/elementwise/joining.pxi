# Bytes joined along an axis: included by kernel.pyx.

# tracemalloc sees what these give, so that tests see how much scratch is taken.
from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc

from pyqref._kernels.memory cimport buffer
from pyqref._kernels.memory_order cimport (
    are_plain, has_channels_last, lies_in_c_order, nth_of_channels_last,
)

cdef extern from "simd/copy.h":
    void copy_rows(
        uint8_t* target, Py_ssize_t step, const uint8_t* source, Py_ssize_t n, Py_ssize_t rows
    ) nogil

cdef enum:
    BLOCK = 1 << 11             # bytes of results that are written part by part


# Rows of bytes that stand side by side in each row of the result; wide elements are so many bytes.
# A task takes some rows, or of long rows some columns.
cdef struct Joined:
    uint8_t* out
    Py_ssize_t row, rows, rows_per_task, tasks_per_row, count
    const uint8_t** parts
    const uint8_t** tables          # of a part that is on a grid of its own; else NULL
    Py_ssize_t* lengths             # of a row of each part


cdef void look_up_rows(
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


cdef void join(
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


cdef void cat_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
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


cdef cnp.ndarray room_for(cnp.ndarray like, cnp.npy_intp* shape, bint last):
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


cdef bint can_follow(cnp.ndarray first, cnp.ndarray part, int axis) except -1:
    """Whether two parts are of one type; refused where their shapes differ but along the axis."""
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


cdef int require_tables(tables, tuple parts) except -1:
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


def cat(tuple parts, tables, int axis, int n_threads):
    """Parts one after the other along an axis: of bytes ``eq-quantized-cat``, else copies.

    ``tables`` has what stands for each byte of a part in the result, or None where the byte does;
    None stands for no tables at all.

    None if the parts are not of one type of numbers, or neither all in C order nor all with their
    channels last.
    """
    cdef Joined j
    cdef cnp.npy_intp[MOST_AXES] shape
    cdef cnp.ndarray first, part, result
    cdef bint in_c_order = True
    cdef bint last = True
    cdef Py_ssize_t inner, i
    cdef int ndim, place, each
    if not parts:
        raise ValueError("there must be parts")
    first = <cnp.ndarray?> parts[0]
    ndim = cnp.PyArray_NDIM(first)
    if not 0 <= axis < ndim <= MOST_AXES:
        raise IndexError(f"axis must be one of the {ndim} axes, got {axis}")
    for each in range(ndim):
        shape[each] = cnp.PyArray_DIM(first, each)
    shape[axis] = 0
    for i in range(len(parts)):
        part = <cnp.ndarray?> parts[i]
        if not can_follow(first, part, axis):
            return None
        in_c_order = in_c_order and lies_in_c_order(part)
        last = last and (has_channels_last(part) or cnp.PyArray_SIZE(part) == 0)
        shape[axis] += cnp.PyArray_DIM(part, axis)
    if tables is not None:
        require_tables(tables, parts)
    if not (in_c_order or last):
        return None
    last = not in_c_order
    result = room_for(first, shape, last)
    if cnp.PyArray_SIZE(result) == 0:
        return result
    inner = cnp.PyArray_ITEMSIZE(first)
    for place in range(ndim):
        each = axis_at(place, ndim, last)
        if each == axis:                # those that vary faster have been counted
            break
        inner *= shape[each]
    j.out, j.count, j.row = <uint8_t*> cnp.PyArray_DATA(result), len(parts), shape[axis] * inner
    j.rows = cnp.PyArray_NBYTES(result) // j.row
    j.rows_per_task = max(<Py_ssize_t> 1, CHUNK // j.row)
    j.tasks_per_row = (j.row + CHUNK - 1) // CHUNK
    j.parts = <const uint8_t**> malloc(j.count * (2 * sizeof(uint8_t*) + sizeof(Py_ssize_t)))
    if j.parts == NULL:
        raise MemoryError()
    j.tables = j.parts + j.count
    j.lengths = <Py_ssize_t*> (j.tables + j.count)
    for i in range(j.count):
        part = <cnp.ndarray> parts[i]
        j.parts[i] = <const uint8_t*> cnp.PyArray_DATA(part)
        j.lengths[i] = cnp.PyArray_DIM(part, axis) * inner
        j.tables[i] = NULL
        if tables is not None and tables[i] is not None:
            j.tables[i] = <const uint8_t*> cnp.PyArray_DATA(<cnp.ndarray> tables[i])
    with nogil:
        n_threads = useful_threads(
            <double> cnp.PyArray_NBYTES(result), BYTES_PER_THREAD, n_threads
        )
        parallel_for(
            cat_task, &j, (j.rows + j.rows_per_task - 1) // j.rows_per_task * j.tasks_per_row,
            n_threads,
        )
        free(j.parts)
    return result
