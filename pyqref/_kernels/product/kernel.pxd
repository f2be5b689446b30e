# What the kernels of layers call. A layer fills in a Product, whose rows are given by a function of
# its own, and calls multiply; description.pxd says what a Product is.

cimport numpy as cnp
from libc.stdint cimport int32_t, uint8_t
from pyqref._kernels.product.description cimport Columns, Epilogue, Product


cdef void load_columns(
    const Epilogue* e, Columns* columns, Py_ssize_t first, int count
) noexcept nogil
cdef void finish_tile(
    const Epilogue* e, const Columns* columns, int first, const int32_t* sums,
    const int32_t* row_sums, int rows, uint8_t* out, Py_ssize_t out_stride, int count,
) noexcept nogil
cdef void fill_epilogue(
    Epilogue* e, int32_t x_zero_point, Py_ssize_t depth, cnp.ndarray weight_sums, finish
) except *

cdef int plan_product(Product* p, int n_threads) noexcept nogil
cdef void multiply_task(void* context, Py_ssize_t index, int thread) noexcept nogil
cdef int multiply(Product* p, int n_threads) except -1 nogil
cdef void fill_product(
    Product* p, const void* source, Epilogue* e, int32_t x_zero_point, weight
) except *
cdef void store_into(Product* p, cnp.ndarray out) noexcept
