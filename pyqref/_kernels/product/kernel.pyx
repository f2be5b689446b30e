"""Products of matrices of bytes: what linear layers, convolutions and recurrent layers share."""

cimport numpy as cnp
# tracemalloc sees what these give, so that tests see how much scratch a product takes.
from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from libc.string cimport memset
from pyqref._kernels._parallel cimport parallel_for
from pyqref._kernels.cache cimport next_line, scratch_of_all
from pyqref._kernels.product cimport blocks, epilogue, plan
from pyqref._kernels.product.description cimport (
    HAS_TILES, SCRATCH_BYTES, SCRATCH_OF_TILES, Columns, Epilogue, Product, Store, bytes_of_result,
    data_or_null,
)

# Functions that the modules of layers share. Their bodies are beside this file: blocks.pxd,
# epilogue.pxd and plan.pxd.


cdef void load_columns(
    const Epilogue* e, Columns* columns, Py_ssize_t first, int count
) noexcept nogil:
    epilogue.load_columns(e, columns, first, count)


cdef void finish_tile(
    const Epilogue* e, const Columns* columns, int first, const int32_t* sums,
    const int32_t* row_sums, int rows, uint8_t* out, Py_ssize_t out_stride, int count,
) noexcept nogil:
    epilogue.finish_tile(e, columns, first, sums, row_sums, rows, out, out_stride, count)


cdef int plan_product(Product* p, int n_threads) noexcept nogil:
    return plan.plan_product(p, n_threads)


cdef void multiply_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    blocks.multiply_task(context, index, thread)


cdef int multiply(Product* p, int n_threads) except -1 nogil:
    """Run the product that ``p`` describes; fills in how it is cut into tasks."""
    cdef uint8_t* scratch
    if p.rows == 0 or p.columns == 0:
        return 0
    n_threads = plan_product(p, n_threads)
    scratch = <uint8_t*> malloc(scratch_of_all(p.scratch_size, n_threads))
    if scratch == NULL:
        with gil:
            raise MemoryError()
    p.scratch = <uint8_t*> next_line(scratch)
    parallel_for(multiply_task, p, p.blocks * p.column_splits, n_threads)
    free(scratch)
    return 0


cdef void fill_epilogue(
    Epilogue* e, int32_t x_zero_point, Py_ssize_t depth, cnp.ndarray weight_sums, finish
) except *:
    """``finish``: how sums become results, the class of this name in :file:`qgemm/finish.py`."""
    cdef cnp.ndarray multiplier
    cdef float bias_multiplier
    cdef int32_t zero_point, lower, upper
    cdef int store
    if not isinstance(finish, tuple):
        raise TypeError(f"finish must be a Finish, got {type(finish).__name__}")
    (
        weight_zero_points, multiplier, bias, integer_bias, bias_multiplier, zero_point, lower,
        upper, store,
    ) = <tuple> finish
    e.x_zero_point, e.depth = x_zero_point, depth
    e.columns = cnp.PyArray_SIZE(weight_sums)
    e.weight_sums = <const int32_t*> cnp.PyArray_DATA(weight_sums)
    e.weight_zero_points = NULL
    if not all_zero(weight_zero_points):
        e.weight_zero_points = <const int64_t*> data_or_null(weight_zero_points)
    e.weight_zero_point_step = step_of(weight_zero_points)
    e.multiplier = <const float*> cnp.PyArray_DATA(multiplier)
    e.multiplier_step = step_of(multiplier)
    e.x_scale = 1
    e.bias = <const float*> data_or_null(bias)
    e.integer_bias = <const int32_t*> data_or_null(integer_bias)
    e.bias_multiplier = bias_multiplier
    e.zero_point, e.lower, e.upper = zero_point, lower, upper
    e.store = <Store> store
    e.addend.scale, e.addend.zero_point, e.addend.inverse, e.addend.relu = 0, 0, 0, False


cdef bint all_zero(array):
    cdef const int64_t* values = <const int64_t*> data_or_null(array)
    cdef int64_t found = 0
    cdef Py_ssize_t i
    if values != NULL:
        for i in range(cnp.PyArray_SIZE(<cnp.ndarray> array)):
            found |= values[i]
    return found == 0


cdef Py_ssize_t step_of(array):
    return 0 if array is None or cnp.PyArray_SIZE(<cnp.ndarray> array) == 1 else 1


cdef void fill_product(
    Product* p, const void* source, Epilogue* e, int32_t x_zero_point, weight
) except *:
    """A product of a whole matrix; how rows are given and where results go is left.

    ``weight``: the class of this name in :file:`qgemm/pack.py`.
    """
    cdef cnp.ndarray panels, sums
    cdef Py_ssize_t depth
    if not isinstance(weight, tuple):
        raise TypeError(f"the weight must be a Weight, got {type(weight).__name__}")
    depth, panels, sums, finish = <tuple> weight  # a subclass, which Cython would iterate over
    fill_epilogue(e, x_zero_point, depth, sums, finish)
    p.columns, p.quads = e.columns, (depth + 3) // 4
    p.source, p.epilogue = source, e
    p.panels = <const int8_t*> cnp.PyArray_DATA(panels)
    p.whole_rows, p.give_rows_in_place, p.matrix = False, NULL, NULL
    p.segments, p.has_edges, p.put_rows, p.fetch_rows = 1, False, NULL, NULL
    p.most_scratch = SCRATCH_OF_TILES if HAS_TILES else SCRATCH_BYTES
    memset(&p.spans, 0, sizeof(p.spans))


cdef void store_into(Product* p, cnp.ndarray out) noexcept:
    """Results go into all of ``out (..., columns)``, contiguous."""
    p.rows = cnp.PyArray_SIZE(out) // max(p.columns, <Py_ssize_t> 1)
    p.out, p.out_stride = <uint8_t*> cnp.PyArray_DATA(out), p.columns
    p.out_itemsize = bytes_of_result(p.epilogue)
