# Sums, layer and RMS normalization of rows, and the gradients: included by the body.

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

cdef enum:
    NUMBERS_A_TASK = 1 << 12


cdef void rows_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
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


cdef void columns_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    gradient_columns(<const NormRows*> context, index * STRIP)


cdef void total_columns_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    total_columns(<const NormRows*> context, index)


cdef float* floats_of(x):
    return NULL if x is None else <float*> cnp.PyArray_DATA(x)


cdef NormRows rows_of(
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


cdef void run_rows(NormRows* r, int n_threads) noexcept nogil:
    n_threads = useful_threads(<double> r.rows * r.n, WORK_PER_THREAD, n_threads)
    parallel_for(rows_task, r, (r.rows + r.rows_a_task - 1) // r.rows_a_task, n_threads)


def totals_of_rows(cnp.ndarray x, double count, cnp.ndarray out, int n_threads):
    """The sum of each row, over a number."""
    cdef NormRows r
    require_output("out", out, OF_FLOAT32, 1, cnp.PyArray_DIMS(x))
    memset(&r, 0, sizeof(r))
    r.x, r.out, r.count = floats_of(x), floats_of(out), count
    r.rows, r.n = cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 1)
    r.rows_a_task = max(NUMBERS_A_TASK // max(r.n, <Py_ssize_t> 1), <Py_ssize_t> 1)
    with nogil:
        run_rows(&r, n_threads)


def totals_of_columns(cnp.ndarray x, cnp.ndarray out, int n_threads):
    """The sums of ``x`` ``(groups, n, columns)`` over n."""
    cdef NormRows r
    cdef Py_ssize_t groups = cnp.PyArray_DIM(x, 0)
    cdef cnp.npy_intp[2] sizes
    sizes[0], sizes[1] = groups, cnp.PyArray_DIM(x, 2)
    require_output("out", out, OF_FLOAT32, 2, sizes)
    memset(&r, 0, sizeof(r))
    r.x, r.out = floats_of(x), floats_of(out)
    r.rows, r.n = cnp.PyArray_DIM(x, 1), cnp.PyArray_DIM(x, 2)
    n_threads = useful_threads(<double> groups * r.rows * r.n, WORK_PER_THREAD, n_threads)
    with nogil:
        parallel_for(total_columns_task, &r, groups * ((r.n + SPREAD - 1) // SPREAD), n_threads)


def moments_of_rows(cnp.ndarray x, cnp.ndarray means, cnp.ndarray variances, int n_threads):
    """Mean and variance of each row."""
    cdef NormRows r = rows_of(x, None, means, variances, None, None)
    r.has_mean = True
    with nogil:
        run_rows(&r, n_threads)


def normalize_rows(
    cnp.ndarray x, weight, bias, double eps, bint has_mean, cnp.ndarray out, cnp.ndarray centers,
    cnp.ndarray factors, int n_threads,
):
    """Rows less their means, if they have any, over what remains; times weight, plus bias."""
    cdef NormRows r = rows_of(x, None, centers, factors, out, weight)
    require_output_beside("out", out, OF_FLOAT32, x)
    r.bias, r.eps, r.has_mean = floats_of(bias), eps, has_mean
    with nogil:
        run_rows(&r, n_threads)


def gradient_of_rows(
    cnp.ndarray grad, cnp.ndarray x, weight, bint has_mean, cnp.ndarray centers,
    cnp.ndarray factors, cnp.ndarray out, int n_threads,
):
    """The gradient of rows that were normalized so."""
    cdef NormRows r = rows_of(x, grad, centers, factors, out, weight)
    require_output_beside("out", out, OF_FLOAT32, x)
    r.has_mean = has_mean
    with nogil:
        run_rows(&r, n_threads)


def gradient_of_columns(
    cnp.ndarray grad, cnp.ndarray x, cnp.ndarray centers, cnp.ndarray factors,
    cnp.ndarray of_weight, cnp.ndarray of_bias, int n_threads,
):
    """The gradients of the weight and of the bias."""
    cdef NormRows r = rows_of(x, grad, centers, factors, of_weight, None)
    require_output("of_weight", of_weight, OF_FLOAT32, 1, cnp.PyArray_DIMS(x) + 1)
    require_output("of_bias", of_bias, OF_FLOAT32, 1, cnp.PyArray_DIMS(x) + 1)
    r.more = floats_of(of_bias)
    n_threads = useful_threads(<double> r.rows * r.n, WORK_PER_THREAD, n_threads)
    with nogil:
        parallel_for(columns_task, &r, (r.n + STRIP - 1) // STRIP, n_threads)
