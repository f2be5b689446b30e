# A layer of floats, whose inputs are projected before.
#
# The weight of the hidden state is packed once. Each step multiplies a few rows by all of it, which
# a library for matrices would pack at each step again.

from libc.string cimport memcpy
from pyqref._kernels.product.float_tile cimport PANEL, float_product, pack_transposed

cdef enum:
    COLUMNS = 4                     # panels of a task
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


cdef inline void pack_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef const Hidden* h = <const Hidden*> context
    cdef Py_ssize_t first = index * COLUMNS * PANEL
    cdef Py_ssize_t count = min(<Py_ssize_t> COLUMNS * PANEL, h.columns - first)
    pack_transposed(
        h.panels + first * h.depth, h.weight + first * h.depth, h.depth, count, h.depth
    )


cdef inline void hidden_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
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
