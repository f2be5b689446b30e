# Softmax of rows and its logarithm, and their gradients.

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


cdef inline void rows_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
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
