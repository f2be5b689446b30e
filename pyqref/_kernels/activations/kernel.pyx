"""Activations of float32, softmax, and their gradients."""

cimport numpy as cnp
from pyqref._kernels._outputs cimport OF_FLOAT32, ROWS_APART, output_beside, require_output
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.activations.elements cimport (
    NUMBERS_PER_THREAD, Pointwise, lie_alike, rows_of, run_tasks,
)
from pyqref._kernels.activations.softmax cimport ROWS_OF, Rows, rows_task


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


def pointwise_rows(
    int function, cnp.ndarray a, b, c, cnp.ndarray out, slopes, int n_threads,
):
    """Apply a function to arrays ``(rows, size)`` of float32, with gaps between rows, into ``out``.

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
