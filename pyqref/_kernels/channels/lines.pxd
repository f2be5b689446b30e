# Sums, layer and RMS normalization of rows, and the gradients.

cimport numpy as cnp
from pyqref._kernels._outputs cimport OF_FLOAT32, require_output
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.channels.constants cimport WORK_PER_THREAD

cdef extern from "channels/rows.h":
    ctypedef struct NormRows:
        const float* x
        const float* gradient
        const float* weight
        const float* bias
        float* out
        float* centers
        float* factors
        float* more
        Py_ssize_t rows, n, rows_a_task
        double eps, count
        bint has_mean
    enum:
        STRIP, SPREAD
    void total_of_row(const NormRows* r, Py_ssize_t row) nogil
    void total_columns(const NormRows* r, Py_ssize_t index) nogil
    void moments_of_row(const NormRows* r, Py_ssize_t row) nogil
    void normalize_row(const NormRows* r, Py_ssize_t row) nogil
    void gradient_row(const NormRows* r, Py_ssize_t row) nogil
    void gradient_columns(const NormRows* r, Py_ssize_t start) nogil

cdef extern from "channels/groups.h":
    void total_across(const NormRows* r, Py_ssize_t index) nogil

cdef enum:
    NUMBERS_A_TASK = 1 << 12


cdef inline void rows_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef const NormRows* r = <const NormRows*> context
    cdef Py_ssize_t row
    for row in range(index * r.rows_a_task, min(r.rows, (index + 1) * r.rows_a_task)):
        if r.centers == NULL:
            total_of_row(r, row)
        elif r.out == NULL:
            moments_of_row(r, row)
        elif r.gradient == NULL:
            normalize_row(r, row)
        else:
            gradient_row(r, row)


cdef inline void columns_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    gradient_columns(<const NormRows*> context, index * STRIP)


cdef inline void total_columns_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    total_columns(<const NormRows*> context, index)


cdef inline void total_across_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    total_across(<const NormRows*> context, index)


cdef inline float* floats_of(x):
    return NULL if x is None else <float*> cnp.PyArray_DATA(x)


cdef inline NormRows rows_of(
    cnp.ndarray x, gradient, cnp.ndarray centers, cnp.ndarray factors, out, weight
) except *:
    cdef NormRows r
    require_output("centers", centers, OF_FLOAT32, 1, cnp.PyArray_DIMS(x))
    require_output("factors", factors, OF_FLOAT32, 1, cnp.PyArray_DIMS(x))
    r.x, r.gradient, r.weight = floats_of(x), floats_of(gradient), floats_of(weight)
    r.bias, r.more = NULL, NULL
    r.centers, r.factors, r.out = floats_of(centers), floats_of(factors), floats_of(out)
    r.rows, r.n = cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 1)
    r.rows_a_task = max(NUMBERS_A_TASK // max(r.n, <Py_ssize_t> 1), <Py_ssize_t> 1)
    return r


cdef inline void run_rows(NormRows* r, int n_threads) noexcept nogil:
    n_threads = useful_threads(<double> r.rows * r.n, WORK_PER_THREAD, n_threads)
    parallel_for(rows_task, r, (r.rows + r.rows_a_task - 1) // r.rows_a_task, n_threads)
