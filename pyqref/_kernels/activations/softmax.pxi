# Softmax of rows and its logarithm, and their gradients: included by the body.

cdef extern from "activations/softmax.h":
    void softmax_row(const float* x, float* out, Py_ssize_t n) nogil
    void log_softmax_rows(const float* x, float* out, Py_ssize_t rows, Py_ssize_t n) nogil
    void softmax_gradient_row(const float* g, const float* y, float* out, Py_ssize_t n) nogil
    void log_softmax_gradient_row(const float* g, const float* y, float* out, Py_ssize_t n) nogil

cdef enum:
    ROWS_OF = 1 << 12           # elements of the rows of a task


cdef struct Rows:
    const float* a
    const float* b              # the result, where a is its gradient; or NULL
    float* out
    Py_ssize_t rows, n, rows_a_task
    bint is_log


cdef void rows_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef const Rows* r = <const Rows*> context
    cdef Py_ssize_t first = index * r.rows_a_task
    cdef Py_ssize_t end = min(r.rows, first + r.rows_a_task)
    cdef Py_ssize_t row, at
    if r.b == NULL and r.is_log:
        log_softmax_rows(r.a + first * r.n, r.out + first * r.n, end - first, r.n)
        return
    for row in range(first, end):
        at = row * r.n
        if r.b == NULL:
            softmax_row(r.a + at, r.out + at, r.n)
        elif r.is_log:
            log_softmax_gradient_row(r.a + at, r.b + at, r.out + at, r.n)
        else:
            softmax_gradient_row(r.a + at, r.b + at, r.out + at, r.n)


def softmax(a, b, bint is_log, out, int n_threads):
    """Softmax, or its logarithm, of the last axis of ``a``; or where ``b`` is that, the gradient.

    Into ``out``, or where that is None into new room. None where ``a`` is no array of float32 in C
    order with elements, or ``b`` does not lie as it does.
    """
    cdef Rows r
    cdef cnp.ndarray result
    if not isinstance(a, cnp.ndarray) or not cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray> a):
        return None
    if cnp.PyArray_NDIM(<cnp.ndarray> a) < 1 or cnp.PyArray_SIZE(<cnp.ndarray> a) == 0:
        return None
    result = output_beside(a, OF_FLOAT32, out, OF_FLOAT32, True)
    if result is None:
        return None
    r.b = NULL
    if b is not None:
        if not (isinstance(b, cnp.ndarray) and lie_alike(a, b)):
            return None
        r.b = <const float*> cnp.PyArray_DATA(b)
    r.a, r.out = <const float*> cnp.PyArray_DATA(a), <float*> cnp.PyArray_DATA(result)
    r.n = cnp.PyArray_DIM(result, cnp.PyArray_NDIM(result) - 1)
    r.rows = cnp.PyArray_SIZE(result) // r.n
    r.rows_a_task = max(<Py_ssize_t> 1, ROWS_OF // r.n)
    r.is_log = is_log
    n_threads = useful_threads(<double> r.rows * r.n, NUMBERS_PER_THREAD, n_threads)
    with nogil:
        parallel_for(rows_task, &r, (r.rows + r.rows_a_task - 1) // r.rows_a_task, n_threads)
    return result
