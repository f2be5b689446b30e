# A block of rows times panels in the tile registers of AMX: included by multiply.pxi.
#
# The product is made in parts: a group of rows times some columns of a panel, as many as there are
# registers for. Tile registers are multiplied by a unit of their own in the processor. While it
# works on one part, the vector units finish the sums of the part before.

cdef extern from "simd/tiles.h":
    enum:
        HAS_TILES
    void tiles_configure(int first_rows, int second_rows) nogil
    void tiles_release() nogil
    void tiles_clear() nogil
    void tiles_multiply(
        int row_tiles, int column_tiles, const uint8_t* x, Py_ssize_t x_row, const int8_t* w,
        Py_ssize_t w_quad,
    ) nogil
    void tiles_store(int row_tiles, int column_tiles, int32_t* sums) nogil

cdef enum:
    TILE_DEPTH = 64                 # depths in a row of a tile of inputs
    TILE_QUADS = 16
    ROWS_WORTH_TILES = 2            # fewer are multiplied by vectors


# A part whose sums are known and wait to be finished.
cdef struct Part:
    const Columns* columns
    int column, used                # first one, in its panel, and how many
    const int32_t* sums
    const int32_t* row_sums
    uint8_t* out
    int rows                        # that are left


cdef inline void finish_some(Product* p, Part* part, int rows) noexcept nogil:
    cdef Py_ssize_t out_stride = p.out_stride * p.out_itemsize
    rows = min(rows, part.rows)
    if rows == 0:
        return
    finish_tile(
        p.epilogue, part.columns, part.column, part.sums, part.row_sums, rows, part.out,
        out_stride, part.used,
    )
    part.sums += rows * PANEL_COLUMNS
    part.row_sums += rows
    part.out += rows * out_stride
    part.rows -= rows


cdef Py_ssize_t rows_in_reach(
    const Product* p, Py_ssize_t first_row, Py_ssize_t count
) noexcept nogil:
    """How many rows tiles may read where they lie, in whole groups but for the last.

    A tile reads 64 depths at a time: what follows a row meets weights that are zero.
    """
    cdef Py_ssize_t padded = padded_for_tiles(p.layout.depth)
    cdef Py_ssize_t room
    if p.matrix == NULL:
        return 0
    room = p.matrix_end - p.matrix - padded
    room = room // p.matrix_row + 1 - first_row if room >= 0 else 0
    if room >= count:
        return count
    return max(room, <Py_ssize_t> 0) // GROUP_ROWS * GROUP_ROWS


cdef void multiply_in_tiles(
    Product* p, uint8_t* scratch, Py_ssize_t first_row, Py_ssize_t count, Py_ssize_t panel,
    Py_ssize_t last, uint8_t* out,
) noexcept nogil:
    """A block of rows times some of the panels; results begin at ``out``.

    Each group of rows is written into scratch when its first columns are due.
    """
    cdef Bytes[GROUP_ROWS] rows
    cdef int32_t[BLOCK_ROWS_OF_TILES] row_sums
    cdef int32_t[GROUP_ROWS * PANEL_COLUMNS + LINE] room
    cdef int32_t* sums = <int32_t*> next_line(room)
    cdef Columns[2] columns         # of this panel, and of the one before
    cdef int8_t[TILE_QUADS * PANEL_COLUMNS * 4] rest_of_panel
    cdef Part part, waiting
    cdef Py_ssize_t in_reach = rows_in_reach(p, first_row, count)
    cdef Py_ssize_t x_row, x_step
    cdef Py_ssize_t steps = p.quads // TILE_QUADS
    cdef int rest = <int> (p.quads % TILE_QUADS)
    # Of a part: enough at a time to load what its columns need once for many rows.
    cdef Py_ssize_t pause = max(steps // 4, <Py_ssize_t> 1)
    cdef int most_column_tiles = 4 if count <= 16 else 2
    cdef const int8_t* w
    cdef const uint8_t* group
    cdef uint8_t* copies
    cdef Py_ssize_t first_panel = panel
    cdef Py_ssize_t row, step, w_quad, first_column
    cdef int used, width, column, column_tiles, row_tiles
    cdef int configured = 0
    memset(&waiting, 0, sizeof(waiting))
    memset(row_sums, 0, in_reach * sizeof(int32_t))
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
        column = 0
        while column < width:
            column_tiles = min(most_column_tiles, (width - column) // 16)
            part.column, part.used = column, min(column_tiles * 16, used - column)
            row = 0
            while row < count:
                part.rows = <int> min(<Py_ssize_t> GROUP_ROWS, count - row)
                part.sums = sums
                part.row_sums = row_sums + row
                part.out = out + (
                    row * p.out_stride + first_column + column
                ) * p.out_itemsize
                row_tiles = 2 if part.rows > 16 else 1
                if configured != part.rows:
                    configured = part.rows
                    tiles_configure(min(16, part.rows), max(0, part.rows - 16))
                if row < in_reach:
                    group = p.matrix + (first_row + row) * p.matrix_row
                    x_row, x_step = p.matrix_row, TILE_DEPTH
                else:
                    group = copies = scratch + row // GROUP_ROWS * p.layout.group
                    x_row = p.layout.row
                    x_step = TILE_DEPTH if p.whole_rows else p.layout.run
                    if panel == first_panel and column == 0:
                        take_rows(p, first_row + row, part.rows, copies, rows, row_sums + row)
                tiles_clear()
                w = p.panels + (first_column * p.quads + column) * 4
                for step in range(steps):
                    tiles_multiply(row_tiles, column_tiles, group, x_row, w, w_quad)
                    group += x_step
                    w += TILE_QUADS * w_quad
                    if step % pause == 0:
                        finish_some(p, &waiting, GROUP_ROWS // 4)
                if rest:
                    tiles_multiply(
                        row_tiles, column_tiles, group, x_row, rest_of_panel + column * 4, w_quad
                    )
                finish_some(p, &waiting, GROUP_ROWS)
                tiles_store(row_tiles, column_tiles, sums)
                waiting = part
                row += GROUP_ROWS
            column += most_column_tiles * 16
        panel += 1
    finish_some(p, &waiting, GROUP_ROWS)
    tiles_release()
