"""Recurrent layers."""

cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy
from pyqref._kernels._outputs cimport OF_FLOAT32, require_output
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.product.float_tile cimport packed_size
from pyqref._kernels.product.description cimport data_or_null
from pyqref._kernels.qgemm.kernel cimport Dynamic, choose_grid, fill_dynamic, take_arrays, use_grid
from pyqref._kernels.recurrent.layers cimport (
    Rows, choose_rows, count_of, multiply_rows, require_buffers,
)
from pyqref._kernels.recurrent.real_layers cimport (
    PRODUCTS_PER_THREAD, Hidden, hidden_task, pack_task, tasks_of,
)
from pyqref._kernels.recurrent.steps cimport Kind, Step, moved, run_step


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


def recurrent_floats(
    int kind, cnp.ndarray from_input, cnp.ndarray weight, bias, cnp.ndarray batch_sizes,
    bint reverse, cnp.ndarray from_hidden, cnp.ndarray hidden, cell, cells, cnp.ndarray outputs,
    int n_threads,
):
    """A layer over whole sequences, from the projections of all inputs.

    ``eq-recurrent-layer`` and ``eq-float-product``. All but ``batch_sizes`` are float32 and
    contiguous: ``from_input (total, kind * size)``, ``weight (kind * size, size)``, states
    ``(rows, size)``, which change in place, and ``outputs (total, size)``. ``from_hidden`` has as
    many rows as a state, or keeps the projections of all steps; then ``cells`` keeps the cell
    states, if there are any. ``batch_sizes`` are int64, none above ``rows``, ``total`` together.
    """
    cdef Step s
    cdef Hidden h
    cdef cnp.npy_intp total = cnp.PyArray_DIM(from_input, 0)
    cdef cnp.npy_intp size = cnp.PyArray_DIM(hidden, 1)
    cdef cnp.npy_intp[2] sizes = [cnp.PyArray_DIM(hidden, 0), size]
    cdef const int64_t* counts = <const int64_t*> cnp.PyArray_DATA(batch_sizes)
    cdef Py_ssize_t number = cnp.PyArray_SIZE(batch_sizes)
    cdef Py_ssize_t at = total if reverse else 0
    cdef Py_ssize_t step, count, moves
    cdef float* all_cells = <float*> data_or_null(cells)
    require_output("hidden", hidden, OF_FLOAT32, 2, sizes)
    if cell is not None:
        require_output("cell", cell, OF_FLOAT32, 2, sizes)
    sizes[0] = total
    require_output("outputs", outputs, OF_FLOAT32, 2, sizes)
    if cells is not None:
        require_output("cells", cells, OF_FLOAT32, 2, sizes)
    sizes[0], sizes[1] = cnp.PyArray_DIM(from_hidden, 0), kind * size
    require_output("from_hidden", from_hidden, OF_FLOAT32, 2, sizes)
    moves = kind * size if cnp.PyArray_DIM(from_hidden, 0) == total else 0
    s.kind, s.size, s.out_step = <Kind> kind, size, size
    s.hidden, s.cell = <float*> cnp.PyArray_DATA(hidden), <float*> data_or_null(cell)
    h.weight, h.bias = <const float*> cnp.PyArray_DATA(weight), <const float*> data_or_null(bias)
    h.hidden, h.depth, h.columns = s.hidden, size, kind * size
    h.panels = <float*> malloc(packed_size(h.columns, h.depth) * sizeof(float))
    if h.panels == NULL:
        raise MemoryError()
    with nogil:
        count = useful_threads(<double> h.columns * h.depth, PRODUCTS_PER_THREAD, n_threads)
        parallel_for(pack_task, &h, tasks_of(&h), <int> count)
        for step in range(number):
            count = counts[number - 1 - step if reverse else step]
            if reverse:
                at -= count
            s.rows = h.rows = count
            h.out = <float*> cnp.PyArray_DATA(from_hidden) + at * moves
            parallel_for(
                hidden_task, &h, tasks_of(&h),
                useful_threads(
                    <double> count * h.columns * h.depth, PRODUCTS_PER_THREAD, n_threads
                ),
            )
            s.from_input = <const float*> cnp.PyArray_DATA(from_input) + at * kind * size
            s.from_hidden = h.out
            s.out = <float*> cnp.PyArray_DATA(outputs) + at * size
            run_step(&s, n_threads)
            if all_cells != NULL:
                memcpy(all_cells + at * size, s.cell, count * size * sizeof(float))
            if not reverse:
                at += count
        free(h.panels)


def recurrent_step(
    int kind, cnp.ndarray from_input, cnp.ndarray from_hidden, cnp.ndarray hidden, cell,
    int n_threads,
):
    """One step of ``hidden (rows, size)``, and of ``cell`` if it is not None, in place.

    Kinds: 1 tanh of the sum, 3 GRU, 4 LSTM; the projections are ``(rows, kind * size)``. All are
    float32 and contiguous.
    """
    cdef Step s
    cdef cnp.npy_intp[2] sizes = [
        cnp.PyArray_DIM(from_hidden, 0), cnp.PyArray_DIM(from_hidden, 1) // kind
    ]
    require_output("hidden", hidden, OF_FLOAT32, 2, sizes)
    if cell is not None:
        require_output("cell", cell, OF_FLOAT32, 2, sizes)
    s.kind, s.rows, s.size = <Kind> kind, cnp.PyArray_DIM(hidden, 0), cnp.PyArray_DIM(hidden, 1)
    s.from_input = <const float*> cnp.PyArray_DATA(from_input)
    s.from_hidden = <const float*> cnp.PyArray_DATA(from_hidden)
    s.hidden = s.out = <float*> cnp.PyArray_DATA(hidden)
    s.out_step = s.size
    s.cell = <float*> data_or_null(cell)
    with nogil:
        run_step(&s, n_threads)
