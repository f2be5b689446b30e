# Bytes joined along an axis: included by kernel.pyx.

# tracemalloc sees what these give, so that tests see how much scratch is taken.
from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc

cdef extern from "simd/copy.h":
    void copy_rows(
        uint8_t* target, Py_ssize_t step, const uint8_t* source, Py_ssize_t n, Py_ssize_t rows
    ) nogil

cdef enum:
    BLOCK = 1 << 11             # bytes of results that are written part by part


# Rows of bytes that stand side by side in each row of the result. A task takes some rows, or of
# long rows some columns.
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


cdef int require_bytes(part, Py_ssize_t rows) except -1:
    """Bytes in C order that are rows of equal length."""
    cdef cnp.ndarray array = <cnp.ndarray?> part
    if cnp.PyArray_ITEMSIZE(array) != 1 or not is_in_c_order(array):
        raise ValueError("parts and tables must be bytes in C order")
    if rows < 1 or cnp.PyArray_SIZE(array) % rows:
        raise ValueError(f"{array.size} bytes are not {rows} rows of equal length")
    return 0


def cat(tuple parts, tuple tables, cnp.ndarray out, Py_ssize_t rows, int n_threads):
    """``eq-quantized-cat`` of contiguous bytes, each part and the result seen as so many rows.

    ``tables`` has what stands for each byte of a part in the result, or None where the byte does.
    """
    cdef Joined j
    cdef Py_ssize_t i
    cdef cnp.npy_intp total = 0
    if len(tables) != len(parts):
        raise ValueError(f"tables must be as many as parts, {len(parts)}, got {len(tables)}")
    for i in range(len(parts)):
        require_bytes(parts[i], rows)
        if tables[i] is not None:
            require_bytes(tables[i], 256)
            if cnp.PyArray_SIZE(<cnp.ndarray> tables[i]) != 256:
                raise ValueError("a table must have 256 bytes")
        total += cnp.PyArray_SIZE(<cnp.ndarray> parts[i])
    if cnp.PyArray_SIZE(out) != total:
        raise ValueError(f"out must hold the {total} bytes of all parts, got {out.size}")
    require_output(
        "out", out, OF_BYTES, cnp.PyArray_NDIM(out), cnp.PyArray_DIMS(out), ANY_ORDER
    )
    if total == 0:
        return
    j.out, j.rows, j.count = <uint8_t*> cnp.PyArray_DATA(out), rows, len(parts)
    j.row = cnp.PyArray_SIZE(out) // rows
    j.rows_per_task = max(<Py_ssize_t> 1, CHUNK // j.row)
    j.tasks_per_row = (j.row + CHUNK - 1) // CHUNK
    j.parts = <const uint8_t**> malloc(j.count * (2 * sizeof(uint8_t*) + sizeof(Py_ssize_t)))
    if j.parts == NULL:
        raise MemoryError()
    j.tables = j.parts + j.count
    j.lengths = <Py_ssize_t*> (j.tables + j.count)
    for i in range(j.count):
        j.parts[i] = <const uint8_t*> cnp.PyArray_DATA(<cnp.ndarray> parts[i])
        j.lengths[i] = cnp.PyArray_SIZE(<cnp.ndarray> parts[i]) // rows
        j.tables[i] = NULL
        if tables[i] is not None:
            j.tables[i] = <const uint8_t*> cnp.PyArray_DATA(<cnp.ndarray> tables[i])
    with nogil:
        n_threads = useful_threads(
            <double> cnp.PyArray_SIZE(out), BYTES_PER_THREAD, n_threads
        )
        parallel_for(
            cat_task, &j, (rows + j.rows_per_task - 1) // j.rows_per_task * j.tasks_per_row,
            n_threads,
        )
        free(j.parts)
