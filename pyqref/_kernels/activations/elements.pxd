# Functions of one number or a few, element by element.

cimport numpy as cnp
from pyqref._kernels._parallel cimport (
    count_tasks, elements_to_line, parallel_for, task_start, useful_threads,
)

cdef extern from "activations/pointwise.h":
    ctypedef struct Pointwise:
        int function
        const float* a
        const float* b
        const float* c
        float* out
        Py_ssize_t rows, size, head, tasks_a_row, rows_a_task
        Py_ssize_t step_a, step_b, step_c, step_out
        const float* slopes
        Py_ssize_t period
        float first, second, third
    void run_pointwise(
        const Pointwise* p, Py_ssize_t row, Py_ssize_t start, Py_ssize_t stop
    ) nogil

cdef enum:
    CHUNK = 1 << 13             # elements a task
    NUMBERS_PER_THREAD = 1 << 14


cdef inline void pointwise_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef const Pointwise* p = <const Pointwise*> context
    cdef Py_ssize_t piece = index % p.tasks_a_row
    cdef Py_ssize_t row = index // p.tasks_a_row * p.rows_a_task
    cdef Py_ssize_t last = min(row + p.rows_a_task, p.rows)
    while row < last:
        run_pointwise(
            p, row, task_start(piece, p.size, p.head, CHUNK),
            task_start(piece + 1, p.size, p.head, CHUNK),
        )
        row += 1


cdef inline void run_tasks(Pointwise* p, int n_threads) noexcept nogil:
    n_threads = useful_threads(<double> p.rows * p.size, NUMBERS_PER_THREAD, n_threads)
    p.head = elements_to_line(p.out, sizeof(float), p.size)
    p.tasks_a_row = count_tasks(p.size, p.head, CHUNK)
    p.rows_a_task = 1
    if p.tasks_a_row == 1:          # many short rows
        p.rows_a_task = CHUNK // max(p.size, <Py_ssize_t> 1) + 1
    parallel_for(
        pointwise_task, p, (p.rows + p.rows_a_task - 1) // p.rows_a_task * p.tasks_a_row, n_threads
    )


cdef inline bint lie_alike(cnp.ndarray a, cnp.ndarray b):
    """Return True if two arrays have equal shapes and strides, and the second one holds float32."""
    cdef int axis
    cdef bint is_empty = cnp.PyArray_SIZE(a) == 0
    if cnp.PyArray_NDIM(a) != cnp.PyArray_NDIM(b) or cnp.PyArray_TYPE(b) != cnp.NPY_FLOAT32:
        return False
    for axis in range(cnp.PyArray_NDIM(a)):
        if cnp.PyArray_DIM(a, axis) != cnp.PyArray_DIM(b, axis):
            return False
        # Where there is one number, or none, the step to the next means nothing.
        if is_empty or cnp.PyArray_DIM(a, axis) <= 1:
            continue
        if cnp.PyArray_STRIDE(a, axis) != cnp.PyArray_STRIDE(b, axis):
            return False
    return cnp.PyArray_ISBEHAVED_RO(b)


cdef inline const float* rows_of(x, Py_ssize_t* step):
    cdef cnp.ndarray array
    if x is None:
        step[0] = 0
        return NULL
    array = x
    step[0] = cnp.PyArray_STRIDE(array, 0) // sizeof(float)
    return <const float*> cnp.PyArray_DATA(array)
