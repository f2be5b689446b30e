# Arrays in an order in which no results lie, as permuted ones are: row by row, where the last axis
# has no gaps. Results are in C order.

cimport numpy as cnp
from libc.stdint cimport uint8_t
from pyqref._kernels._parallel cimport Task
from pyqref._kernels.memory cimport buffer
from pyqref._kernels.memory_order cimport are_plain
from pyqref._kernels.quantize.chunks cimport CHUNK, WORK_PER_THREAD, Affine, each_task
from pyqref._kernels.quantize.reals cimport dequantize_bytes
from pyqref._kernels.quantize.to_bytes cimport quantize_bytes

cdef enum:
    MOST_AXES = 32
    SHORTEST = 8                # elements of a row, below which parts are sooner copied


cdef struct Rows:
    Affine affine
    const char* source
    int axes                        # before the last, joined where rows are equally far apart
    Py_ssize_t[MOST_AXES] lengths, steps
    Py_ssize_t n, count, per_task   # elements of a row, and rows


cdef inline bint has_rows(Rows* r, cnp.ndarray x) noexcept:
    """Describe the rows of ``x``, or say that it has none that are long."""
    cdef int last = cnp.PyArray_NDIM(x) - 1
    cdef int axis
    if not 0 < last < MOST_AXES or not are_plain(x) or cnp.PyArray_SIZE(x) == 0:
        return False
    r.source, r.n, r.axes = <const char*> cnp.PyArray_DATA(x), cnp.PyArray_DIM(x, last), 0
    if r.n < SHORTEST or cnp.PyArray_STRIDE(x, last) != cnp.PyArray_ITEMSIZE(x):
        return False
    for axis in range(last):
        r.lengths[r.axes], r.steps[r.axes] = cnp.PyArray_DIM(x, axis), cnp.PyArray_STRIDE(x, axis)
        if r.axes and r.steps[r.axes - 1] == r.lengths[r.axes] * r.steps[r.axes]:
            r.lengths[r.axes - 1] *= r.lengths[r.axes]
            r.steps[r.axes - 1] = r.steps[r.axes]
        else:
            r.axes += 1
    r.affine.size = cnp.PyArray_SIZE(x)
    r.count, r.per_task = r.affine.size // r.n, max(<Py_ssize_t> 1, CHUNK // r.n)
    return True


cdef inline void convert(Rows* r, const char* row, Py_ssize_t at, bint to_bytes) noexcept nogil:
    cdef Affine* a = &r.affine
    if to_bytes:
        quantize_bytes(
            <const float*> row, a.q + at, r.n, a.inverse, a.offset, <float> a.quant_min,
            <float> a.quant_max,
        )
    elif a.is_signed:
        dequantize_bytes(a, <const uint8_t*> row, a.x + at, r.n, True)
    else:
        dequantize_bytes(a, <const uint8_t*> row, a.x + at, r.n, False)


cdef inline void some_rows(Rows* r, Py_ssize_t index, bint to_bytes) noexcept nogil:
    cdef int inner = r.axes - 1
    cdef Py_ssize_t at = index * r.per_task
    cdef Py_ssize_t last = min(at + r.per_task, r.count)
    cdef Py_ssize_t left, i
    cdef const char* row
    cdef int axis
    while at < last:
        row, left = r.source, at
        for axis in range(inner, -1, -1):
            row += left % r.lengths[axis] * r.steps[axis]
            left //= r.lengths[axis]
        left = min(last - at, r.lengths[inner] - at % r.lengths[inner])
        for i in range(at, at + left):
            convert(r, row, i * r.n, to_bytes)
            row += r.steps[inner]
        at += left


cdef inline void quantize_rows_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    some_rows(<Rows*> context, index, True)


cdef inline void dequantize_rows_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    some_rows(<Rows*> context, index, False)


cdef inline void each_row(Rows* r, Task task, int n_threads) noexcept:
    # ``each_task`` looks at the size of what it is given, with which rows begin.
    each_task(&r.affine, task, (r.count + r.per_task - 1) // r.per_task, WORK_PER_THREAD, n_threads)


cdef inline cnp.ndarray quantized_rows(
    cnp.ndarray x, cnp.dtype dtype, float scale, float zero_point, int quant_min, int quant_max,
    int n_threads,
):
    """Bytes of float32 ``x``, or None where it has no rows."""
    cdef Rows r
    cdef cnp.ndarray q
    if cnp.PyArray_TYPE(x) != cnp.NPY_FLOAT32 or dtype.itemsize != 1 or not has_rows(&r, x):
        return None
    q = buffer(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), dtype)
    r.affine.q = <uint8_t*> cnp.PyArray_DATA(q)
    r.affine.inverse, r.affine.offset = (<float> 1) / scale, zero_point
    r.affine.quant_min, r.affine.quant_max = quant_min, quant_max
    each_row(&r, quantize_rows_task, n_threads)
    return q


cdef inline cnp.ndarray dequantized_rows(
    cnp.ndarray q, cnp.dtype dtype, float scale, int zero_point, int n_threads
):
    """Real numbers of bytes ``q``, or None where it has no rows."""
    cdef Rows r
    cdef cnp.ndarray x
    cdef int kind = cnp.PyArray_TYPE(q)
    if (kind != cnp.NPY_UINT8 and kind != cnp.NPY_INT8) or not has_rows(&r, q):
        return None
    x = buffer(cnp.PyArray_NDIM(q), cnp.PyArray_DIMS(q), dtype)
    r.affine.x, r.affine.streams = <float*> cnp.PyArray_DATA(x), False
    r.affine.is_signed = kind == cnp.NPY_INT8
    r.affine.scale, r.affine.zero_point = scale, zero_point
    each_row(&r, dequantize_rows_task, n_threads)
    return x
