"""Rows of tables, looked up or joined bag by bag."""

# Tables are (rows, columns), of float32 or bytes; rows may be apart. Without scales, rows of bytes
# have integers of so many bits, then scale and offset. Indices are int64.

cimport numpy as cnp
from libc.stdint cimport int64_t
from pyqref._kernels._outputs cimport OF_FLOAT32, require_output
from pyqref._kernels._parallel cimport parallel_for, useful_threads

cdef extern from "tables/bags.h":
    ctypedef struct Bags:
        const char* table
        const float* scales
        const float* offsets
        const float* weights
        const int64_t* indices
        const int64_t* starts
        const int64_t* ends
        float* out
        Py_ssize_t row_bytes, count, bags, columns, bags_a_task
        int bits, mode
    enum:
        COPY
    void result_of_bag(const Bags* b, Py_ssize_t bag) nogil

cdef enum:
    WORK_PER_THREAD = 1 << 16   # numbers that are worth a thread
    NUMBERS_A_TASK = 1 << 13


cdef void bags_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef const Bags* b = <const Bags*> context
    cdef Py_ssize_t bag
    for bag in range(index * b.bags_a_task, min(b.bags, (index + 1) * b.bags_a_task)):
        result_of_bag(b, bag)


cdef float* floats_of(x):
    return NULL if x is None else <float*> cnp.PyArray_DATA(x)


def join_bags(
    cnp.ndarray table, int bits, scales, offsets, cnp.ndarray indices, starts, ends, weights,
    int mode, cnp.ndarray out, int n_threads,
):
    """Rows of each bag as the mode says; without starts each index is a bag."""
    cdef Bags b
    cdef cnp.npy_intp[2] shape
    shape[0] = len(indices) if starts is None else len(starts)
    shape[1] = cnp.PyArray_DIM(table, 1)
    if bits < 32 and scales is None:
        shape[1] = (shape[1] - (8 if bits == 8 else 4)) * (8 // bits)
    require_output("out", out, OF_FLOAT32, 2, shape)
    b.table, b.row_bytes = <const char*> cnp.PyArray_DATA(table), cnp.PyArray_STRIDE(table, 0)
    b.scales, b.offsets, b.weights = floats_of(scales), floats_of(offsets), floats_of(weights)
    b.indices = <const int64_t*> cnp.PyArray_DATA(indices)
    b.starts, b.ends = NULL, NULL
    if starts is not None:
        b.starts = <const int64_t*> cnp.PyArray_DATA(starts)
        b.ends = <const int64_t*> cnp.PyArray_DATA(ends)
    b.out = floats_of(out)
    b.bags, b.columns, b.count = shape[0], shape[1], len(indices)
    b.bits = bits
    b.mode = COPY if starts is None else mode
    cdef double work = <double> b.columns * max(b.count, b.bags)
    b.bags_a_task = max(<Py_ssize_t> (NUMBERS_A_TASK * b.bags / max(work, 1)), 1)
    n_threads = useful_threads(work, WORK_PER_THREAD, n_threads)
    with nogil:
        parallel_for(bags_task, &b, (b.bags + b.bags_a_task - 1) // b.bags_a_task, n_threads)
