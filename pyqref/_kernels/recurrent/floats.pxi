# A layer of floats, whose inputs are projected before: included by kernel.pyx.
#
# The weight of the hidden state is packed once. Each step multiplies a few rows by all of it, which
# a library for matrices would pack at each step again.

cdef enum:
    COLUMNS = 8                     # panels of a task
    PRODUCTS_PER_THREAD = 1 << 16   # multiplications that are worth a thread


# ``out (rows, columns) = bias + hidden (rows, depth) @ panels``, and the weight of the panels.
cdef struct Hidden:
    const float* weight             # (columns, depth)
    const float* bias               # or NULL
    const float* hidden
    float* panels
    float* out
    Py_ssize_t rows, depth, columns


cdef inline Py_ssize_t tasks_of(const Hidden* h) noexcept nogil:
    return (h.columns + COLUMNS * PANEL - 1) // (COLUMNS * PANEL)


cdef void pack_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef const Hidden* h = <const Hidden*> context
    cdef Py_ssize_t first = index * COLUMNS * PANEL
    cdef Py_ssize_t count = min(<Py_ssize_t> COLUMNS * PANEL, h.columns - first)
    pack_transposed(
        h.panels + first * h.depth, h.weight + first * h.depth, h.depth, count, h.depth
    )


cdef void hidden_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef const Hidden* h = <const Hidden*> context
    cdef Py_ssize_t first = index * COLUMNS * PANEL
    cdef Py_ssize_t count = min(<Py_ssize_t> COLUMNS * PANEL, h.columns - first)
    cdef Py_ssize_t row
    if h.bias != NULL:
        for row in range(h.rows):
            memcpy(h.out + row * h.columns + first, h.bias + first, count * sizeof(float))
    float_product(
        h.hidden, h.depth, h.rows, h.panels + first * h.depth, h.depth, count, h.out + first,
        h.columns, h.bias != NULL,
    )


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
