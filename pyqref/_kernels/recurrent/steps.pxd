# One step of a recurrent cell, after its two projections.

from libc.string cimport memcpy, memset
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.simd.functions cimport *
from pyqref._kernels.simd.primitives cimport *

cdef enum:
    CELLS = 256                     # elements of the hidden state a task
    CELLS_PER_THREAD = 1 << 13      # that are worth a thread


# How many gates a cell has tells which it is.
cdef enum Kind:
    RNN = 1
    GRU = 3
    LSTM = 4


# Rows of projections ``(rows, gates * size)``, and of states ``(rows, size)``.
cdef struct Step:
    Kind kind
    Py_ssize_t rows, size
    const float* from_input
    const float* from_hidden
    float* hidden                   # before, and then after the step
    float* cell                     # the same; of an LSTM alone
    float* out                      # the hidden state after the step once more
    Py_ssize_t out_step             # from a row of it to the next


cdef inline void lstm_vector(
    const float* x, const float* h, Py_ssize_t size, float* hidden, float* cell, float* out
) noexcept nogil:
    """``eq-lstm-step``: gates i, f, g, o, ``size`` numbers apart."""
    cdef f32v i = sigmoid_of(add_f32(load_f32(x), load_f32(h)))
    cdef f32v f = sigmoid_of(add_f32(load_f32(x + size), load_f32(h + size)))
    cdef f32v g = tanh_of(add_f32(load_f32(x + 2 * size), load_f32(h + 2 * size)))
    cdef f32v o = sigmoid_of(add_f32(load_f32(x + 3 * size), load_f32(h + 3 * size)))
    cdef f32v c = add_f32(mul_f32(f, load_f32(cell)), mul_f32(i, g))
    o = mul_f32(o, tanh_of(c))
    store_f32(cell, c)
    store_f32(hidden, o)
    store_f32(out, o)


cdef inline void gru_vector(
    const float* x, const float* h, Py_ssize_t size, float* hidden, float* out
) noexcept nogil:
    """``eq-gru-step``: gates r, u, n."""
    cdef f32v r = sigmoid_of(add_f32(load_f32(x), load_f32(h)))
    cdef f32v u = sigmoid_of(add_f32(load_f32(x + size), load_f32(h + size)))
    cdef f32v n = add_f32(load_f32(x + 2 * size), mul_f32(r, load_f32(h + 2 * size)))
    n = tanh_of(n)
    n = add_f32(mul_f32(sub_f32(load_f32(hidden), n), u), n)
    store_f32(hidden, n)
    store_f32(out, n)


cdef inline void rnn_vector(
    const float* x, const float* h, float* hidden, float* out
) noexcept nogil:
    """``eq-rnn-step`` with tanh."""
    cdef f32v n = tanh_of(add_f32(load_f32(x), load_f32(h)))
    store_f32(hidden, n)
    store_f32(out, n)


cdef inline void step_vector(
    Kind kind, const float* x, const float* h, Py_ssize_t size, float* hidden, float* cell,
    float* out,
) noexcept nogil:
    if kind == LSTM:
        lstm_vector(x, h, size, hidden, cell, out)
    elif kind == GRU:
        gru_vector(x, h, size, hidden, out)
    else:
        rnn_vector(x, h, hidden, out)


cdef inline float* moved(float* pointer, Py_ssize_t by) noexcept nogil:
    return NULL if pointer == NULL else pointer + by


cdef inline void step_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some elements of one row."""
    cdef const Step* s = <const Step*> context
    cdef Py_ssize_t blocks = (s.size + CELLS - 1) // CELLS
    cdef Py_ssize_t row = index // blocks
    cdef Py_ssize_t first = index % blocks * CELLS
    cdef Py_ssize_t left = min(<Py_ssize_t> CELLS, s.size - first)
    cdef const float* x = s.from_input + row * s.kind * s.size + first
    cdef const float* h = s.from_hidden + row * s.kind * s.size + first
    cdef float* hidden = s.hidden + row * s.size + first
    cdef float* cell = moved(s.cell, row * s.size + first)
    cdef float* out = s.out + row * s.out_step + first
    # What is left of a row: its gates, and its states, side by side.
    cdef float[<int> LSTM * LANES_MAX] few_x, few_h
    cdef float[3 * LANES_MAX] few
    cdef int gates = s.kind
    cdef int gate
    while left >= SIMD_LANES:
        step_vector(s.kind, x, h, s.size, hidden, cell, out)
        x, h, hidden, out = x + SIMD_LANES, h + SIMD_LANES, hidden + SIMD_LANES, out + SIMD_LANES
        cell = moved(cell, SIMD_LANES)
        left -= SIMD_LANES
    if left == 0:
        return
    memset(few_x, 0, sizeof(few_x))
    memset(few_h, 0, sizeof(few_h))
    memset(few, 0, sizeof(few))
    for gate in range(gates):
        memcpy(few_x + gate * LANES_MAX, x + gate * s.size, left * sizeof(float))
        memcpy(few_h + gate * LANES_MAX, h + gate * s.size, left * sizeof(float))
    memcpy(few, hidden, left * sizeof(float))
    if cell != NULL:
        memcpy(few + LANES_MAX, cell, left * sizeof(float))
    step_vector(
        s.kind, few_x, few_h, LANES_MAX, few, few + LANES_MAX, few + 2 * LANES_MAX
    )
    memcpy(hidden, few, left * sizeof(float))
    memcpy(out, few, left * sizeof(float))
    if cell != NULL:
        memcpy(cell, few + LANES_MAX, left * sizeof(float))


cdef inline void run_step(Step* s, int n_threads) noexcept nogil:
    cdef Py_ssize_t blocks = (s.size + CELLS - 1) // CELLS
    n_threads = useful_threads(<double> s.rows * s.size, CELLS_PER_THREAD, n_threads)
    parallel_for(step_task, s, s.rows * blocks, n_threads)
