# How a product is laid out in scratch and cut into tasks.

from libc.stdint cimport int32_t
from pyqref._kernels._parallel cimport useful_threads
from pyqref._kernels.cache cimport LINE, suits_streams, whole_lines
from pyqref._kernels.product.description cimport (
    BLOCK_POINTERS, BLOCK_ROWS, BLOCK_ROWS_OF_TILES, COLUMNS_IN_PLACE, COPIED_TOO_MUCH,
    DEEPEST_TILES, FUSED, GROUP_ROWS, HAS_TILES, IN_PLACE_BYTES, LEAST_BLOCK_ROWS, NARROW_TILE_ROWS,
    PANEL_COLUMNS, RESULT_BYTES, SEPARATE, TILE_DEPTH, WORK_PER_THREAD, Layout,
    Product, Spans,
)
from pyqref._kernels.simd.primitives cimport *

cdef enum:
    ROWS_WORTH_TILES = 2            # fewer are multiplied by vectors
    TILES_FASTER = 3                # as many products take tile registers the time of one
    FINISHING = 32                  # products in the time in which a sum is begun and finished
    LEAST_COLUMNS = 32              # fewer take as long
    READING = 20                    # products in the time in which a weight comes from memory
    BALANCED = 8                    # blocks a thread from which their ends matter no more


cdef inline Py_ssize_t padded_for_tiles(Py_ssize_t depth) noexcept nogil:
    return (depth + TILE_DEPTH - 1) // TILE_DEPTH * TILE_DEPTH


cdef inline bint suits_tiles(const Product* p) noexcept nogil:
    """Return True if tile registers multiply ``rows`` of ``quads``."""
    return HAS_TILES and p.rows >= ROWS_WORTH_TILES and 0 < 4 * p.quads <= DEEPEST_TILES


cdef inline Py_ssize_t most_columns_in_place(const Product* p) noexcept nogil:
    """For more columns, rows are worth a copy in which they begin at cache lines, far apart."""
    if (<Py_ssize_t> p.matrix | p.matrix_row) % LINE:
        return COLUMNS_IN_PLACE
    return 8 * COLUMNS_IN_PLACE


cdef inline void lay_out(Product* p) noexcept nogil:
    """Choose between tile registers and vectors, and where rows lie in the scratch."""
    cdef Py_ssize_t depth = 4 * p.quads
    cdef Py_ssize_t padded = padded_for_tiles(depth)
    cdef Layout* layout = &p.layout
    p.in_tiles = suits_tiles(p)
    p.copies = p.spans.give == NULL and (p.in_tiles or p.give_rows_in_place == NULL)
    if p.copies:
        p.segments = 1
    layout.slices, layout.slice_depth, layout.depth = 1, depth, depth
    layout.row = layout.slice_step = depth
    if p.in_tiles and p.whole_rows:
        # Rows whose distance is a multiple of 512 would meet in few sets of the cache.
        layout.row = padded + (0 if padded % 512 else TILE_DEPTH)
        layout.slice_depth = padded
    elif p.in_tiles:
        layout.slices, layout.slice_depth = padded // TILE_DEPTH, TILE_DEPTH
        layout.row, layout.slice_step = TILE_DEPTH, TILE_DEPTH * GROUP_ROWS
    layout.group = layout.row * GROUP_ROWS
    if layout.slices > 1:
        layout.group = layout.slice_step * layout.slices
    if p.epilogue.weight_zero_points != NULL:
        p.matrix = NULL             # the sums of rows are wanted
    if p.columns > most_columns_in_place(p) and depth > TILE_DEPTH:
        p.matrix = NULL             # rows are read so often that they are worth a copy


cdef inline bint real_results_suit_streams(const Product* p) noexcept nogil:
    cdef Py_ssize_t row = p.columns * p.out_itemsize
    if p.epilogue.store != FUSED and p.epilogue.store != SEPARATE:
        return False
    return suits_streams(p.out, row, p.out_stride * p.out_itemsize, p.rows * row)


cdef inline bint shares_columns(const Product* p, Py_ssize_t granule, int n_threads) noexcept nogil:
    """Return True if threads share out the columns, each with all rows, instead of the rows.

    Weights are then read by one thread each. But it does not pay to write the same rows into
    scratch several times, nor, where panels are few, to leave one thread with more than its share.
    """
    cdef Py_ssize_t panels = (p.columns + PANEL_COLUMNS - 1) // PANEL_COLUMNS
    cdef Py_ssize_t splits = min(panels, <Py_ssize_t> n_threads)
    cdef Py_ssize_t granules = (p.rows + granule - 1) // granule
    cdef Py_ssize_t widest = 0
    cdef Py_ssize_t i, end
    cdef double of_columns, of_rows
    cdef double price = p.row_price if p.copies else 1
    if p.columns < price * p.rows and granules >= n_threads:
        return False
    for i in range(splits):
        end = min((i + 1) * panels // splits * PANEL_COLUMNS, p.columns)
        widest = max(widest, end - i * panels // splits * PANEL_COLUMNS)
    of_columns = <double> widest * splits / p.columns
    of_rows = <double> ((granules + n_threads - 1) // n_threads * granule) * n_threads / p.rows
    return of_columns <= 1.1 * of_rows


cdef inline Py_ssize_t scratch_for_spans(const Spans* spans, Py_ssize_t rows) noexcept nogil:
    """Bytes of scratch for the lines under some lines of rows, wherever they begin."""
    cdef Py_ssize_t lines = rows // spans.line
    cdef Py_ssize_t images = (lines + spans.lines - 2) // spans.lines + 1
    return spans.copy * (lines * spans.step + images * spans.more)


cdef inline Py_ssize_t granule_of(const Product* p) noexcept nogil:
    """Rows that are multiplied together."""
    if p.spans.give != NULL:
        return p.spans.line
    if p.in_tiles:
        return GROUP_ROWS
    return TILE_ROWS if p.columns > (TILE_VECTORS - 1) * SIMD_LANES else NARROW_TILE_ROWS


cdef inline void cut(Product* p, int n_threads) noexcept nogil:
    """Choose blocks of rows, and parts of the columns, that keep all threads busy."""
    cdef Py_ssize_t panels = (p.columns + PANEL_COLUMNS - 1) // PANEL_COLUMNS
    cdef Py_ssize_t granule = granule_of(p)
    cdef Py_ssize_t most = BLOCK_ROWS_OF_TILES if p.in_tiles else BLOCK_ROWS
    cdef Py_ssize_t bytes_of_rows = p.most_scratch
    cdef Py_ssize_t granules = (p.rows + granule - 1) // granule
    if p.spans.give != NULL:
        most -= most % granule
        while most > granule and scratch_for_spans(&p.spans, most) > bytes_of_rows:
            most -= granule
    else:
        if not (p.copies or p.has_edges):
            bytes_of_rows = IN_PLACE_BYTES
        most = min(most, bytes_of_rows * GROUP_ROWS // (p.layout.group + 1))
    most = min(most, BLOCK_POINTERS // p.segments)
    if p.put_rows != NULL:
        most = min(most, RESULT_BYTES // p.columns)
    elif not (p.in_tiles or p.streams):
        # Results of a block, written a panel at a time, stay in cache until their lines are whole.
        most = min(most, max(<Py_ssize_t> LEAST_BLOCK_ROWS,
                             RESULT_BYTES // (p.columns * p.out_itemsize)))
    most = max(most // granule, <Py_ssize_t> 1) * granule
    p.blocks = (p.rows + most - 1) // most
    p.column_splits = 1
    if p.blocks < BALANCED * n_threads:
        if shares_columns(p, granule, n_threads):
            p.column_splits = min(panels, <Py_ssize_t> n_threads)
        if p.column_splits < n_threads:
            p.blocks = (p.blocks + n_threads - 1) // n_threads * n_threads
    p.blocks = min(p.blocks, granules)
    p.granule, p.granules = granule, granules
    p.block_rows = (granules + p.blocks - 1) // p.blocks * granule
    p.layout.pitch = p.block_rows


cdef inline Py_ssize_t first_row_of(const Product* p, Py_ssize_t block) noexcept nogil:
    """Return the first row of a block: blocks differ by one granule at most."""
    return min(block * p.granules // p.blocks * p.granule, p.rows)


cdef inline double work_of(const Product* p) noexcept nogil:
    """Return the cost of a product, as a number of products of bytes by vectors."""
    cdef Py_ssize_t depth = 4 * p.quads
    cdef double work = <double> p.rows * max(p.columns, <Py_ssize_t> LEAST_COLUMNS)
    work *= depth + FINISHING
    if p.in_tiles:
        work /= TILES_FASTER
    return work + <double> READING * p.columns * depth


cdef inline int plan_product(Product* p, int n_threads) noexcept nogil:
    """Fill in how a product is laid out and cut; how many threads are worth it."""
    cdef Py_ssize_t groups, size
    lay_out(p)
    p.streams = real_results_suit_streams(p)
    n_threads = useful_threads(work_of(p), WORK_PER_THREAD, n_threads)
    cut(p, n_threads)
    p.pointers_at = 0
    if p.copies or p.has_edges:
        groups = (p.block_rows + GROUP_ROWS - 1) // GROUP_ROWS
        size = groups * p.layout.group if p.in_tiles else p.block_rows * p.layout.row
        p.pointers_at = whole_lines(size + p.layout.row + COPIED_TOO_MUCH)
    if p.spans.give != NULL:
        p.pointers_at = whole_lines(scratch_for_spans(&p.spans, p.block_rows))
    p.results_at = p.pointers_at + whole_lines(p.block_rows * (
        p.segments * <Py_ssize_t> sizeof(void*) + <Py_ssize_t> sizeof(int32_t)
    ))
    p.scratch_size = p.results_at
    if p.put_rows != NULL:
        p.scratch_size += whole_lines(p.block_rows * p.out_stride)
    return n_threads
