# The blocks of a product of matrices of floats.
#
# A block of some columns is packed into a near cache and multiplied at once by all rows, which
# fetch the next block meanwhile. So the right matrix is read once and never copied as a whole.

from pyqref._kernels._parallel cimport is_ending
from pyqref._kernels.product.float_tile cimport (
    BLOCK, FLOAT_ROWS, PANEL, Ahead, FloatTile, columns_at_once, columns_of_tiles, pack_rows,
    pack_transposed, rows_of_tiles,
)

cdef enum:
    FEW = 256                       # rows whose sums, of one panel, stay in a near cache
    SPAN = 2048                     # depths that are packed at once for more rows
    FETCHING = 24                   # rows whose products take longer than fetching the next block
    NEAR = 1 << 17                  # floats on the left that stay in a near cache
    SUMS = 1 << 16                  # sums that do
    LONG = 1 << 24                  # products after which is_ending is asked again


# ``out = start + a @ b`` of matrices whose rows and columns are so many floats apart. Of ``b``,
# those of either lie side by side; ``start`` is one row, or NULL; rows of ``out`` are ``out_row``
# apart.
cdef struct Product:
    const float* a
    const float* b
    const float* start
    float* out
    Py_ssize_t a_row, a_column, b_row, b_column, out_row
    Py_ssize_t rows, depth, columns


cdef inline Py_ssize_t span_of(const Product* p) noexcept nogil:
    """Depths that are packed at a time."""
    return min(p.depth, <Py_ssize_t> (BLOCK if p.rows <= FEW else SPAN))


cdef inline Py_ssize_t group_of(const Product* p) noexcept nogil:
    """Columns that meet a block of rows before the next one: many where the rows are far."""
    cdef Py_ssize_t step = columns_of_tiles(p.rows)
    if p.rows > FEW or p.rows * p.depth <= NEAR:
        return step
    return max(step, SUMS // p.rows // step * step)


cdef inline void pack(
    const Product* p, Py_ssize_t first, Py_ssize_t deep, Py_ssize_t column, Py_ssize_t wide,
    float* panels
) noexcept nogil:
    cdef const float* b = p.b + first * p.b_row + column * p.b_column
    if p.b_column == 1:
        pack_rows(panels, b, p.b_row, wide, deep)
    else:
        pack_transposed(panels, b, p.b_column, wide, deep)


cdef inline Ahead what_comes(
    const Product* p, Py_ssize_t first, Py_ssize_t column, Py_ssize_t wide
) noexcept nogil:
    """The lines of a block of ``b``; none where rows are few, or there are no columns."""
    cdef Ahead ahead
    cdef Py_ssize_t deep = min(<Py_ssize_t> BLOCK, p.depth - first)
    ahead.first = p.b + first * p.b_row + column * p.b_column
    if p.b_column == 1:
        ahead.apart, ahead.lines, ahead.floats = p.b_row, deep if wide else 0, wide
    else:
        ahead.apart, ahead.lines, ahead.floats = p.b_column, wide, deep
    if p.rows < FETCHING:
        ahead.lines = 0
    return ahead


cdef inline void multiply_block(
    const Product* p, Py_ssize_t at, Py_ssize_t deep, Py_ssize_t column, Py_ssize_t wide,
    const float* panels, const Ahead* ahead
) noexcept nogil:
    """All rows by some depths of some columns."""
    cdef FloatTile t
    cdef Py_ssize_t row = 0
    cdef Py_ssize_t rows = LONG // (deep * wide)
    cdef Py_ssize_t asked = 0
    cdef Py_ssize_t first
    while row < p.rows:
        if row - asked > rows:
            if is_ending():
                return
            asked = row
        first = at
        while first < at + deep:
            t.a = p.a + row * p.a_row + first * p.a_column
            t.a_row, t.a_step = p.a_row, p.a_column
            t.b = panels + (first - at) * PANEL
            t.b_panel, t.depth = deep * PANEL, min(<Py_ssize_t> BLOCK, at + deep - first)
            t.out, t.out_row = p.out + row * p.out_row + column, p.out_row
            t.start, t.start_row = t.out, t.out_row
            if first == 0:
                t.start, t.start_row = NULL if p.start == NULL else p.start + column, 0
            rows_of_tiles(t, min(<Py_ssize_t> FLOAT_ROWS, p.rows - row), wide, ahead)
            first += BLOCK
        row += FLOAT_ROWS


cdef inline void multiply(const Product* p, float* panels) noexcept nogil:
    """``panels`` has room for ``span_of`` depths of ``columns_of_tiles`` columns."""
    cdef Py_ssize_t span = span_of(p)
    cdef Py_ssize_t group = group_of(p)
    cdef Py_ssize_t begin = 0
    cdef Py_ssize_t end, at, deep, column, wide, next_column, next_at
    cdef Ahead ahead
    while begin < p.columns:
        end = min(begin + group, p.columns)
        at = 0
        while at < p.depth:
            deep = min(span, p.depth - at)
            column = begin
            while column < end:
                if is_ending():
                    return
                wide = columns_at_once(p.rows, end - column)
                pack(p, at, deep, column, wide, panels)
                next_column, next_at = column + wide, at
                if next_column == end and at + deep < p.depth:
                    next_column, next_at = begin, at + deep
                elif next_column == end:
                    next_at = 0
                ahead = what_comes(
                    p, next_at, next_column, columns_at_once(p.rows, p.columns - next_column)
                )
                multiply_block(p, at, deep, column, wide, panels, &ahead)
                column += wide
            at += deep
        begin = end
