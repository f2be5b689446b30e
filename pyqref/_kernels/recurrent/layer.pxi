# A layer over whole sequences, both projections included: included by kernel.pyx.
#
# Inputs are projected some steps at a time, hidden states some rows at a time, so that the scratch
# does not grow with the sequences; on the grids of all inputs, and of all rows of a state.


# Rows of the inputs, from those of the first step to those of the last, and how they are cut.
cdef struct Rows:
    const int64_t* counts           # rows of each step, in the order of memory
    Py_ssize_t number               # of steps
    bint reverse
    Py_ssize_t most                 # rows that are projected at a time
    Py_ssize_t first, last          # those that are


cdef inline int64_t count_of(const Rows* rows, Py_ssize_t step) noexcept nogil:
    return rows.counts[rows.number - 1 - step if rows.reverse else step]


cdef void choose_rows(Rows* rows, Py_ssize_t step, Py_ssize_t at, Py_ssize_t end) noexcept nogil:
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


cdef int multiply_rows(
    Dynamic* d, Py_ssize_t first, Py_ssize_t count, int n_threads
) except -1 nogil:
    """Project some rows, on the grid of all."""
    d.reals.first, d.product.rows = first, count
    return multiply(&d.product, n_threads)


cdef int require_buffers(
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


def recurrent_layer(
    int kind, cnp.ndarray x, tuple grid, cnp.ndarray batch_sizes, bint reverse, tuple of_input,
    tuple of_hidden, cnp.ndarray from_input, cnp.ndarray from_hidden, cnp.ndarray hidden, cell,
    cnp.ndarray outputs, int n_threads,
):
    """A layer over whole sequences, its projections included.

    ``eq-recurrent-layer`` and ``eq-linear-dynamic``. States ``(rows, size)`` change in place.
    ``batch_sizes`` are int64, none above ``rows`` and together the rows of ``x`` and ``outputs``,
    whose rows may be apart, and which may be the hidden state itself where there is one step, or
    the inputs. ``x`` is contiguous, or lies in any order as ``(groups, rows, depth)``; where it has
    a ``grid``, a scale and a zero point, its rows are bytes, which ``outputs`` may replace.
    ``of_input`` and ``of_hidden`` are the largest integer and the weight, as in ``fill_dynamic``;
    ``from_input`` and ``from_hidden`` are buffers for some rows ``(kind * size,)`` of either.

    Returns the smallest and largest number of what has no grid, where the loop ends, and whether
    it is the input; else 0, 0 and False.
    """
    cdef Step s
    cdef Rows rows
    cdef Dynamic inputs, states
    cdef float* begin = <float*> cnp.PyArray_DATA(hidden)
    cdef float* begin_of_cell = <float*> data_or_null(cell)
    cdef float* after = <float*> cnp.PyArray_DATA(outputs)
    cdef Py_ssize_t at = cnp.PyArray_DIM(outputs, 0) if reverse else 0
    cdef Py_ssize_t most_states = cnp.PyArray_DIM(from_hidden, 0)
    cdef Py_ssize_t step, row, end
    cdef float low = 0
    cdef float high = 0
    cdef bint has_grid = grid is not None
    fill_dynamic(&inputs, of_input[0], of_input[1])
    fill_dynamic(&states, of_hidden[0], of_hidden[1])
    require_buffers(
        kind, batch_sizes, from_input, from_hidden, hidden, cell, outputs, states.epilogue.columns,
    )
    take_arrays(&inputs, x, from_input)
    take_arrays(&states, hidden, from_hidden)
    s.kind, s.size = <Kind> kind, cnp.PyArray_DIM(hidden, 1)
    s.from_hidden = <const float*> cnp.PyArray_DATA(from_hidden)
    s.out_step = cnp.PyArray_STRIDE(outputs, 0) // <Py_ssize_t> sizeof(float)
    rows.counts = <const int64_t*> cnp.PyArray_DATA(batch_sizes)
    rows.number, rows.reverse = cnp.PyArray_SIZE(batch_sizes), reverse
    rows.most, rows.first, rows.last = cnp.PyArray_DIM(from_input, 0), 0, 0
    if has_grid:
        use_grid(&inputs, grid[0], grid[1])
    with nogil:
        if not (has_grid or choose_grid(&inputs, &low, &high, n_threads)):
            with gil:
                return low, high, True
        for step in range(rows.number):
            if reverse:
                at -= count_of(&rows, step)
            end = at + count_of(&rows, step)
            states.reals.x, states.reals.size = begin, (end - at) * s.size
            if not choose_grid(&states, &low, &high, n_threads):
                with gil:
                    return low, high, False
            row = at
            while row < end:
                if not rows.first <= row < rows.last:
                    choose_rows(&rows, step, row, end)
                    multiply_rows(&inputs, rows.first, rows.last - rows.first, n_threads)
                s.rows = min(min(end, rows.last) - row, most_states)
                s.hidden = begin + (row - at) * s.size
                s.cell = moved(begin_of_cell, (row - at) * s.size)
                multiply_rows(&states, row - at, s.rows, n_threads)
                s.from_input = <const float*> inputs.product.out
                s.from_input += (row - rows.first) * kind * s.size
                s.out = after + row * s.out_step
                run_step(&s, n_threads)
                row += s.rows
            if not reverse:
                at = end
    return 0.0, 0.0, False
