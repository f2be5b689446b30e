# Filters with inputs and outputs exchanged, as gradients want them.

# Filters with inputs and outputs exchanged, and some of their taps.
cdef struct TransposedFilters:
    const float* weight         # (groups * inputs, outputs, taps of all)
    float* out                  # (groups * outputs, inputs, taps)
    Py_ssize_t inputs, outputs, all_taps, taps, blocks
    Py_ssize_t* order           # which of all each tap is


cdef enum:
    OUTPUTS_AT_A_TIME = 16                 # outputs that a task takes


cdef inline void transpose_filters_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some outputs of one group."""
    cdef const TransposedFilters* t = <const TransposedFilters*> context
    cdef Py_ssize_t group = index // t.blocks
    cdef Py_ssize_t first = index % t.blocks * OUTPUTS_AT_A_TIME
    cdef Py_ssize_t count = min(<Py_ssize_t> OUTPUTS_AT_A_TIME, t.outputs - first)
    cdef const float* source
    cdef float* target
    cdef Py_ssize_t input, _o, k
    for input in range(t.inputs):
        source = t.weight + ((group * t.inputs + input) * t.outputs + first) * t.all_taps
        target = t.out + ((group * t.outputs + first) * t.inputs + input) * t.taps
        for _o in range(count):
            for k in range(t.taps):
                target[k] = source[t.order[k]]
            source += t.all_taps
            target += t.inputs * t.taps
