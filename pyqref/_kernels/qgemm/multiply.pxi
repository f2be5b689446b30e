# Rows times panels of packed weights, in blocks: included by the bodies of qgemm and qconv.
#
# The rows come from a function that makes them: the product does not know whether they are
# rows of a matrix or the windows of an image.

ctypedef const uint8_t* Bytes


# Gives `count` rows from `first` as bytes, unsigned, each padded to a multiple of four: sets
# pointers to where they already are, or writes them into `scratch` one after another.
ctypedef void (*GiveRows)(
    const void* source, Py_ssize_t first, Py_ssize_t count, uint8_t* scratch,
    const uint8_t** rows,
) noexcept nogil


cdef enum:
    BLOCK_ROWS = 48                 # rows that are made at a time, at most
    SCRATCH_BYTES = 1 << 18         # and the bytes that they may take
    BALANCED = 8                    # blocks a thread from which their ends matter no more
    WORK_PER_THREAD = 1 << 23       # products that are worth a thread


cdef struct Product:
    Py_ssize_t rows, columns, quads
    GiveRows give_rows
    bint rows_are_cheap             # to give again, for other columns
    const void* source
    const int8_t* panels
    Epilogue* epilogue
    uint8_t* out
    Py_ssize_t out_stride           # elements between rows
    Py_ssize_t out_itemsize
    uint8_t* scratch                # scratch_size bytes for each thread
    Py_ssize_t scratch_size
    Py_ssize_t block_rows, blocks, column_splits


cdef inline int32_t sum_of(const uint8_t* row, Py_ssize_t n) noexcept nogil:
    cdef int32_t total = 0
    cdef Py_ssize_t i
    for i in range(n):
        total += row[i]
    return total


cdef void multiply_panel(
    Product* p, Py_ssize_t first_row, Py_ssize_t count, const uint8_t** rows,
    const int32_t* row_sums, Py_ssize_t first_column,
) noexcept nogil:
    """Some rows times one panel."""
    cdef int32_t[TILE_ROWS * PANEL_COLUMNS] sums
    cdef Columns columns
    cdef int used = <int> min(<Py_ssize_t> PANEL_COLUMNS, p.columns - first_column)
    cdef int width = (used + 15) // 16 * 16
    cdef const int8_t* panel = p.panels + first_column * p.quads * 4
    cdef uint8_t* out
    cdef Py_ssize_t row = 0
    cdef int tile_rows, column, vectors, r
    load_columns(p.epilogue, &columns, first_column, used)
    while row < count:
        tile_rows = <int> min(<Py_ssize_t> TILE_ROWS, count - row)
        column = 0
        while column < width:
            vectors = min(<int> TILE_VECTORS, (width - column) // SIMD_LANES)
            multiply_tile(
                tile_rows, vectors, rows + row, panel + column * 4, width * 4, p.quads,
                sums + column,
            )
            column += TILE_VECTORS * SIMD_LANES
        if p.epilogue.store == BYTES and p.epilogue.weight_zero_points == NULL:
            finish_bytes(
                p.epilogue, &columns, sums, tile_rows,
                p.out + (first_row + row) * p.out_stride + first_column, p.out_stride, used,
            )
            row += tile_rows
            continue
        for r in range(tile_rows):
            out = p.out + ((first_row + row + r) * p.out_stride + first_column) * p.out_itemsize
            finish_row(
                p.epilogue, &columns, sums + r * PANEL_COLUMNS, row_sums[row + r], out, used
            )
        row += tile_rows


cdef void multiply_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """One block of rows times some of the panels."""
    cdef Product* p = <Product*> context
    cdef Bytes[BLOCK_ROWS] rows
    cdef int32_t[BLOCK_ROWS] row_sums
    # Columns vary slowest: a thread keeps to its part of the weights.
    cdef Py_ssize_t first_row = index % p.blocks * p.block_rows
    cdef Py_ssize_t count = min(p.block_rows, p.rows - first_row)
    cdef Py_ssize_t split = index // p.blocks
    cdef Py_ssize_t panels = (p.columns + PANEL_COLUMNS - 1) // PANEL_COLUMNS
    cdef Py_ssize_t panel = split * panels // p.column_splits
    cdef Py_ssize_t last = (split + 1) * panels // p.column_splits
    cdef Py_ssize_t r
    p.give_rows(p.source, first_row, count, p.scratch + thread * p.scratch_size, rows)
    memset(row_sums, 0, sizeof(row_sums))
    if p.epilogue.weight_zero_points != NULL:
        for r in range(count):
            row_sums[r] = sum_of(rows[r], 4 * p.quads) - INPUT_SHIFT * <int32_t> p.epilogue.depth
    while panel < last:
        multiply_panel(p, first_row, count, rows, row_sums, panel * PANEL_COLUMNS)
        panel += 1


cdef void cut(Product* p, int n_threads) noexcept nogil:
    """Choose blocks of rows, and parts of the columns, that keep all threads busy."""
    cdef Py_ssize_t panels = (p.columns + PANEL_COLUMNS - 1) // PANEL_COLUMNS
    cdef Py_ssize_t most = min(<Py_ssize_t> BLOCK_ROWS, SCRATCH_BYTES // (4 * p.quads + 1))
    cdef Py_ssize_t fair
    most = max(most // TILE_ROWS, <Py_ssize_t> 1) * TILE_ROWS
    p.blocks = (p.rows + most - 1) // most
    p.column_splits = 1
    if p.blocks < BALANCED * n_threads:
        if p.rows_are_cheap or p.rows < n_threads * TILE_ROWS:
            p.column_splits = min(panels, <Py_ssize_t> n_threads)
        if p.column_splits < n_threads:
            p.blocks = (p.blocks + n_threads - 1) // n_threads * n_threads
    fair = (p.rows + p.blocks - 1) // p.blocks
    p.block_rows = (fair + TILE_ROWS - 1) // TILE_ROWS * TILE_ROWS
    p.blocks = (p.rows + p.block_rows - 1) // p.block_rows


cdef int multiply(Product* p, int n_threads) except -1 nogil:
    """Run the product that ``p`` describes; fills in how it is cut into tasks."""
    cdef double products = <double> p.rows * p.columns * 4 * p.quads
    if p.rows == 0 or p.columns == 0:
        return 0
    n_threads = useful_threads(products, WORK_PER_THREAD, n_threads)
    cut(p, n_threads)
    p.scratch_size = (p.block_rows * 4 * p.quads // 64 + 1) * 64
    p.scratch = <uint8_t*> malloc(p.scratch_size * n_threads)
    if p.scratch == NULL:
        with gil:
            raise MemoryError()
    parallel_for(multiply_task, p, p.blocks * p.column_splits, n_threads)
    free(p.scratch)
    return 0
