# Winograd's convolution: kernels of 3 by 3 that move by one pixel, in a quarter of the products.

cdef extern from "qconv/winograd.h":
    enum:
        PAIR_ROWS
        TILE_OUTPUTS
        TILE_INPUTS
        POSITIONS
        EXACT_CHANNELS
        CENTRE
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

cdef enum:
    WHOLE_CHANNELS = 32             # inputs are a multiple of it
    TOGETHER = 12                   # tiles that are multiplied at a time
    FEW_TILES = 16                  # whose sums are worth less room for channels
    TILE_SUMS = TILE_OUTPUTS * TILE_OUTPUTS * PANEL_COLUMNS
    # From a position to the next a line more than it has: all lie in other sets of the caches.
    APART = LINE // 2               # numbers of 16 bits
    PRODUCTS_APART = TOGETHER * PANEL_COLUMNS + LINE // 4
    # What else takes time, in products of bytes by vectors: to transform a weight, an input of a
    # tile for a panel, and a sum of a tile for some channels.
    WEIGHT_PRICE = 280
    INPUT_PRICE = 450
    SUM_PRICE = 1000


cdef struct Winograd:
    const Image* image
    const Epilogue* epilogue
    const int8_t* panels
    uint8_t* out
    Py_ssize_t high, wide, tiles    # of an image; of all of them
    Py_ssize_t chunk, chunks        # tiles that share transformed weights
    # Scratch of a thread: weights and inputs transformed, their products, sums.
    uint8_t* scratch
    Py_ssize_t channels             # at a time
    Py_ssize_t weights_apart, inputs_apart
    Py_ssize_t inputs_at, products_at, sums_at, scratch_size


cdef inline Py_ssize_t panels_of(const Epilogue* e) noexcept nogil:
    return (e.columns + PANEL_COLUMNS - 1) // PANEL_COLUMNS


cdef inline Py_ssize_t in_tiles_of(int64_t outputs) noexcept nogil:
    return (outputs + TILE_OUTPUTS - 1) // TILE_OUTPUTS


cdef inline Py_ssize_t tiles_of(const Image* image) noexcept nogil:
    return image.batch * in_tiles_of(image.out[1]) * in_tiles_of(image.out[2])


cdef inline Py_ssize_t taken_of(Py_ssize_t channels) noexcept nogil:
    """Bytes of scratch, without sums, for so many channels at a time."""
    cdef Py_ssize_t inputs = TOGETHER * channels + APART
    cdef Py_ssize_t weights = channels * PANEL_COLUMNS + APART
    return POSITIONS * (2 * (inputs + weights) + 4 * PRODUCTS_APART)


cdef inline Py_ssize_t channels_at_once(const Image* image, Py_ssize_t room) noexcept nogil:
    """How many there is room for, beside the sums of some tiles."""
    cdef Py_ssize_t channels = EXACT_CHANNELS
    if taken_of(channels) + FEW_TILES * TILE_SUMS * 4 > room:
        channels //= 2
    return min(image.inputs, channels)


cdef inline Py_ssize_t passes_of(const Image* image, Py_ssize_t room) noexcept nogil:
    """How often the sums of a tile are added to."""
    cdef Py_ssize_t channels = channels_at_once(image, room)
    return (image.inputs + channels - 1) // channels


cdef inline Py_ssize_t chunks_of(const Image* image, Py_ssize_t room) noexcept nogil:
    """Into how many parts tiles are divided at least: sums are kept from a pass to the next."""
    cdef Py_ssize_t kept
    if passes_of(image, room) == 1:
        return 1
    kept = room - LINE - taken_of(channels_at_once(image, room))
    kept //= TILE_SUMS * 4
    return (tiles_of(image) + kept - 1) // kept


cdef double price_of(
    const Image* image, const Epilogue* e, bint transformed, Py_ssize_t room
) noexcept nogil:
    """Time that outputs take, as a number of products of bytes by vectors."""
    cdef double weights = <double> image.inputs * e.columns
    cdef double tiles = tiles_of(image)
    if not transformed:
        return image.batch * image.out[1] * image.out[2] * 9 * weights
    return (
        tiles * PAIR_PRICE * POSITIONS * weights
        + chunks_of(image, room) * WEIGHT_PRICE * weights
        + tiles * INPUT_PRICE * image.inputs * panels_of(e)
        + tiles * SUM_PRICE * passes_of(image, room) * <double> e.columns
    )


cdef bint fits_winograd(const Image* image, const Epilogue* e) noexcept nogil:
    """Whether tiles may compute outputs at all."""
    cdef int64_t depths = image.size[0] * image.kernel[0] * image.out[0]
    cdef int axis
    if not PAIR_PRICE or HAS_TILES or e.store != BYTES:
        return False
    if image.flip or e.weight_zero_points != NULL:
        return False
    if depths != 1 or image.padding[0] != 0 or image.inputs % WHOLE_CHANNELS or not image.inputs:
        return False
    for axis in range(1, 3):
        if image.kernel[axis] != 3 or image.stride[axis] != 1 or image.dilation[axis] != 1:
            return False
    return True


cdef bint suits_winograd(
    const Image* image, const Epilogue* e, Py_ssize_t room, Image* tiled
) noexcept nogil:
    """Whether tiles save clearly more products than their transforms take time.

    ``tiled`` becomes the image with the outputs that are best computed so: all of them, or those
    of whole tiles.
    """
    cdef Image whole = image[0]
    cdef double direct, best, some
    cdef int axis
    if not fits_winograd(image, e):
        return False
    direct = price_of(image, e, False, room)
    best = price_of(image, e, True, room)
    tiled[0] = image[0]
    for axis in range(1, 3):
        whole.out[axis] -= whole.out[axis] % TILE_OUTPUTS
    some = price_of(&whole, e, True, room) + direct - price_of(&whole, e, False, room)
    if whole.out[1] and whole.out[2] and some < best:
        best = some
        tiled[0] = whole
    return best < 0.9 * direct


cdef void point_to_tile(
    const Winograd* w, Py_ssize_t tile, Py_ssize_t first, const uint8_t* blank,
    const uint8_t** pixels,
) noexcept nogil:
    """The pixels that a tile sees, at one of their channels."""
    cdef const Image* image = w.image
    cdef int64_t left = tile % w.wide * TILE_OUTPUTS - image.padding[2]
    cdef int64_t top = tile // w.wide % w.high * TILE_OUTPUTS - image.padding[1]
    cdef Py_ssize_t index = tile // (w.wide * w.high)
    cdef const uint8_t* line
    cdef bint is_there
    cdef int y, x
    for y in range(TILE_INPUTS):
        line = image.x + first
        line += ((index * image.size[1] + top + y) * image.size[2] + left) * image.channels
        is_there = is_in(image, 1, top + y)
        for x in range(TILE_INPUTS):
            pixels[x] = line if is_there and is_in(image, 2, left + x) else blank
            line += image.channels
        pixels += TILE_INPUTS


cdef void finish_winograd(
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


cdef void multiply_tiles(
    const Winograd* w, int tiles, int width, int channels, const int16_t* inputs,
    const int16_t* weights, int32_t* products,
) noexcept nogil:
    """Some tiles by a panel, position after position."""
    cdef int times = (tiles + PAIR_ROWS - 1) // PAIR_ROWS
    cdef int position, column, vectors, i, row, rows
    for position in range(POSITIONS):
        row = 0
        for i in range(times):
            rows = tiles // times + (i < tiles % times)
            column = 0
            while column < width:
                vectors = min(<int> TILE_VECTORS, (width - column) // SIMD_LANES)
                multiply_pairs(
                    rows, vectors, inputs + row * channels, channels, channels // 2,
                    weights + 2 * column, 2 * width, weights + w.weights_apart + LINE * (i % 2),
                    products + row * PANEL_COLUMNS + column,
                )
                column += TILE_VECTORS * SIMD_LANES
            row += rows
        inputs += w.inputs_apart
        weights += w.weights_apart
        products += PRODUCTS_APART


cdef void winograd_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some tiles by one panel."""
    cdef const Winograd* w = <const Winograd*> context
    cdef const Image* image = w.image
    cdef uint8_t* scratch = w.scratch + thread * w.scratch_size
    cdef int16_t* weights = <int16_t*> scratch
    cdef int16_t* inputs = <int16_t*> (scratch + w.inputs_at)
    cdef int32_t* products = <int32_t*> (scratch + w.products_at)
    cdef int32_t* sums
    cdef Py_ssize_t panel = index // w.chunks
    cdef Py_ssize_t first_tile = index % w.chunks * w.chunk
    cdef Py_ssize_t last_tile = min(first_tile + w.chunk, w.tiles)
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
        channels = <int> min(w.channels, image.inputs - first)
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
                if w.channels < image.inputs:
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


cdef int winograd(
    const Image* image, const Epilogue* e, const int8_t* panels, uint8_t* out, Py_ssize_t room,
    int n_threads,
) except -1 nogil:
    """``eq-winograd`` for each tile of four by four outputs, in ``room`` bytes a thread."""
    cdef Winograd w
    cdef Epilogue lowered = e[0]
    cdef uint8_t* scratch
    lowered.x_zero_point -= CENTRE
    w.image, w.epilogue, w.panels, w.out = image, &lowered, panels, out
    w.high, w.wide = in_tiles_of(image.out[1]), in_tiles_of(image.out[2])
    w.tiles, w.channels = tiles_of(image), channels_at_once(image, room)
    n_threads = useful_threads(
        <double> w.tiles * PAIR_PRICE * POSITIONS * image.inputs * e.columns, WORK_PER_THREAD,
        n_threads,
    )
    w.chunks = chunks_of(image, room)
    # As much for every thread, where there are tiles enough.
    while panels_of(e) * w.chunks % n_threads and w.chunks < w.tiles:
        w.chunks += 1
    w.chunk = (w.tiles + w.chunks - 1) // w.chunks
    w.chunks = (w.tiles + w.chunk - 1) // w.chunk
    w.weights_apart = w.channels * PANEL_COLUMNS + APART
    w.inputs_apart = TOGETHER * w.channels + APART
    w.inputs_at = POSITIONS * 2 * w.weights_apart
    w.products_at = w.inputs_at + POSITIONS * 2 * w.inputs_apart
    w.sums_at = w.products_at + POSITIONS * 4 * PRODUCTS_APART
    w.scratch_size = w.sums_at + TILE_SUMS * 4 * (w.chunk if w.channels < image.inputs else 1)
    scratch = <uint8_t*> malloc(w.scratch_size * n_threads + LINE)
    if scratch == NULL:
        with gil:
            raise MemoryError()
    w.scratch = <uint8_t*> next_line(scratch)
    parallel_for(winograd_task, &w, panels_of(e) * w.chunks, n_threads)
    free(scratch)
    return 0


cdef int beside_tiles(
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
