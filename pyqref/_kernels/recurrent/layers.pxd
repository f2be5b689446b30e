# A layer over whole sequences, both projections included.
#
# Inputs are projected some steps at a time, hidden states some rows at a time, so that the scratch
# does not grow with the sequences; on the grids of all inputs, and of all rows of a state.

cimport numpy as cnp
from libc.stdint cimport int64_t
from pyqref._kernels._outputs cimport OF_FLOAT32, ROWS_APART, require_output
from pyqref._kernels.product.kernel cimport multiply
from pyqref._kernels.qgemm.kernel cimport Dynamic

# Rows of the inputs, from those of the first step to those of the last, and how they are cut.
cdef struct Rows:
    const int64_t* counts           # rows of each step, in the order of memory
    Py_ssize_t number               # of steps
    bint reverse
    Py_ssize_t most                 # rows that are projected at a time
    Py_ssize_t first, last          # those that are


cdef inline int64_t count_of(const Rows* rows, Py_ssize_t step) noexcept nogil:
    return rows.counts[rows.number - 1 - step if rows.reverse else step]


cdef inline void choose_rows(
    Rows* rows, Py_ssize_t step, Py_ssize_t at, Py_ssize_t end
) noexcept nogil:
    """From row ``at`` on: what is left of a step, which has ``end``, and the steps that follow.

    Those as a whole; as many as fit.
    """
    cdef bint begins = end - at == count_of(rows, step)
    rows.first, rows.last = at, min(end, at + rows.most)
    if rows.last < end or (rows.reverse and not begins):
        return
    step += 1
    while step < rows.number and rows.last - rows.first + count_of(rows, step) <= rows.most:
        if rows.reverse:
            rows.first -= count_of(rows, step)
        else:
            rows.last += count_of(rows, step)
        step += 1


cdef inline int multiply_rows(
    Dynamic* d, Py_ssize_t first, Py_ssize_t count, int n_threads
) except -1 nogil:
    """Project some rows, on the grid of all."""
    d.reals.first, d.product.rows = first, count
    return multiply(&d.product, n_threads)


cdef inline int require_buffers(
    int kind, cnp.ndarray batch_sizes, cnp.ndarray from_input, cnp.ndarray from_hidden,
    cnp.ndarray hidden, cell, cnp.ndarray outputs, Py_ssize_t columns,
) except -1:
    """Refuse what does not hold the rows of all steps, the states of a step, or projections."""
    cdef const int64_t* counts = <const int64_t*> cnp.PyArray_DATA(batch_sizes)
    cdef cnp.npy_intp[2] sizes = [0, columns // kind]
    cdef cnp.npy_intp most = cnp.PyArray_DIM(hidden, 0)
    cdef Py_ssize_t step
    for step in range(cnp.PyArray_SIZE(batch_sizes)):
        sizes[0] += counts[step]
        most = max(most, counts[step])
    require_output("outputs", outputs, OF_FLOAT32, 2, sizes, ROWS_APART)
    sizes[0] = most
    require_output("hidden", hidden, OF_FLOAT32, 2, sizes)
    if cell is not None:
        require_output("cell", cell, OF_FLOAT32, 2, sizes)
    sizes[1] = columns
    sizes[0] = cnp.PyArray_DIM(from_input, 0)
    require_output("from_input", from_input, OF_FLOAT32, 2, sizes)
    sizes[0] = cnp.PyArray_DIM(from_hidden, 0)
    require_output("from_hidden", from_hidden, OF_FLOAT32, 2, sizes)
    return 0
