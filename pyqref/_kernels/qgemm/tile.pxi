# What tile.h offers: included by the bodies of qgemm and qconv.

cdef enum:
    PANEL_COLUMNS = 64

cdef extern from "qgemm/tile.h":
    enum:
        NARROW_TILE_ROWS    # rows of tiles narrower than TILE_VECTORS
        MOST_TILE_ROWS
    ctypedef struct Tile:
        const uint8_t** x
        Py_ssize_t pitch, pieces, quads
        const int8_t* panel
        Py_ssize_t step
        const int8_t* ahead
        Py_ssize_t ahead_step
        const int32_t* start
        int32_t* sums
        const float* multiplier
        const float* bias
        float bias_multiplier
        int zero_point, lower, upper
        uint8_t* out
        Py_ssize_t out_stride
        int used
    void multiply_tile(int rows, int vectors, const Tile* tile) nogil
