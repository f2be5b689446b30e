# Quantized linear: written once, included by one module an instruction set.

cimport numpy as cnp
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.simd.primitives cimport *

cdef enum:
    PANEL_COLUMNS = 64

cdef extern from "qgemm/tile.h":
    void multiply_tile(
        int rows, int vectors, const uint8_t** x, const int8_t* panel, Py_ssize_t step,
        Py_ssize_t quads, int32_t* sums,
    ) nogil

include "epilogue.pxi"
include "multiply.pxi"


# A matrix (rows, depth) of bytes; `flip` turns signed bytes into unsigned ones, 128 higher.
cdef struct Matrix:
    const uint8_t* x
    Py_ssize_t depth
    uint8_t flip


cdef void rows_in_place(
    const void* source, Py_ssize_t first, Py_ssize_t count, uint8_t* scratch,
    const uint8_t** rows,
) noexcept nogil:
    cdef const Matrix* matrix = <const Matrix*> source
    cdef Py_ssize_t r
    for r in range(count):
        rows[r] = matrix.x + (first + r) * matrix.depth


cdef void rows_copied(
    const void* source, Py_ssize_t first, Py_ssize_t count, uint8_t* scratch,
    const uint8_t** rows,
) noexcept nogil:
    cdef const Matrix* matrix = <const Matrix*> source
    cdef Py_ssize_t padded = (matrix.depth + 3) // 4 * 4
    cdef const uint8_t* x
    cdef uint8_t* row
    cdef Py_ssize_t r, k
    for r in range(count):
        x = matrix.x + (first + r) * matrix.depth
        row = scratch + r * padded
        for k in range(matrix.depth):
            row[k] = x[k] ^ matrix.flip
        for k in range(matrix.depth, padded):
            row[k] = 0
        rows[r] = row


def linear(
    cnp.ndarray x, bint is_signed, int32_t x_zero_point, Py_ssize_t depth, cnp.ndarray panels,
    cnp.ndarray weight_sums, weight_zero_points, cnp.ndarray multiplier, bias, integer_bias,
    float bias_multiplier, int32_t zero_point, int32_t lower, int32_t upper, cnp.ndarray out,
    int store, int n_threads,
):
    """``x (rows, depth)`` times packed weights into ``out (rows, columns)``; all contiguous.

    Stores: 0 bytes, 1 int32 sums, 2 float32 by a fused multiply-add, 3 without.
    """
    cdef Matrix matrix
    cdef Epilogue epilogue
    cdef Product p
    cdef int shift = 128 if is_signed else 0
    fill_epilogue(
        &epilogue, x_zero_point + shift - INPUT_SHIFT, depth, weight_sums, weight_zero_points,
        multiplier, bias, integer_bias, bias_multiplier, zero_point, lower, upper, <Store> store,
    )
    matrix.x, matrix.depth = <const uint8_t*> cnp.PyArray_DATA(x), depth
    matrix.flip = <uint8_t> shift
    p.columns, p.quads = cnp.PyArray_SIZE(weight_sums), (depth + 3) // 4
    p.rows = cnp.PyArray_SIZE(out) // max(p.columns, <Py_ssize_t> 1)
    p.give_rows = rows_copied if is_signed or depth % 4 else rows_in_place
    p.rows_are_cheap = True
    p.source, p.epilogue = &matrix, &epilogue
    p.panels = <const int8_t*> cnp.PyArray_DATA(panels)
    p.out, p.out_stride = <uint8_t*> cnp.PyArray_DATA(out), p.columns
    p.out_itemsize = 1 if store == BYTES else 4
    with nogil:
        multiply(&p, n_threads)
