# Winograd's convolution: kernels of 3 by 3 that move by one pixel, in a quarter of the products.

from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t
from libc.string cimport memset
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.cache cimport LINE, next_line
from pyqref._kernels.product.description cimport (
    PANEL_COLUMNS, WORK_PER_THREAD, Bytes, Columns, Epilogue, Tile,
)
from pyqref._kernels.product.kernel cimport finish_tile, load_columns
from pyqref._kernels.qconv.groups cimport each_group
from pyqref._kernels.qconv.im2col cimport Image, Position, is_in, place_of_result
from pyqref._kernels.qconv.winograd_plan cimport (
    APART, CENTRE, EXACT_CHANNELS, PAIR_ROWS, POSITIONS, PRODUCTS_APART, TILE_INPUTS, TILE_OUTPUTS,
    TILE_SUMS, TOGETHER, Tiling, in_tiles_of, panels_of,
)
from pyqref._kernels.simd.primitives cimport *

cdef extern from "qconv/winograd.h":
    void transform_inputs(
        const uint8_t** pixels, int channels, int16_t* target, Py_ssize_t apart
    ) nogil
    void transform_weights(
        const int8_t* panel, Py_ssize_t tap, int width, int quads, int16_t* target,
        Py_ssize_t apart,
    ) nogil
    void multiply_pairs(
        int rows, int vectors, const int16_t* x, Py_ssize_t x_step, Py_ssize_t pairs,
        const int16_t* panel, Py_ssize_t step, const int16_t* ahead, int32_t* sums,
    ) nogil
    void transform_outputs(
        const int32_t* products, Py_ssize_t apart, int width, int more, int32_t* sums
    ) nogil
    void finish_outputs(
        const int32_t* products, Py_ssize_t apart, int vectors, const int32_t* sums, Tile* tile,
        int lines, int pixels, Py_ssize_t line,
    ) nogil


cdef struct Winograd:
    const Image* image
    const Epilogue* epilogue
    const int8_t* panels
    uint8_t* out
    const Tiling* tiling
    Py_ssize_t high, wide           # tiles of an image
    # Scratch of a thread: weights and inputs transformed, their products, sums.
    uint8_t* scratch
    Py_ssize_t weights_apart, inputs_apart
    Py_ssize_t inputs_at, products_at, sums_at, scratch_size


cdef inline void point_to_tile(
    const Winograd* w, Py_ssize_t tile, Py_ssize_t first, const uint8_t* blank,
    const uint8_t** pixels,
) noexcept nogil:
    """The pixels that a tile sees, at one of their channels."""
    cdef const Image* image = w.image
    cdef int64_t left = tile % w.wide * TILE_OUTPUTS - image.padding[2]
    cdef int64_t top = tile // w.wide % w.high * TILE_OUTPUTS - image.padding[1]
    cdef Py_ssize_t index = tile // (w.wide * w.high)
    cdef int64_t place
    cdef bint is_there
    cdef int y, x
    for y in range(TILE_INPUTS):
        place = ((index * image.size[1] + top + y) * image.size[2] + left) * image.channels + first
        is_there = is_in(image, 1, top + y)
        for x in range(TILE_INPUTS):
            pixels[x] = image.x + place if is_there and is_in(image, 2, left + x) else blank
            place += image.channels
        pixels += TILE_INPUTS


cdef inline void finish_winograd(
    const Winograd* w, Columns* columns, Py_ssize_t index, Py_ssize_t panel, int used,
    const int32_t* products, int32_t* sums, bint more,
) noexcept nogil:
    """Store the outputs of a tile that are outputs of the image."""
    cdef const Image* image = w.image
    cdef const Epilogue* e = w.epilogue
    cdef int32_t[TILE_OUTPUTS] row_sums
    cdef Py_ssize_t column = 0
    cdef Py_ssize_t width = (used + 15) // 16 * 16
    cdef int lines, pixels, i
    cdef uint8_t* out
    cdef Position p
    cdef Tile tile
    p.at[0], p.at[2] = 0, index % w.wide * TILE_OUTPUTS
    p.at[1] = index // w.wide % w.high * TILE_OUTPUTS
    p.image = index // (w.wide * w.high)
    lines = <int> min(<Py_ssize_t> TILE_OUTPUTS, image.out[1] - p.at[1])
    pixels = <int> min(<Py_ssize_t> TILE_OUTPUTS, image.out[2] - p.at[2])
    out = w.out + place_of_result(image, &p) + panel * PANEL_COLUMNS
    if not columns.in_registers:
        transform_outputs(products, PRODUCTS_APART, <int> width, more, sums)
        memset(row_sums, 0, sizeof(row_sums))
        for i in range(lines):
            finish_tile(
                e, columns, 0, sums + i * TILE_OUTPUTS * PANEL_COLUMNS, row_sums, pixels,
                out + i * image.step[2], image.step[3], used,
            )
        return
    tile.bias_multiplier = e.bias_multiplier
    tile.zero_point, tile.lower, tile.upper = e.zero_point, e.lower, e.upper
    tile.out_stride = image.step[3]
    while column < width:
        tile.start = columns.offset + column
        tile.multiplier, tile.bias = columns.multiplier + column, columns.bias + column
        tile.out = out + column
        tile.used = <int> min(used - column, <Py_ssize_t> TILE_VECTORS * SIMD_LANES)
        finish_outputs(
            products + column, PRODUCTS_APART,
            <int> min(<Py_ssize_t> TILE_VECTORS, (width - column) // SIMD_LANES),
            sums + column if more else NULL, &tile, lines, pixels, image.step[2],
        )
        column += TILE_VECTORS * SIMD_LANES


cdef inline void multiply_tiles(
    const Winograd* w, int tiles, int width, int channels, const int16_t* inputs,
    const int16_t* weights, int32_t* products,
) noexcept nogil:
    """Some tiles by a panel, position after position."""
    cdef const int16_t* panel
    cdef int times = (tiles + PAIR_ROWS - 1) // PAIR_ROWS
    cdef int _position, column, vectors, i, row, rows
    for _position in range(POSITIONS):
        row = 0
        for i in range(times):
            rows = tiles // times + (i < tiles % times)
            column = 0
            while column < width:
                vectors = min(<int> TILE_VECTORS, (width - column) // SIMD_LANES)
                panel = weights + 2 * column
                multiply_pairs(
                    rows, vectors, inputs + row * channels, channels, channels // 2, panel,
                    2 * width, panel + w.weights_apart + LINE * (i % 2),
                    products + row * PANEL_COLUMNS + column,
                )
                column += TILE_VECTORS * SIMD_LANES
            row += rows
        inputs += w.inputs_apart
        weights += w.weights_apart
        products += PRODUCTS_APART


cdef inline void winograd_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some tiles by one panel."""
    cdef const Winograd* w = <const Winograd*> context
    cdef const Image* image = w.image
    cdef uint8_t* scratch = w.scratch + thread * w.scratch_size
    cdef int16_t* weights = <int16_t*> scratch
    cdef int16_t* inputs = <int16_t*> (scratch + w.inputs_at)
    cdef int32_t* products = <int32_t*> (scratch + w.products_at)
    cdef int32_t* sums
    cdef Py_ssize_t panel = index // w.tiling.chunks
    cdef Py_ssize_t first_tile = index % w.tiling.chunks * w.tiling.chunk
    cdef Py_ssize_t last_tile = min(first_tile + w.tiling.chunk, w.tiling.tiles)
    cdef int used = <int> min(
        <Py_ssize_t> PANEL_COLUMNS, w.epilogue.columns - panel * PANEL_COLUMNS
    )
    cdef int width = (used + 15) // 16 * 16
    cdef const int8_t* panels = w.panels + panel * PANEL_COLUMNS * 9 * image.inputs
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t tile
    cdef int channels, tiles, i
    cdef Bytes[POSITIONS] pixels
    cdef uint8_t[EXACT_CHANNELS] blank
    cdef Columns columns
    memset(blank, image.zero_point, sizeof(blank))
    load_columns(w.epilogue, &columns, panel * PANEL_COLUMNS, used)
    while first < image.inputs:
        channels = <int> min(w.tiling.channels, image.inputs - first)
        transform_weights(
            panels + first * width, image.inputs * width, width, channels // 4, weights,
            w.weights_apart,
        )
        tile = first_tile
        while tile < last_tile:
            tiles = <int> min(<Py_ssize_t> TOGETHER, last_tile - tile)
            for i in range(tiles):
                point_to_tile(w, tile + i, first, blank, pixels)
                transform_inputs(pixels, channels, inputs + i * channels, w.inputs_apart)
            multiply_tiles(w, tiles, width, channels, inputs, weights, products)
            for i in range(tiles):
                sums = <int32_t*> (scratch + w.sums_at)
                if w.tiling.passes > 1:
                    sums += (tile + i - first_tile) * TILE_SUMS
                if first + channels == image.inputs:
                    finish_winograd(
                        w, &columns, tile + i, panel, used, products + i * PANEL_COLUMNS, sums,
                        first > 0,
                    )
                else:
                    transform_outputs(
                        products + i * PANEL_COLUMNS, PRODUCTS_APART, width, first > 0, sums
                    )
            tile += tiles
        first += channels


cdef inline int winograd(
    const Image* image, const Epilogue* e, const Tiling* tiling, const int8_t* panels,
    uint8_t* out, int n_threads,
) except -1 nogil:
    """``eq-winograd`` for each tile of four by four outputs."""
    cdef Winograd w
    cdef Epilogue lowered = e[0]
    cdef Py_ssize_t channels = tiling.channels
    cdef uint8_t* scratch
    lowered.x_zero_point -= CENTRE
    w.image, w.epilogue, w.tiling, w.panels, w.out = image, &lowered, tiling, panels, out
    w.high, w.wide = in_tiles_of(image.out[1]), in_tiles_of(image.out[2])
    w.weights_apart = channels * PANEL_COLUMNS + APART
    w.inputs_apart = TOGETHER * channels + APART
    w.inputs_at = POSITIONS * 2 * w.weights_apart
    w.products_at = w.inputs_at + POSITIONS * 2 * w.inputs_apart
    w.sums_at = w.products_at + POSITIONS * 4 * PRODUCTS_APART
    w.scratch_size = w.sums_at + TILE_SUMS * 4 * (tiling.chunk if tiling.passes > 1 else 1)
    n_threads = useful_threads(tiling.price * n_threads, WORK_PER_THREAD, n_threads)
    scratch = <uint8_t*> malloc(w.scratch_size * n_threads + LINE)
    if scratch == NULL:
        with gil:
            raise MemoryError()
    w.scratch = <uint8_t*> next_line(scratch)
    parallel_for(winograd_task, &w, panels_of(e) * tiling.chunks, n_threads)
    free(scratch)
    return 0


cdef inline int beside_tiles(
    const Image* image, const Image* tiled, Epilogue* e, const int8_t* panels, uint8_t* out,
    int n_threads,
) except -1 nogil:
    """Outputs that no tile computes: to the right of them, and below."""
    cdef Image rest
    cdef int axis
    for axis in range(2, 0, -1):
        if tiled.out[axis] < image.out[axis]:
            rest = image[0]
            rest.out[axis] -= tiled.out[axis]
            rest.padding[axis] -= tiled.out[axis]
            if axis == 2:
                rest.out[1] = tiled.out[1]
            each_group(
                &rest, e, panels, rest.batch * rest.out[1] * rest.out[2], e.columns, 1, 1,
                out + tiled.out[axis] * image.step[1 + axis], n_threads,
            )
    return 0
