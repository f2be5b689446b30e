# Filters with inputs and outputs exchanged, as gradients want them: included by kernel.pyx.

# Filters with inputs and outputs exchanged, and some of their taps.
cdef struct Turned:
    const float* weight         # (groups * inputs, outputs, taps of all)
    float* out                  # (groups * outputs, inputs, taps)
    Py_ssize_t inputs, outputs, all_taps, taps, blocks
    Py_ssize_t* order           # which of all each tap is


cdef enum:
    TURNED = 16                 # outputs that a task takes


cdef void turn_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some outputs of one group."""
    cdef const Turned* t = <const Turned*> context
    cdef Py_ssize_t group = index // t.blocks
    cdef Py_ssize_t first = index % t.blocks * TURNED
    cdef Py_ssize_t count = min(<Py_ssize_t> TURNED, t.outputs - first)
    cdef const float* source
    cdef float* target
    cdef Py_ssize_t input, o, k
    for input in range(t.inputs):
        source = t.weight + ((group * t.inputs + input) * t.outputs + first) * t.all_taps
        target = t.out + ((group * t.outputs + first) * t.inputs + input) * t.taps
        for o in range(count):
            for k in range(t.taps):
                target[k] = source[t.order[k]]
            source += t.all_taps
            target += t.inputs * t.taps


def turn_filters(cnp.ndarray weight, cnp.ndarray out, order, Py_ssize_t groups, int n_threads):
    """Fill ``out (outputs, inputs, taps)`` from ``weight (inputs, outputs, all taps)``, by groups.

    Both are float32, contiguous and not empty; ``order`` says which taps, in which order.
    """
    cdef Turned t
    cdef cnp.npy_intp[3] shape
    cdef Py_ssize_t k
    t.inputs, t.outputs = cnp.PyArray_DIM(weight, 0) // groups, cnp.PyArray_DIM(weight, 1)
    t.all_taps, t.taps = cnp.PyArray_DIM(weight, 2), len(order)
    shape[0], shape[1], shape[2] = groups * t.outputs, t.inputs, t.taps
    require_output("out", out, OF_FLOAT32, 3, shape)
    t.weight, t.out = <const float*> cnp.PyArray_DATA(weight), <float*> cnp.PyArray_DATA(out)
    t.blocks = (t.outputs + TURNED - 1) // TURNED
    t.order = <Py_ssize_t*> malloc(t.taps * sizeof(Py_ssize_t))
    if t.order == NULL:
        raise MemoryError()
    for k in range(t.taps):
        t.order[k] = order[k]
    n_threads = useful_threads(<double> cnp.PyArray_SIZE(out), WORK_PER_THREAD, n_threads)
    with nogil:
        parallel_for(turn_task, &t, groups * t.blocks, n_threads)
        free(t.order)
