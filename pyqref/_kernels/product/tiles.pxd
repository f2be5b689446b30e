# A block of rows times panels in the tile registers of AMX.
#
# The product is made in parts: a group of rows times some columns of a panel, as many as there are
# registers for. Tile registers are multiplied by a unit of their own in the processor. While it
# works on one part, the vector units finish the sums of the part before.

from libc.stdint cimport int8_t, int32_t, uint8_t
from libc.string cimport memcpy, memset
from pyqref._kernels._parallel cimport is_ending
from pyqref._kernels.cache cimport LINE, next_line
from pyqref._kernels.product.description cimport (
    BLOCK_ROWS_OF_TILES, GROUP_ROWS, HEIGHT, LONG_PANEL, PANEL_COLUMNS, TILE_DEPTH, Bytes, Columns,
    Product, Span, place_of_row, prefetch_bytes,
)
from pyqref._kernels.product.epilogue cimport finish_tile, load_columns
from pyqref._kernels.product.given_rows cimport take_rows
from pyqref._kernels.product.plan cimport padded_for_tiles

cdef extern from "simd/tiles.h":
    void tiles_configure(int first_rows, int second_rows) nogil
    void tiles_release() nogil
    void tiles_clear() nogil
    void tiles_multiply(
        int row_tiles, int column_tiles, const uint8_t* x, const uint8_t* second, Py_ssize_t x_row,
        const int8_t* w, Py_ssize_t w_quad,
    ) nogil
    void tiles_store(int row_tiles, int column_tiles, int32_t* sums) nogil

cdef enum:
    TILE_QUADS = 16
    MOST_SPANS = BLOCK_ROWS_OF_TILES // 4   # of a block


# Rows of a part that one tile has.
cdef struct Strip:
    const int32_t* sums
    const int32_t* row_sums
    uint8_t* out
    int rows                        # that are left


# A part whose sums are known and wait to be finished.
cdef struct Part:
    const Columns* columns
    int column, used                # first one, in its panel, and how many
    Strip[2] strips


cdef inline void finish_some(Product* p, Part* part, int rows) noexcept nogil:
    cdef Py_ssize_t out_stride = p.out_stride * p.out_itemsize
    cdef Strip* strip
    cdef int i, some
    for i in range(2):
        strip = &part.strips[i]
        some = min(rows, strip.rows)
        if some == 0:
            continue
        finish_tile(
            p.epilogue, part.columns, part.column, strip.sums, strip.row_sums, some, strip.out,
            out_stride, part.used,
        )
        strip.sums += some * PANEL_COLUMNS
        strip.row_sums += some
        strip.out += some * out_stride
        strip.rows -= some
        rows -= some


cdef inline Py_ssize_t rows_in_reach(
    const Product* p, Py_ssize_t first_row, Py_ssize_t count
) noexcept nogil:
    """How many rows tiles may read where they lie, in whole groups but for the last.

    A tile reads 64 depths at a time: what follows a row meets weights that are zero.
    """
    cdef Py_ssize_t padded = padded_for_tiles(p.layout.depth)
    cdef Py_ssize_t rows
    if p.matrix == NULL:
        return 0
    rows = p.matrix_end - p.matrix - padded
    rows = rows // p.matrix_row + 1 - first_row if rows >= 0 else 0
    if rows >= count:
        return count
    return max(rows, <Py_ssize_t> 0) // GROUP_ROWS * GROUP_ROWS


# What lies ahead: the next panel, some of which is fetched with each step of this one.
cdef struct Ahead:
    const int8_t* at
    Py_ssize_t left, some           # bytes


cdef inline void look_ahead(
    const Product* p, Ahead* ahead, Py_ssize_t panel, Py_ssize_t steps
) noexcept nogil:
    """Fetch a panel within so many steps."""
    cdef Py_ssize_t first_column = panel * PANEL_COLUMNS
    ahead.at = p.panels + first_column * p.quads * 4
    ahead.left = min(<Py_ssize_t> PANEL_COLUMNS, p.columns - first_column) * p.quads * 4
    ahead.some = (ahead.left + steps * LINE - 1) // (steps * LINE) * LINE


cdef inline void fetch_some(Ahead* ahead) noexcept nogil:
    if ahead.left > 0:
        prefetch_bytes(ahead.at, ahead.some)
        ahead.at += ahead.some
        ahead.left -= ahead.some


# Where a block of rows lies, for the tiles that multiply it.
cdef struct Block:
    Py_ssize_t first_row, count
    Py_ssize_t in_reach             # rows that are not copied
    Py_ssize_t tiles                # of rows
    Span[MOST_SPANS] spans          # where these are spans


cdef inline Span tile_of_rows(
    const Product* p, const Block* block, uint8_t* scratch, Py_ssize_t index
) noexcept nogil:
    """A tile of a block; what is copied lies, or will lie, in scratch."""
    cdef Span span
    if p.spans.give != NULL:
        return block.spans[index]
    span.row, span.known = index * HEIGHT, 0
    span.rows = <int> min(<Py_ssize_t> HEIGHT, block.count - span.row)
    if span.row < block.in_reach:
        span.x = p.matrix + (block.first_row + span.row) * p.matrix_row
    else:
        span.x = place_of_row(scratch, &p.layout, span.row)
    return span


cdef inline void multiply_in_tiles(
    Product* p, uint8_t* scratch, Py_ssize_t first_row, Py_ssize_t count, Py_ssize_t panel,
    Py_ssize_t last, uint8_t* out,
) noexcept nogil:
    """A block of rows times some of the panels; results begin at ``out``.

    Each group of rows is written into scratch when its first columns are due.
    """
    cdef Bytes[GROUP_ROWS] rows
    cdef int32_t[BLOCK_ROWS_OF_TILES] row_sums
    cdef int32_t[GROUP_ROWS * PANEL_COLUMNS + LINE] buffer
    cdef int32_t* sums = <int32_t*> next_line(buffer)
    cdef Columns[2] columns         # of this panel, and of the one before
    cdef int8_t[TILE_QUADS * PANEL_COLUMNS * 4] rest_of_panel
    cdef Part part, waiting
    cdef Strip* strip
    cdef Block block
    cdef Span[2] span
    cdef Ahead ahead
    cdef Py_ssize_t steps = p.quads // TILE_QUADS
    cdef int rest = <int> (p.quads % TILE_QUADS)
    # Rows of a part that are finished with each step of the next one: so few that the tiles of
    # several steps are among what the processor executes out of order.
    cdef int some = 2 * <int> max(GROUP_ROWS // 2 // max(steps, <Py_ssize_t> 1), <Py_ssize_t> 1)
    cdef Py_ssize_t first_panel = panel
    cdef Py_ssize_t index, step, w_quad, first_column, x_row, x_step, at, passes
    cdef const int8_t* w
    cdef int most_column_tiles, used, width, column, column_tiles, row_tiles, i
    cdef int[2] configured = [0, 0]
    cdef bint is_long = count * PANEL_COLUMNS * p.quads * 4 >= LONG_PANEL
    memset(&waiting, 0, sizeof(waiting))
    memset(&ahead, 0, sizeof(ahead))
    memset(span, 0, sizeof(span))
    block.first_row, block.count = first_row, count
    block.in_reach = rows_in_reach(p, first_row, count)
    if p.spans.give != NULL:
        block.in_reach = count
        block.tiles = p.spans.give(p.source, first_row, count, scratch, block.spans)
    else:
        block.tiles = (count + HEIGHT - 1) // HEIGHT
    memset(row_sums, 0, block.in_reach * sizeof(int32_t))
    most_column_tiles = 4 if block.tiles == 1 else 2
    while panel < last:
        first_column = panel * PANEL_COLUMNS
        used = <int> min(<Py_ssize_t> PANEL_COLUMNS, p.columns - first_column)
        width = (used + 15) // 16 * 16
        w_quad = width * 4
        part.columns = &columns[panel & 1]
        load_columns(p.epilogue, &columns[panel & 1], first_column, used)
        if rest:
            memset(rest_of_panel, 0, sizeof(rest_of_panel))
            memcpy(
                rest_of_panel,
                p.panels + (first_column * p.quads + steps * TILE_QUADS * width) * 4,
                rest * w_quad,
            )
        if block.tiles > 2 and panel + 1 < last:
            passes = (width + 16 * most_column_tiles - 1) // (16 * most_column_tiles)
            look_ahead(
                p, &ahead, panel + 1,
                passes * ((block.tiles + 1) // 2) * max(steps, <Py_ssize_t> 1),
            )
        index = 0
        while index < block.tiles:
            # All columns of the panel, for two tiles of rows that lie in the nearest cache by then.
            row_tiles = 2 if index + 1 < block.tiles else 1
            span[1].rows = 0
            for i in range(row_tiles):
                span[i] = tile_of_rows(p, &block, scratch, index + i)
            if configured[0] != span[0].rows or configured[1] != span[1].rows:
                configured[0], configured[1] = span[0].rows, span[1].rows
                tiles_configure(configured[0], configured[1])
            if p.spans.give != NULL:
                x_row, x_step = p.spans.row, 0
            elif span[0].row < block.in_reach:
                x_row, x_step = p.matrix_row, TILE_DEPTH
            else:
                x_row = p.layout.row
                x_step = TILE_DEPTH if p.whole_rows else p.layout.slice_step
                if panel == first_panel:
                    take_rows(
                        p, first_row + span[0].row, span[0].rows + span[1].rows,
                        <uint8_t*> span[0].x, rows, row_sums + span[0].row,
                    )
            column = 0
            while column < width:
                column_tiles = min(most_column_tiles, (width - column) // 16)
                part.column, part.used = column, min(column_tiles * 16, used - column)
                part.strips[1].rows = 0
                for i in range(row_tiles):
                    strip = &part.strips[i]
                    at = span[i].row + span[i].known
                    strip.rows = span[i].rows - span[i].known
                    strip.sums = sums + (i * HEIGHT + span[i].known) * PANEL_COLUMNS
                    strip.row_sums = row_sums + at
                    strip.out = out + (
                        at * p.out_stride + first_column + column
                    ) * p.out_itemsize
                tiles_clear()
                w = p.panels + (first_column * p.quads + column) * 4
                for step in range(steps):
                    at = step * x_step if p.spans.give == NULL else p.spans.offsets[step]
                    tiles_multiply(
                        row_tiles, column_tiles, span[0].x + at, span[1].x + at, x_row, w, w_quad
                    )
                    w += TILE_QUADS * w_quad
                    finish_some(p, &waiting, some)
                    fetch_some(&ahead)
                if rest:
                    at = steps * x_step
                    tiles_multiply(
                        row_tiles, column_tiles, span[0].x + at, span[1].x + at, x_row,
                        rest_of_panel + column * 4, w_quad,
                    )
                finish_some(p, &waiting, GROUP_ROWS)
                tiles_store(row_tiles, column_tiles, sums)
                waiting = part
                column += most_column_tiles * 16
            index += row_tiles
        panel += 1
        if panel < last and is_long and is_ending():
            break
    finish_some(p, &waiting, GROUP_ROWS)
    tiles_release()
