# Products of matrices of floats: see float_tile.h.

cdef extern from "product/float_tile.h":
    enum:
        PANEL                       # columns of a panel
    void pack_transposed(
        float* panels, const float* source, Py_ssize_t row, Py_ssize_t columns, Py_ssize_t depth
    ) nogil
    void pack_rows(
        float* panels, const float* source, Py_ssize_t row, Py_ssize_t columns, Py_ssize_t depth
    ) nogil
    void float_product(
        const float* a, Py_ssize_t a_row, Py_ssize_t rows, const float* b, Py_ssize_t depth,
        Py_ssize_t columns, float* out, Py_ssize_t out_row, bint adds
    ) nogil


cdef inline Py_ssize_t packed_size(Py_ssize_t columns, Py_ssize_t depth) noexcept nogil:
    """Floats of the panels of a matrix."""
    return (columns + PANEL - 1) // PANEL * PANEL * depth
