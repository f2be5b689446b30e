# What recurrent layers know of products with real inputs.

cimport numpy as cnp
from libc.stdint cimport int32_t, uint8_t
from pyqref._kernels.product.description cimport Epilogue, Product


# A matrix (rows, depth) of real numbers that become bytes, and the ranges of its chunks. Rows come
# in groups, all as far apart; those that follow one another are one group.
cdef struct Reals:
    const float* x
    const uint8_t* quantized        # in place of x, if they are bytes already; else NULL
    Py_ssize_t depth, size
    Py_ssize_t first                # row that is the first of a product
    Py_ssize_t in_group             # rows
    # Numbers from one group, row and element to the next.
    Py_ssize_t group_step, row_step, step
    float inverse, offset
    float* lows
    float* highs


# A product with real inputs, whose grid is chosen when it runs.
cdef struct Dynamic:
    Reals reals
    Product product
    Epilogue epilogue
    int quant_max


cdef void fill_dynamic(Dynamic* d, int quant_max, weight) except *
cdef void take_arrays(Dynamic* d, cnp.ndarray x, cnp.ndarray out) noexcept
cdef void use_grid(Dynamic* d, double scale, int32_t zero_point) noexcept nogil
cdef bint choose_grid(Dynamic* d, float* low, float* high, int n_threads) except -1 nogil
