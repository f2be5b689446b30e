"""Quantized matrix product."""

cimport numpy as cnp
# tracemalloc sees what these give, so that tests see how much scratch a product takes.
from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.math cimport INFINITY, isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset
from pyqref._kernels._outputs cimport OF_BYTES, OF_FLOAT32, OF_INT32, output_for_rows
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.observe.dynamic_qparams cimport choose_qparams
from pyqref._kernels.observe.range cimport join_ranges, range_of
from pyqref._kernels.product.kernel cimport (
    BYTES, SUMS, TILE_DEPTH, Epilogue, Layout, Product, fill_product, multiply, place_of_row,
    store_into,
)
from pyqref._kernels.quantize.to_bytes cimport quantize_bytes
from pyqref._kernels.simd.primitives cimport *

# what kernel.pxd declares: fill_dynamic, take_arrays, choose_grid, use_grid
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


cdef inline void copy_slice(uint8_t* target, const uint8_t* x, uint8_t flip) noexcept nogil:
    """A slice of a row for tile registers."""
    cdef int k
    if flip:
        for k in range(TILE_DEPTH):
            target[k] = x[k] ^ flip
        return
    for k in range(TILE_DEPTH // (4 * SIMD_LANES)):
        store_i32(<int32_t*> target + k * SIMD_LANES, load_i32(<const int32_t*> x + k * SIMD_LANES))


cdef void rows_copied(
    const void* source, Py_ssize_t first, Py_ssize_t count, uint8_t* scratch,
    const Layout* layout, const uint8_t** rows,
) noexcept nogil:
    cdef const Matrix* matrix = <const Matrix*> source
    cdef const uint8_t* x
    cdef uint8_t* target
    cdef Py_ssize_t r, k, left
    for r in range(count):
        x = matrix.x + (first + r) * matrix.depth
        rows[r] = target = place_of_row(scratch, layout, r)
        left = matrix.depth
        while left > 0:
            if layout.slice_depth == TILE_DEPTH <= left:
                copy_slice(target, x, matrix.flip)
            else:
                for k in range(min(left, layout.slice_depth)):
                    target[k] = x[k] ^ matrix.flip
                for k in range(left, layout.slice_depth):
                    target[k] = 0
            left -= layout.slice_depth
            x += layout.slice_depth
            target += layout.slice_step


def linear(x, int32_t x_zero_point, out, weight, int n_threads):
    """Bytes ``x (..., depth)`` times packed weights into ``out (..., columns)``, contiguous.

    Where ``out`` is a dtype a buffer is made, or None returned if ``x`` is not contiguous.
    ``weight``: see :file:`pack.py`; it says what is stored, too.

    Returns the result.
    """
    cdef Matrix matrix
    cdef Epilogue epilogue
    cdef Product p
    cdef cnp.ndarray result
    cdef int kinds
    cdef int shift = 0
    fill_product(&p, &matrix, &epilogue, x_zero_point - INPUT_SHIFT, weight)
    kinds = OF_FLOAT32
    if epilogue.store == BYTES:
        kinds = OF_BYTES
    elif epilogue.store == SUMS:
        kinds = OF_INT32
    result = output_for_rows(x, out, kinds, epilogue.columns)
    if result is None:
        return None
    store_into(&p, result)
    if cnp.PyArray_TYPE(<cnp.ndarray?> x) == cnp.NPY_INT8:
        shift = 128
        epilogue.x_zero_point += shift
    matrix.x, matrix.depth = <const uint8_t*> cnp.PyArray_DATA(x), epilogue.depth
    matrix.flip = <uint8_t> shift
    p.give_rows, p.row_price = rows_copied, 0.3
    if shift == 0 and matrix.depth % 4 == 0:
        p.give_rows_in_place = rows_in_place
    with nogil:
        multiply(&p, n_threads)
    return result


def linear_dynamic(x, int quant_max, out, weight, int n_threads):
    """Real ``x (..., depth)`` times packed weights into ``out (..., columns)``, float32.

    ``eq-dynamic-input``, then ``eq-linear-dynamic``. ``x`` is contiguous, or lies in any order as
    ``(groups, rows, depth)``. Where ``out`` is a dtype a buffer is made, or None
    returned if ``x`` is not contiguous. ``weight``: see ``fill_dynamic``.

    Returns the result, and the smallest and largest number of ``x``; where one of them is not
    finite there is no grid, and nothing is written.
    """
    cdef Dynamic d
    cdef cnp.ndarray result
    cdef float low = 0
    cdef float high = 0
    fill_dynamic(&d, quant_max, weight)
    result = output_for_rows(x, out, OF_FLOAT32, d.epilogue.columns)
    if result is None:
        return None
    take_arrays(&d, x, result)
    with nogil:
        if choose_grid(&d, &low, &high, n_threads):
            multiply(&d.product, n_threads)
    return result, low, high
