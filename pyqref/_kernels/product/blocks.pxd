# Rows times panels of packed weights, in blocks.
#
# The rows come from a function that makes them: the product does not know whether they are
# rows of a matrix or the windows of an image.

from libc.stdint cimport int8_t, int32_t, uint8_t
from libc.string cimport memset
from pyqref._kernels._parallel cimport is_ending
from pyqref._kernels.cache cimport LINE, next_line, scratch_step
from pyqref._kernels.product.description cimport (
    HAS_FEW_LARGE, LARGE_ONES, LONG_PANEL, MOST_TILE_ROWS, NARROW_TILE_ROWS, PANEL_COLUMNS,
    READ_AHEAD, SAMPLED_ROWS, STREAM_AHEAD, SUMS, Columns, Epilogue, Product, Tile,
)
from pyqref._kernels.product.epilogue cimport finish_tile, load_columns
from pyqref._kernels.product.given_rows cimport take_rows
from pyqref._kernels.product.plan cimport first_row_of
from pyqref._kernels.product.tiles cimport multiply_in_tiles
from pyqref._kernels.simd.primitives cimport *

cdef extern from "product/tile.h":
    int vectors_of_tile(int rows, Py_ssize_t left, bint is_only) nogil
    void multiply_alike(int rows, int vectors, Tile* tile) nogil


cdef inline bint are_few_large(
    const Product* p, Py_ssize_t count, const uint8_t** rows
) noexcept nogil:
    """Return True if at most one in ``LARGE_ONES`` inputs of some of the rows is above 127."""
    cdef Py_ssize_t size = 4 * p.quads // p.segments
    cdef Py_ssize_t step = max(count // SAMPLED_ROWS, <Py_ssize_t> 1)
    cdef Py_ssize_t large = 0, looked = 0, r = 0, segment, i
    cdef const uint8_t* x
    while r < count:
        for segment in range(p.segments):
            x = rows[segment * p.block_rows + r]
            for i in range(size):
                large += x[i] >> 7
        looked += p.segments * size
        r += step
    return large * LARGE_ONES <= looked


cdef inline void fill_tile(
    const Product* p, const Columns* columns, Tile* tile, int32_t* sums
) noexcept nogil:
    """Fill in the fields that the tiles of a panel share."""
    cdef const Epilogue* e = p.epilogue
    tile.pitch, tile.segments, tile.quads = p.block_rows, p.segments, p.quads // p.segments
    tile.bias_multiplier = e.bias_multiplier
    tile.zero_point, tile.lower, tile.upper = e.zero_point, e.lower, e.upper
    tile.out_stride, tile.streams = p.out_stride * p.out_itemsize, p.streams
    tile.store = e.store if columns.in_registers else SUMS
    tile.sums = sums


cdef inline void multiply_panel(
    Product* p, Py_ssize_t count, const uint8_t** rows, const int32_t* row_sums, bint few_large,
    Py_ssize_t first_column, const int8_t* next_panel, uint8_t* out,
) noexcept nogil:
    """Some rows times one panel; the next one is fetched meanwhile.

    ``out`` is where the first row of results begins.
    """
    cdef int32_t[MOST_TILE_ROWS * PANEL_COLUMNS + LINE] buffer
    cdef int32_t[PANEL_COLUMNS] zeros
    cdef int32_t* sums = <int32_t*> next_line(buffer)
    # Vectors that tiles read of it shall not straddle lines: of two places one begins a line.
    cdef Columns[2] columns_buffer
    cdef Columns* columns = <Columns*> next_line(columns_buffer)
    cdef Tile tile
    cdef int used = <int> min(<Py_ssize_t> PANEL_COLUMNS, p.columns - first_column)
    cdef int width = (used + 15) // 16 * 16
    cdef const int8_t* panel = p.panels + first_column * p.quads * 4
    cdef Py_ssize_t most_rows = TILE_ROWS
    cdef Py_ssize_t i, tiles, higher, row, alike
    cdef const uint8_t* x
    cdef const uint8_t* y
    cdef int column, vectors, least_rows, tile_rows
    cdef bint is_whole
    load_columns(p.epilogue, columns, first_column, used)
    fill_tile(p, columns, &tile, sums)
    tile.step, tile.few_large = width * 4, few_large
    out += first_column * p.out_itemsize
    if width < TILE_VECTORS * SIMD_LANES or TILE_ROWS < count <= NARROW_TILE_ROWS:
        most_rows = NARROW_TILE_ROWS
    if not columns.in_registers:
        memset(zeros, 0, sizeof(zeros))
    # Equally high: one row alone would take nearly as long as a full tile.
    tiles = (count + most_rows - 1) // most_rows
    least_rows, higher = <int> (count // tiles), count % tiles
    # Where each reads all of its columns at once, those of one height are multiplied in one call.
    is_whole = columns.in_registers and width <= TILE_VECTORS * SIMD_LANES
    row = i = 0
    while i < tiles:
        tile_rows = least_rows + (i < higher)
        alike = (higher if i < higher else tiles) - i
        tile.panel, tile.ahead, tile.ahead_step = panel, panel, 0
        if first_column == 0 and tile.quads >= 16 and row + 2 * most_rows < count:
            x = rows[(p.segments - 1) * p.block_rows + row + most_rows]
            y = rows[(p.segments - 1) * p.block_rows + row + 2 * most_rows]
            alike = 1
            if 0 < y - x < 256 * p.quads:
                tile.ahead, tile.ahead_step = <const int8_t*> x, (y - x) // p.quads
        elif 1 < tiles and i < READ_AHEAD and next_panel != NULL:
            alike = min(alike, READ_AHEAD - i)
            tile.ahead_step = PANEL_COLUMNS * 4 // min(tiles, <Py_ssize_t> READ_AHEAD)
            tile.ahead = next_panel + i * p.quads * tile.ahead_step
        if not is_whole:
            alike = 1
        column = 0
        while column < width:
            vectors = vectors_of_tile(tile_rows, (width - column) // SIMD_LANES, tiles == 1)
            if column > 0:
                tile.panel, tile.ahead, tile.ahead_step = panel + column * 4, panel, 0
            if tiles == 1 and vectors * SIMD_LANES < width and next_panel != NULL:
                # Each of several passes fetches its part of the next panel as it lies: from memory,
                # a panel of which each fetched only its columns took twice as long.
                tile.ahead_step = vectors * SIMD_LANES * 4
                tile.ahead = next_panel + column * 4 * p.quads
            elif tiles == 1:
                tile.ahead, tile.ahead_step = tile.panel + STREAM_AHEAD, tile.step
            tile.tiles, tile.x = alike, rows + row
            tile.start = columns.offset + column
            tile.multiplier, tile.bias = columns.multiplier + column, columns.bias + column
            tile.out = out + column * p.out_itemsize
            tile.used = min(used - column, vectors * SIMD_LANES)
            if not columns.in_registers:
                tile.start, tile.sums = zeros, sums + column
            multiply_alike(tile_rows, vectors, &tile)
            column += vectors * SIMD_LANES
        if not columns.in_registers:
            finish_tile(
                p.epilogue, columns, 0, sums, row_sums + row, tile_rows, out, tile.out_stride,
                used,
            )
        out += alike * tile_rows * tile.out_stride
        row += alike * tile_rows
        i += alike


cdef inline void multiply_panels(
    Product* p, Py_ssize_t end, Py_ssize_t count, const uint8_t** rows, const int32_t* row_sums,
    Py_ssize_t panel, Py_ssize_t last, uint8_t* out,
) noexcept nogil:
    """A block of rows, which stops before row ``end``, times some of the panels."""
    cdef Py_ssize_t first_panel = panel
    cdef Py_ssize_t panel_size = PANEL_COLUMNS * p.quads * 4
    cdef const int8_t* ahead
    cdef bint is_long = count * panel_size >= LONG_PANEL
    cdef bint few_large = HAS_FEW_LARGE and are_few_large(p, count, rows)
    while panel < last:
        if is_long and is_ending():
            return
        ahead = p.panels + (panel + 1) * panel_size
        if panel + 1 == last:
            # The next block begins with the first panel, if there is one.
            ahead = NULL
            if end < p.rows and panel > first_panel:
                ahead = p.panels + first_panel * panel_size
        multiply_panel(
            p, count, rows, row_sums, few_large, panel * PANEL_COLUMNS, ahead, out
        )
        panel += 1


cdef inline void multiply_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """One block of rows times some of the panels."""
    cdef Product* p = <Product*> context
    cdef uint8_t* scratch = p.scratch + thread * scratch_step(p.scratch_size)
    cdef const uint8_t** rows = <const uint8_t**> (scratch + p.pointers_at)
    cdef int32_t* row_sums = <int32_t*> (rows + p.block_rows * p.segments)
    # Columns vary slowest: a thread keeps to its part of the weights.
    cdef Py_ssize_t first_row = first_row_of(p, index % p.blocks)
    cdef Py_ssize_t count = first_row_of(p, index % p.blocks + 1) - first_row
    cdef Py_ssize_t split = index // p.blocks
    cdef Py_ssize_t panels = (p.columns + PANEL_COLUMNS - 1) // PANEL_COLUMNS
    cdef Py_ssize_t panel = split * panels // p.column_splits
    cdef Py_ssize_t last = (split + 1) * panels // p.column_splits
    cdef Py_ssize_t column = panel * PANEL_COLUMNS
    cdef Py_ssize_t columns = min(last * PANEL_COLUMNS, p.columns) - column
    cdef uint8_t* out = p.out + first_row * p.out_stride * p.out_itemsize
    if p.put_rows != NULL:
        out = scratch + p.results_at
    if p.fetch_rows != NULL:
        p.fetch_rows(
            p.source, first_row, count, out + column, p.out_stride, columns, p.out + column
        )
    if p.in_tiles:
        multiply_in_tiles(p, scratch, first_row, count, panel, last, out)
    else:
        take_rows(p, first_row, count, scratch, rows, row_sums)
        multiply_panels(p, first_row + count, count, rows, row_sums, panel, last, out)
    if p.put_rows != NULL:
        p.put_rows(
            p.source, first_row, count, out + column, p.out_stride, columns, p.out + column
        )
    if p.streams:
        finish_streams()
