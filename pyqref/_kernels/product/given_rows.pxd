# The rows of a block, as the function of a layer gives them, and their sums.

from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memset
from pyqref._kernels.product.description cimport GiveRows, Layout, Product
from pyqref._kernels.simd.primitives cimport *


cdef inline int32_t sum_of(
    const uint8_t* row, const Layout* layout, Py_ssize_t depth
) noexcept nogil:
    cdef int32_t total = 0
    cdef Py_ssize_t slice, i
    for slice in range(layout.slices):
        for i in range(min(layout.slice_depth, depth - slice * layout.slice_depth)):
            total += row[i]
        row += layout.slice_step
    return total


cdef inline void take_rows(
    Product* p, Py_ssize_t first_row, Py_ssize_t count, uint8_t* scratch, const uint8_t** rows,
    int32_t* row_sums,
) noexcept nogil:
    """Get rows, and what each sums to where weights have zero points."""
    cdef GiveRows give_rows = p.give_rows if p.copies else p.give_rows_in_place
    cdef Py_ssize_t r
    give_rows(p.source, first_row, count, scratch, &p.layout, rows)
    if p.epilogue.weight_zero_points == NULL:
        memset(row_sums, 0, count * sizeof(int32_t))
        return
    for r in range(count):
        row_sums[r] = sum_of(rows[r], &p.layout, 4 * p.quads)
        row_sums[r] -= INPUT_SHIFT * <int32_t> p.epilogue.depth
