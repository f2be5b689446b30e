# What a product is: its rows, which a function of the layer gives, its panels and its epilogue.
#
# A layer fills in a Product and calls multiply.

cimport numpy as cnp
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from pyqref._kernels.simd.primitives cimport *

cdef enum:
    PANEL_COLUMNS = 64
    HEIGHT = 16         # rows of inputs in a tile register of AMX
    TILE_DEPTH = 64     # depths in one of them
    WORK_PER_THREAD = 1 << 21   # products by vectors that are worth a thread

cdef extern from "product/tile_shape.h":
    enum:
        NARROW_TILE_ROWS    # rows of tiles narrower than TILE_VECTORS
        HAS_FEW_LARGE
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
        Py_ssize_t pitch, segments, quads
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
        int used, few_large, streams

cdef extern from "simd/tiles.h":
    enum:
        HAS_TILES

cdef extern from "simd/prefetch.h":
    void prefetch_bytes(const void* first, Py_ssize_t count) nogil


# What is added to real results before their one rounding: bytes that lie where the results go.
cdef struct Addend:
    float scale
    int32_t zero_point
    float inverse                       # of the scale of the results
    bint relu


# How the columns of a matrix product are finished; numerics/requantize.py states the order.
# An array with step 0 holds one value for all columns.
cdef struct Epilogue:
    int32_t x_zero_point
    Py_ssize_t depth                    # factors in each sum
    Py_ssize_t columns
    const int32_t* weight_sums          # (N,)
    const int64_t* weight_zero_points   # (1,) or (N,); NULL: all zero
    Py_ssize_t weight_zero_point_step
    const float* multiplier             # (1,) or (N,)
    Py_ssize_t multiplier_step
    float x_scale                       # where multipliers are scales of weights; else 1
    const float* bias                   # (N,) or NULL
    const int32_t* integer_bias         # (N,) or NULL
    float bias_multiplier
    int32_t zero_point, lower, upper
    Store store
    Addend addend                       # where store is ADDED


cdef inline int bytes_of_result(const Epilogue* e) noexcept nogil:
    return 1 if e.store == BYTES or e.store == ADDED else 4


# The same for one panel of columns, padded with zeros to whole vectors.
cdef struct Columns:
    int32_t[PANEL_COLUMNS] offset       # added to the uncentred sums
    int32_t[PANEL_COLUMNS] weight_zero_point
    float[PANEL_COLUMNS] multiplier
    float[PANEL_COLUMNS] bias
    bint in_registers                   # whether a tile may finish the sums


cdef inline f32v scaled(
    f32v value, f32v multiplier, f32v bias, f32v bias_multiplier, f32v high
) noexcept nogil:
    """``eq-requantize-bias``, clamped from above; one formula serves every engine.

    ``fma(bias, bias_multiplier, acc)`` is ``acc + bias`` where the multiplier is 1, and
    ``acc`` where the bias is -0.0. The bounds are whole, so clamping first changes nothing.
    """
    return min_f32(mul_f32(fma_f32(bias, bias_multiplier, value), multiplier), high)


cdef inline i32v requantize(
    f32v value, f32v multiplier, f32v bias, f32v bias_multiplier, f32v low, f32v high,
    i32v zero_point,
) noexcept nogil:
    """``eq-requantize``."""
    cdef f32v real = scaled(value, multiplier, bias, bias_multiplier, high)
    return add_i32(to_i32(max_f32(real, low)), zero_point)


ctypedef const uint8_t* Bytes


# Where the bytes of rows lie that are written into scratch. Depths come in slices: of 64 for tile
# registers, else a row is one slice, padded to a multiple of four. Missing depths are zero.
cdef struct Layout:
    Py_ssize_t row                  # bytes from a row to the next of its group
    Py_ssize_t slice_step           # and from a slice to the next
    Py_ssize_t slice_depth          # depths in a slice
    Py_ssize_t slices
    Py_ssize_t depth                # that matter: a multiple of four; weights of others are zero
    Py_ssize_t group                # bytes from a group of GROUP_ROWS rows to the next
    Py_ssize_t pitch                # pointers from the first segment of a row to its second


# Gives `count` rows from `first` as bytes, unsigned: sets pointers to where they already are,
# or writes them into `scratch`. Each segment of a row has a pointer, those of the first segments of
# all rows before those of the second, and is readable up to a multiple of four bytes.
ctypedef void (*GiveRows)(
    const void* source, Py_ssize_t first, Py_ssize_t count, uint8_t* scratch,
    const Layout* layout, const uint8_t** rows,
) noexcept nogil

# Puts `size` bytes of each of `count` results from `first`, `step` bytes apart, where they belong,
# or takes what lies there.
ctypedef void (*MoveRows)(
    const void* source, Py_ssize_t first, Py_ssize_t count, uint8_t* results, Py_ssize_t step,
    Py_ssize_t size, uint8_t* out,
) noexcept nogil

# Up to 16 rows side by side whose depths lie equally far apart, wherever these are.
cdef struct Span:
    const uint8_t* x                # the first depth of the first row
    Py_ssize_t row                  # which one of its block that is
    int rows
    int known                       # of them, at first, that the span before has as well

# Gives `count` rows from `first`, both whole lines, as spans; returns how many there are.
ctypedef Py_ssize_t (*GiveSpans)(
    const void* source, Py_ssize_t first, Py_ssize_t count, uint8_t* scratch, Span* spans,
) noexcept nogil

# How tile registers read rows as spans: NULL and 0 where they do not.
cdef struct Spans:
    GiveSpans give
    const Py_ssize_t* offsets       # of each 64 depths from the first
    Py_ssize_t row                  # bytes from a row to the next
    Py_ssize_t line                 # rows of a line; blocks have whole ones
    # Lines of the input that a block takes scratch for, `copy` bytes each: `step` for each line
    # of rows, and `more` for each image, of `lines` such lines, that it begins or goes on with.
    Py_ssize_t copy, step, more, lines


cdef enum:
    BLOCK_ROWS = 1008               # rows that are made at a time, at most: 21 times 48
    LONG_PANEL = 1 << 22            # products of rows and a panel, for which it asks is_ending
    LEAST_BLOCK_ROWS = 192          # that results may not make fewer, where they are not scratch
    RESULT_BYTES = 1 << 18          # of a block, at most
    BLOCK_POINTERS = 8192           # to segments of these rows, at most
    BLOCK_ROWS_OF_TILES = 256       # rows where they are multiplied in tile registers
    GROUP_ROWS = 32                 # rows that tile registers multiply at a time
    SCRATCH_BYTES = 1 << 19         # that a block may take,
    SCRATCH_OF_TILES = 15 << 16     # in tile registers, where nothing else takes scratch,
    IN_PLACE_BYTES = 1 << 20        # or that its rows may be where they lie
    DEEPEST_TILES = 18432           # products of a sum; some rows of as many take little more
    READ_AHEAD = 8                  # tiles in which the next panel is fetched
    STREAM_AHEAD = 1 << 14          # bytes by which weights are fetched that are used only once
    COLUMNS_IN_PLACE = 128          # with more of them tiles want rows that begin at cache lines
    COPIED_TOO_MUCH = 64            # bytes that may be written after a row
    LARGE_ONES = 32                 # inputs of which one may be above 127 in are_few_large
    SAMPLED_ROWS = 16               # that are asked for it


cdef struct Product:
    Py_ssize_t rows, columns, quads
    GiveRows give_rows              # writes into scratch
    GiveRows give_rows_in_place     # or points; NULL where that is impossible
    bint whole_rows                 # written into scratch as one slice, never as several
    Py_ssize_t segments               # of a row, equally long, where rows are not copied: else 1
    bint has_edges                  # whether rows in place take scratch for some
    # Of writing rows: with fewer columns than this for each row, threads share the rows.
    float row_price
    const void* source
    # Rows as they lie, where their distance is the same everywhere; NULL: they do not.
    const uint8_t* matrix
    const uint8_t* matrix_end       # of what may be read
    Py_ssize_t matrix_row           # bytes from a row to the next
    Spans spans
    const int8_t* panels
    Epilogue* epilogue
    uint8_t* out
    Py_ssize_t out_stride           # elements between rows
    Py_ssize_t out_itemsize
    MoveRows put_rows               # of bytes, where results are not evenly apart; else NULL
    MoveRows fetch_rows             # to which such results are added; else NULL
    bint streams                    # whether real results go past the caches
    bint in_tiles                   # whether tile registers are used
    bint copies                     # whether rows are written into scratch
    Layout layout
    uint8_t* scratch                # scratch_size bytes for each thread, scratch_step apart
    Py_ssize_t scratch_size
    Py_ssize_t most_scratch         # of it, that rows of a block take
    Py_ssize_t pointers_at          # where in it those to rows begin
    Py_ssize_t results_at           # and the results of a block that are put in their places
    Py_ssize_t block_rows, blocks, column_splits
    Py_ssize_t granule, granules    # rows that are never shared, and how many of such


cdef inline uint8_t* place_of_row(
    uint8_t* scratch, const Layout* layout, Py_ssize_t r
) noexcept nogil:
    """Return the place where a row of a block begins."""
    return scratch + r // GROUP_ROWS * layout.group + r % GROUP_ROWS * layout.row


cdef inline void* data_or_null(array):
    return NULL if array is None else cnp.PyArray_DATA(<cnp.ndarray> array)
