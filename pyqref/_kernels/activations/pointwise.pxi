# Functions of one number or a few, element by element: included by the body.

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


cdef void pointwise_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
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


cdef void run_tasks(Pointwise* p, int n_threads) noexcept nogil:
    n_threads = useful_threads(<double> p.rows * p.size, NUMBERS_PER_THREAD, n_threads)
    p.head = elements_to_line(p.out, sizeof(float), p.size)
    p.tasks_a_row = count_tasks(p.size, p.head, CHUNK)
    p.rows_a_task = 1
    if p.tasks_a_row == 1:          # many short rows
        p.rows_a_task = CHUNK // max(p.size, <Py_ssize_t> 1) + 1
    parallel_for(
        pointwise_task, p, (p.rows + p.rows_a_task - 1) // p.rows_a_task * p.tasks_a_row, n_threads
    )


cdef bint lie_alike(cnp.ndarray a, cnp.ndarray b):
    """Whether two arrays have the same shape and strides, and elements of float32."""
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


def pointwise(
    int function, a, b, float first, float second, float third, out, int n_threads,
):
    """A function of ``a``, or where ``b`` is not None, of ``b`` times ``a``.

    Into ``out``, or where that is None into new room. None where ``a`` is no array of float32
    without gaps, or ``b`` does not lie as it does.
    """
    cdef Pointwise p
    cdef cnp.ndarray result = output_beside(a, OF_FLOAT32, out, OF_FLOAT32, True)
    if result is None:
        return None
    p.b = p.c = p.slopes = NULL
    if b is not None:
        if not (isinstance(b, cnp.ndarray) and lie_alike(a, b)):
            return None
        p.b = <const float*> cnp.PyArray_DATA(b)
    p.a, p.out = <const float*> cnp.PyArray_DATA(a), <float*> cnp.PyArray_DATA(result)
    p.function = function
    p.rows, p.size, p.period = 1, cnp.PyArray_SIZE(result), 1
    p.step_a = p.step_b = p.step_c = p.step_out = 0
    p.first, p.second, p.third = first, second, third
    with nogil:
        run_tasks(&p, n_threads)
    return result


cdef const float* rows_of(x, Py_ssize_t* step):
    cdef cnp.ndarray array
    if x is None:
        step[0] = 0
        return NULL
    array = x
    step[0] = cnp.PyArray_STRIDE(array, 0) // sizeof(float)
    return <const float*> cnp.PyArray_DATA(array)


def pointwise_rows(
    int function, cnp.ndarray a, b, c, cnp.ndarray out, slopes, int n_threads,
):
    """The same of arrays ``(rows, size)`` of float32, whose rows may be apart, into ``out``.

    ``slopes`` are first constants of rows, used again and again, or None.
    """
    cdef Pointwise p
    cdef cnp.npy_intp[2] sizes = [cnp.PyArray_DIM(a, 0), cnp.PyArray_DIM(a, 1)]
    require_output("out", out, OF_FLOAT32, 2, sizes, ROWS_APART)
    p.function, p.rows, p.size = function, sizes[0], sizes[1]
    p.a, p.b, p.c = rows_of(a, &p.step_a), rows_of(b, &p.step_b), rows_of(c, &p.step_c)
    p.out = <float*> rows_of(out, &p.step_out)
    p.slopes, p.period = NULL, 1
    if slopes is not None:
        p.slopes, p.period = <const float*> cnp.PyArray_DATA(slopes), cnp.PyArray_SIZE(slopes)
    p.first = p.second = p.third = 0
    with nogil:
        run_tasks(&p, n_threads)
