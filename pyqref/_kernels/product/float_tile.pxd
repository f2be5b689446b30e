# Products of matrices of floats: see float_tile.h.

cdef extern from "product/float_tile.h":
    enum:
        PANEL                       # columns of a panel
        BLOCK
        FLOAT_ROWS
    ctypedef struct FloatTile:
        const float* a
        Py_ssize_t a_row, a_step
        const float* b
        Py_ssize_t b_panel, depth
        const float* start
        Py_ssize_t start_row
        float* out
        Py_ssize_t out_row
        int lanes
    ctypedef struct Ahead:
        const float* first
        Py_ssize_t apart, lines, floats
    void pack_transposed(
        float* panels, const float* source, Py_ssize_t row, Py_ssize_t columns, Py_ssize_t depth
    ) nogil
    void pack_rows(
        float* panels, const float* source, Py_ssize_t row, Py_ssize_t columns, Py_ssize_t depth
    ) nogil
    Py_ssize_t columns_of_tiles(Py_ssize_t rows) nogil
    Py_ssize_t columns_at_once(Py_ssize_t rows, Py_ssize_t left) nogil
    void rows_of_tiles(
        FloatTile t, Py_ssize_t rows, Py_ssize_t columns, const Ahead* ahead
    ) nogil
    void float_product(
        const float* a, Py_ssize_t a_row, Py_ssize_t rows, const float* b, Py_ssize_t depth,
        Py_ssize_t columns, float* out, Py_ssize_t out_row, bint adds
    ) nogil


cdef inline Py_ssize_t packed_size(Py_ssize_t columns, Py_ssize_t depth) noexcept nogil:
    """Floats of the panels of a matrix."""
    return (columns + PANEL - 1) // PANEL * PANEL * depth
