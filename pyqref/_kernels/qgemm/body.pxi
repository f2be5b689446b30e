# Quantized linear: written once, included by one module an instruction set.

cimport numpy as cnp
# tracemalloc sees what these give, so that tests see how much scratch a product takes.
from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.math cimport INFINITY, NAN, fabs, fabsf, isfinite, isinf, rint
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.cache cimport LINE, next_line, suits_streams, whole_lines
from pyqref._kernels.simd.primitives cimport *

include "tile.pxi"
include "epilogue.pxi"
include "multiply.pxi"
include "dynamic.pxi"


# A matrix (rows, depth) of bytes; `flip` turns signed bytes into unsigned ones, 128 higher.
cdef struct Matrix:
    const uint8_t* x
    Py_ssize_t depth
    uint8_t flip


cdef void rows_in_place(
    const void* source, Py_ssize_t first, Py_ssize_t count, uint8_t* scratch,
    const Layout* layout, const uint8_t** rows,
) noexcept nogil:
    cdef const Matrix* matrix = <const Matrix*> source
    cdef Py_ssize_t r
    for r in range(count):
        rows[r] = matrix.x + (first + r) * matrix.depth


cdef inline void copy_run(uint8_t* run, const uint8_t* x, uint8_t flip) noexcept nogil:
    """A run of a row for tile registers."""
    cdef int k
    if flip:
        for k in range(TILE_DEPTH):
            run[k] = x[k] ^ flip
        return
    for k in range(TILE_DEPTH // (4 * SIMD_LANES)):
        store_i32(<int32_t*> run + k * SIMD_LANES, load_i32(<const int32_t*> x + k * SIMD_LANES))


cdef void rows_copied(
    const void* source, Py_ssize_t first, Py_ssize_t count, uint8_t* scratch,
    const Layout* layout, const uint8_t** rows,
) noexcept nogil:
    cdef const Matrix* matrix = <const Matrix*> source
    cdef const uint8_t* x
    cdef uint8_t* run
    cdef Py_ssize_t r, k, left
    for r in range(count):
        x = matrix.x + (first + r) * matrix.depth
        rows[r] = run = place_of_row(scratch, layout, r)
        left = matrix.depth
        while left > 0:
            if layout.run_depth == TILE_DEPTH <= left:
                copy_run(run, x, matrix.flip)
            else:
                for k in range(min(left, layout.run_depth)):
                    run[k] = x[k] ^ matrix.flip
                for k in range(left, layout.run_depth):
                    run[k] = 0
            left -= layout.run_depth
            x += layout.run_depth
            run += layout.run


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
    fill_product(&p, &matrix, &epilogue, panels, out)
    p.give_rows, p.row_price = rows_copied, 0.3
    if not is_signed and depth % 4 == 0:
        p.give_rows_in_place = rows_in_place
    with nogil:
        multiply(&p, n_threads)


def linear_dynamic(
    cnp.ndarray x, cnp.ndarray out, int quant_max, Py_ssize_t depth, cnp.ndarray panels,
    cnp.ndarray weight_sums, weight_zero_points, cnp.ndarray weight_scales,
    cnp.ndarray multiplier, bias, int store, int n_threads,
):
    """Real ``x (rows, depth)`` times packed weights into ``out (rows, columns)``, float32.

    ``x`` is contiguous, or lies in any order as ``(groups, rows, depth)``. ``eq-dynamic-input``,
    then ``eq-linear-dynamic``.

    Returns the smallest and largest number of ``x``; where one of them is not finite there is no
    grid, and ``out`` is left as it was. ``weight_scales`` are float64, one or one a column, and
    ``multiplier`` is room for as many float32. Stores: 2 a fused multiply-add, 3 without.
    """
    cdef Dynamic d
    cdef float low = 0
    cdef float high = 0
    fill_dynamic(
        &d, x, out, quant_max, depth, panels, weight_sums, weight_zero_points, weight_scales,
        multiplier, bias, <Store> store,
    )
    with nogil:
        if choose_grid(&d, &low, &high, n_threads):
            multiply(&d.product, n_threads)
    return low, high
