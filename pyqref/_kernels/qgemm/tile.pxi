# What tile.h offers: included by the bodies of qgemm and qconv.

cdef enum:
    PANEL_COLUMNS = 64

cdef extern from "qgemm/tile.h":
    enum:
        NARROW_TILE_ROWS    # rows of tiles narrower than TILE_VECTORS
        MOST_TILE_ROWS
    # What is stored of the exact sums.
    ctypedef enum Store:
        BYTES       # eq-requantize
        SUMS        # int32, as they are
        FUSED       # eq-dynamic-output of fbgemm: float32, fma(sum, multiplier, bias)
        SEPARATE    # eq-dynamic-output of qnnpack: float32, sum * multiplier + bias, rounded twice
        ADDED       # eq-requantize-function: of SEPARATE plus what the bytes that are there mean
    ctypedef struct Tile:
        Py_ssize_t tiles
        const uint8_t** x
        Py_ssize_t pitch, pieces, quads
        const int8_t* panel
        Py_ssize_t step
        const int8_t* ahead
        Py_ssize_t ahead_step
        const int32_t* start
        Store store
        int32_t* sums
        const float* multiplier
        const float* bias
        float bias_multiplier
        int zero_point, lower, upper
        uint8_t* out
        Py_ssize_t out_stride
        int used, streams
    int vectors_of_tile(int rows, Py_ssize_t left, bint is_only) nogil
    void multiply_alike(int rows, int vectors, Tile* tile) nogil
