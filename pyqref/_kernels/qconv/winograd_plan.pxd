# Which outputs of a convolution are computed in transformed tiles (eq-winograd), and how threads
# share these.

from libc.math cimport INFINITY
from libc.stdint cimport int64_t
from pyqref._kernels.cache cimport LINE
from pyqref._kernels.product.description cimport HAS_TILES, PANEL_COLUMNS, Epilogue, bytes_of_result
from pyqref._kernels.qconv.im2col cimport Image
from pyqref._kernels.simd.primitives cimport *

cdef extern from "qconv/winograd.h":
    enum:
        PAIR_ROWS
        TILE_OUTPUTS
        TILE_INPUTS
        POSITIONS
        EXACT_CHANNELS
        CENTRE

cdef enum:
    WHOLE_CHANNELS = 32             # inputs are a multiple of it
    TOGETHER = 12                   # tiles that are multiplied at a time
    FEW_TILES = 16                  # whose sums are worth less memory for channels
    TILE_SUMS = TILE_OUTPUTS * TILE_OUTPUTS * PANEL_COLUMNS
    # From a position to the next a line more than it has: all lie in other sets of the caches.
    APART = LINE // 2               # numbers of 16 bits
    PRODUCTS_APART = TOGETHER * PANEL_COLUMNS + LINE // 4
    # What else takes time, in products of bytes by vectors: to transform a weight, an input of a
    # tile for a panel, and a sum of a tile for some channels.
    WEIGHT_PRICE = 280
    INPUT_PRICE = 450
    SUM_PRICE = 1000
    # And an output beside all tiles, in percent of what it takes without any.
    BESIDE_PRICE = 130


# How the tiles of an image are cut: a task is some of them by one panel.
cdef struct Tiling:
    Py_ssize_t tiles
    Py_ssize_t channels             # at a time,
    Py_ssize_t passes               # so often
    Py_ssize_t chunk, chunks        # tiles of a task, for which weights are transformed
    double price                    # until all threads are done


cdef inline Py_ssize_t panels_of(const Epilogue* e) noexcept nogil:
    return (e.columns + PANEL_COLUMNS - 1) // PANEL_COLUMNS


cdef inline Py_ssize_t in_tiles_of(int64_t outputs) noexcept nogil:
    return (outputs + TILE_OUTPUTS - 1) // TILE_OUTPUTS


cdef inline Py_ssize_t taken_of(Py_ssize_t channels) noexcept nogil:
    """Bytes of scratch, without sums, for so many channels at a time."""
    cdef Py_ssize_t inputs = TOGETHER * channels + APART
    cdef Py_ssize_t weights = channels * PANEL_COLUMNS + APART
    return POSITIONS * (2 * (inputs + weights) + 4 * PRODUCTS_APART)


cdef inline double task_price(
    const Image* image, const Tiling* t, Py_ssize_t tiles, Py_ssize_t columns
) noexcept nogil:
    cdef double weights = <double> image.inputs * columns
    return WEIGHT_PRICE * weights + tiles * (
        PAIR_PRICE * POSITIONS * weights + INPUT_PRICE * <double> image.inputs
        + SUM_PRICE * <double> t.passes * columns
    )


cdef inline double shared_price(
    const Image* image, const Epilogue* e, const Tiling* t, int n_threads
) noexcept nogil:
    """Time until all tasks are done, at most, where who is free takes the next one."""
    cdef Py_ssize_t tasks = panels_of(e) * t.chunks
    cdef Py_ssize_t full = e.columns // PANEL_COLUMNS
    cdef Py_ssize_t rest = e.columns % PANEL_COLUMNS
    cdef double longest = task_price(
        image, t, t.chunk, min(e.columns, <Py_ssize_t> PANEL_COLUMNS)
    )
    cdef double work = 0
    if full:
        work += full * task_price(image, t, t.tiles, PANEL_COLUMNS)
    if rest:
        work += task_price(image, t, t.tiles, rest)
    work += (t.chunks - 1) * WEIGHT_PRICE * <double> image.inputs * e.columns
    return min(
        (tasks + n_threads - 1) // n_threads * longest,
        (work + (n_threads - 1) * longest) / n_threads,
    )


cdef inline void cut_tiles(
    const Image* image, const Epilogue* e, Py_ssize_t buffer, int n_threads, Tiling* best
) noexcept nogil:
    """Choose chunks: few, for which weights are transformed, but as much work for every thread."""
    cdef Tiling t
    cdef Py_ssize_t least = 1
    cdef Py_ssize_t chunks, kept
    t.tiles = image.batch * in_tiles_of(image.out[1]) * in_tiles_of(image.out[2])
    t.channels = min(image.inputs, <Py_ssize_t> EXACT_CHANNELS)
    kept = 1 if t.channels == image.inputs else FEW_TILES
    if taken_of(t.channels) + kept * TILE_SUMS * 4 + LINE > buffer:
        t.channels = EXACT_CHANNELS // 2
    t.passes = (image.inputs + t.channels - 1) // t.channels
    if t.passes > 1:
        # Sums are kept from a pass to the next.
        kept = (buffer - LINE - taken_of(t.channels)) // (TILE_SUMS * 4)
        least = (t.tiles + kept - 1) // kept
    best.price = INFINITY
    for chunks in range(least, least + (2 * n_threads if n_threads > 1 else 1)):
        t.chunk = (t.tiles + chunks - 1) // chunks
        t.chunks = (t.tiles + t.chunk - 1) // t.chunk
        t.price = shared_price(image, e, &t, n_threads)
        if t.price < best.price:
            best[0] = t


cdef inline bint fits_tiles(const Image* image, const Epilogue* e) noexcept nogil:
    """Return True if tiles can compute outputs of this layer at all."""
    cdef int64_t depths = image.size[0] * image.kernel[0] * image.out[0]
    cdef int axis
    if not PAIR_PRICE or HAS_TILES or bytes_of_result(e) != 1:
        return False
    if image.flip or e.weight_zero_points != NULL:
        return False
    if depths != 1 or image.padding[0] != 0 or image.inputs % WHOLE_CHANNELS or not image.inputs:
        return False
    for axis in range(1, 3):
        if image.kernel[axis] != 3 or image.stride[axis] != 1 or image.dilation[axis] != 1:
            return False
    return image.batch > 0


cdef inline bint suits_tiles_of(
    const Image* image, const Epilogue* e, Py_ssize_t buffer, int n_threads, Image* tiled,
    Tiling* tiling,
) noexcept nogil:
    """Return True if tiles save clearly more time in products than their transforms take.

    ``tiled`` becomes the image with the outputs that tiles compute best: along each axis all
    outputs, or those of whole tiles.
    """
    cdef double each = 9 * <double> image.inputs * e.columns / n_threads
    cdef double direct = image.batch * image.out[1] * image.out[2] * each
    cdef double best = 0.9 * direct
    cdef bint found = False
    cdef Image some = image[0]
    cdef Tiling t
    cdef double price, beside
    cdef int trimmed, axis
    if not fits_tiles(image, e):
        return False
    for trimmed in range(4):
        for axis in range(1, 3):
            some.out[axis] = image.out[axis]
            if trimmed & axis:
                some.out[axis] -= some.out[axis] % TILE_OUTPUTS
        if not some.out[1] or not some.out[2]:
            continue
        if trimmed and some.out[1] == image.out[1] and some.out[2] == image.out[2]:
            continue
        cut_tiles(&some, e, buffer, n_threads, &t)
        beside = direct - some.batch * some.out[1] * some.out[2] * each
        price = t.price + beside * BESIDE_PRICE / 100
        if price < best:
            best, found = price, True
            tiled[0], tiling[0] = some, t
    return found
