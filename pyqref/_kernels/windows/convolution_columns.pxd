# Convolution of floats, region by region (regions.pxd), for far taps and for many channels.
#
# What the taps of a region meet is laid out tile by tile, for some blocks of terms at a time, and
# multiplied as in convolution.h. The weights of these blocks stay in a near cache until all regions
# have met them. Boxes would read all weights once for each box.
#
# Terms that would be products with padding are left out. A zero that is added changes a number in
# two cases only. The weight may be infinite or nan: then so are all results for which its tap meets
# the image. Or the sum may be -0, which is seen only if the bias is -0, too. Convolutions with such
# a weight or bias are left to boxes.

from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.math cimport signbit
from libc.stdint cimport uint64_t
from pyqref._kernels._parallel cimport is_ending, parallel_for
from pyqref._kernels.cache cimport LINE
from pyqref._kernels.simd.primitives cimport SIMD_LANES
from pyqref._kernels.windows.convolution cimport box_of, place_of
from pyqref._kernels.windows.convolution_boxes cimport (
    OUTPUT_ROWS, POSITION_VECTORS, POSITIONS, TERMS, Axis, Box, Convolution, Place, Terms,
    add_tiles, price_of_tiles,
)
from pyqref._kernels.windows.gathering cimport copy_floats, gather, zero_floats
from pyqref._kernels.windows.regions cimport (
    MOST_PARTS, MOST_REGIONS, MOST_TAPS, Part, Region, lay_regions,
)

cdef enum:
    NEAR_BLOCKS = 8             # whose weights stay in a near cache
    MOST_TERMS = 2 * TERMS      # of the blocks that are laid out at a time
    MOST_OUTPUTS = 256          # of a task
    WEIGHTS = 64                # positions for the price of reading weights once more
    BOX_COLUMNS = 1024          # positions of a box, unless one line has more


# Neighbouring positions: the tile and the lane of the first, and where its input and result are.
cdef struct Piece:
    Py_ssize_t tile, lane, count, x, out


# What one thread works with.
cdef struct Columns:
    Region[MOST_REGIONS] regions
    Py_ssize_t[MOST_TERMS] weights
    Py_ssize_t[MOST_TERMS] offsets
    Py_ssize_t[NEAR_BLOCKS] ends            # of the blocks
    Piece* pieces
    Place* places
    float* columns
    float* sums                 # of each tile, those of one output after the other


cdef inline void lay_pieces(const Convolution* p, Region* region, Piece* pieces) noexcept nogil:
    """Cut the lines of a region where tiles end."""
    cdef const Axis* a = p.axes
    cdef const Part* parts = region.parts
    cdef Py_ssize_t at = 0
    cdef Py_ssize_t z, y, x, end
    cdef Piece* piece = pieces
    for z in range(parts[0].first, parts[0].first + parts[0].count):
        for y in range(parts[1].first, parts[1].first + parts[1].count):
            x, end = parts[2].first, parts[2].first + parts[2].count
            while x < end:
                piece.tile, piece.lane = at // POSITIONS, at % POSITIONS
                piece.count = min(end - x, POSITIONS - piece.lane)
                piece.x = (
                    (z * a[0].stride - a[0].before) * p.x_deep
                    + (y * a[1].stride - a[1].before) * a[2].size
                    + x * a[2].stride - a[2].before
                )
                piece.out = place_of(p, z, y, x)
                x += piece.count
                at += piece.count
                piece += 1
    region.pieces = piece - pieces


cdef inline void lay_terms(
    const Convolution* p, const Region* region, const float* image, Py_ssize_t first,
    Py_ssize_t blocks, Py_ssize_t panel, Columns* c
) noexcept nogil:
    """Lay out what the terms of some blocks meet in a region; tiles are ``panel`` floats apart."""
    cdef const Piece* pieces = c.pieces + region.piece
    cdef Py_ssize_t k = first * TERMS
    cdef Py_ssize_t depth = p.channels * p.taps
    cdef Py_ssize_t channel = k // p.taps
    cdef Py_ssize_t tap = k - channel * p.taps
    cdef Py_ssize_t rest = region.positions - (region.tiles - 1) * POSITIONS
    cdef Py_ssize_t fill = -rest % SIMD_LANES
    cdef Py_ssize_t stride = p.axes[2].stride
    cdef Py_ssize_t found = 0
    cdef Py_ssize_t block, i, end
    cdef const float* source
    cdef float* target
    for block in range(blocks):
        end = min(k + TERMS, depth)
        while k < end:
            if region.met >> tap & 1:
                c.weights[found] = p.weights[k]
                source = image + channel * p.x_channel + p.offsets[tap]
                target = c.columns + found * POSITIONS
                for i in range(region.pieces):
                    gather(
                        target + pieces[i].tile * panel + pieces[i].lane, source + pieces[i].x,
                        stride, pieces[i].count,
                    )
                zero_floats(target + (region.tiles - 1) * panel + rest, fill)
                found += 1
            k += 1
            tap += 1
            if tap == p.taps:
                tap = 0
                channel += 1
        c.ends[block] = found


cdef inline void add_blocks(
    const Convolution* p, const Region* region, const float* image, Py_ssize_t first,
    Py_ssize_t blocks, Terms* t, Py_ssize_t outputs, Columns* c
) noexcept nogil:
    """Add the terms of some blocks to the sums of a region, for some outputs."""
    cdef Py_ssize_t panel = (blocks * TERMS + p.taps - 1) // p.taps * region.taps * POSITIONS
    cdef Py_ssize_t i
    lay_terms(p, region, image, first, blocks, panel, c)
    for i in range(region.tiles):
        c.places[i].at, c.places[i].row = i * panel, POSITIONS
        c.places[i].vectors = <int> min(
            (region.positions - i * POSITIONS + SIMD_LANES - 1) // SIMD_LANES,
            <Py_ssize_t> POSITION_VECTORS,
        )
        c.places[i].sums = c.sums + (region.tile + i) * outputs * POSITIONS
    t.weights, t.offsets, t.ends, t.blocks = c.weights, c.offsets, c.ends, blocks
    t.is_first = first == 0
    add_tiles(t, outputs, c.columns, c.places, region.tiles)


cdef inline bint put_region(
    const Convolution* p, const Region* region, Py_ssize_t first, Py_ssize_t outputs,
    const Columns* c, float* out
) noexcept nogil:
    """Store the results of a region; return False if the first of an output is infinite or nan."""
    cdef const Piece* pieces = c.pieces + region.piece
    cdef const float* sums = c.sums + region.tile * outputs * POSITIONS
    cdef Py_ssize_t step = p.axes[2].out_step
    cdef bint is_finite = True
    cdef Py_ssize_t o, i, j
    cdef const float* source
    cdef float* to
    for o in range(outputs):
        is_finite = is_finite and sums[o * POSITIONS] - sums[o * POSITIONS] == 0
        for i in range(region.pieces):
            source = sums + (pieces[i].tile * outputs + o) * POSITIONS + pieces[i].lane
            to = out + p.planes[first + o] + pieces[i].out
            if step == 1:
                copy_floats(to, source, pieces[i].count)
                continue
            for j in range(pieces[i].count):
                to[j * step] = source[j]
    return is_finite


cdef inline Py_ssize_t blocks_at_once(const Convolution* p, const Region* region) noexcept nogil:
    """Return the number of blocks that have about as many terms as one without padding."""
    cdef Py_ssize_t blocks = 1
    while blocks < NEAR_BLOCKS and (
        (2 * blocks * TERMS + p.taps - 1) // p.taps * region.taps <= TERMS
    ):
        blocks *= 2
    return blocks


cdef inline void columns_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some outputs of one box of one group of one image."""
    cdef Convolution* p = <Convolution*> context
    cdef Columns* c = <Columns*> (p.scratch + thread * p.buffer)
    cdef Py_ssize_t first = index % p.shares * p.share
    cdef Py_ssize_t outputs = min(p.share, p.outputs - first)
    cdef Py_ssize_t blocks = (p.channels * p.taps + TERMS - 1) // TERMS
    cdef Box box
    cdef Py_ssize_t rest = box_of(p, index // p.shares, &box)
    cdef Py_ssize_t group = rest % p.groups
    cdef const float* image = p.x + rest * p.channels * p.x_channel
    cdef Py_ssize_t regions = lay_regions(p, &box, c.regions)
    cdef Py_ssize_t near, block, end, i
    cdef bint is_finite = True
    cdef Region* region
    cdef Terms t
    t.weight, t.weight_row = p.weight + group * p.weight_group + first * p.weight_row, p.weight_row
    t.bias = NULL if p.bias == NULL else p.bias + group * p.outputs + first
    c.pieces = <Piece*> (c + 1)
    c.places = <Place*> (c.pieces + p.pieces)
    c.columns = <float*> ((<size_t> (c.places + p.places) + LINE - 1) // LINE * LINE)
    c.sums = c.columns + p.copied
    for i in range(MOST_TERMS):
        c.offsets[i] = i * POSITIONS
    i = 0
    for region in c.regions[:regions]:
        region.piece = i
        lay_pieces(p, region, c.pieces + i)
        i += region.pieces
    near = 0
    while near < blocks:
        for i in range(regions):
            region = c.regions + i
            block = near
            while block < min(near + NEAR_BLOCKS, blocks):
                if is_ending():
                    return
                end = min(block + blocks_at_once(p, region), blocks)
                add_blocks(p, region, image, block, end - block, &t, outputs, c)
                block = end
        near += NEAR_BLOCKS
    for i in range(regions):
        is_finite &= put_region(
            p, c.regions + i, first, outputs, c, p.out + rest * p.group_places
        )
    if not is_finite:
        p.met_infinity = True


cdef inline void fill_taps(Convolution* p) noexcept nogil:
    """Fill in how far each tap of an image is behind the first."""
    cdef const Axis* a = p.axes
    cdef Py_ssize_t z, y, x
    cdef Py_ssize_t k = 0
    for z in range(a[0].kernel):
        for y in range(a[1].kernel):
            for x in range(a[2].kernel):
                p.offsets[k] = (
                    z * a[0].dilation * p.x_deep + y * a[1].dilation * a[2].size
                    + x * a[2].dilation
                )
                k += 1


cdef inline double price_of_boxes(const Convolution* p) noexcept nogil:
    """Return the cost of the boxes that are chosen."""
    cdef const Axis* deep = &p.axes[0]
    cdef const Axis* high = &p.axes[1]
    cdef const Axis* wide = &p.axes[2]
    cdef Py_ssize_t of_plane = high.box * price_of_tiles(wide.box)
    if p.across:
        of_plane = price_of_tiles((high.box - 1) * p.pitch + wide.box)
    return <double> p.taps * high.boxes * wide.boxes * (
        deep.out_size * of_plane + deep.boxes * price_of_tiles(WEIGHTS)
    )


cdef inline bint suits_columns(const Convolution* p) noexcept nogil:
    """Return True if columns cost less than the chosen boxes, and no bias is -0.

    Numbers are copied for each tap, which is shared by the outputs.
    """
    cdef Region[MOST_REGIONS] regions
    cdef Py_ssize_t found, i
    cdef double price = 0
    cdef uint64_t met = 0
    cdef Box every
    if p.taps > MOST_TAPS:
        return False
    for i in range(p.groups * p.outputs if p.bias != NULL else 0):
        if p.bias[i] == 0 and signbit(p.bias[i]):
            return False
    for i in range(3):
        every.first[i], every.count[i] = 0, p.axes[i].out_size
    found = lay_regions(p, &every, regions)
    if found > MOST_REGIONS:
        return False
    for i in range(found):
        price += regions[i].taps * price_of_tiles(regions[i].positions)
        met |= regions[i].met
    if ~met << (MOST_TAPS - p.taps):    # a tap's weights would not be seen at all
        return False
    return price * (1.45 + 20. / p.outputs) < price_of_boxes(p)


cdef inline void cut_columns(Convolution* p, Py_ssize_t images, int n_threads) noexcept nogil:
    """Choose boxes and the outputs of tasks, and count what scratch memory holds."""
    cdef Py_ssize_t most = BOX_COLUMNS
    cdef Py_ssize_t axis, tasks
    cdef Axis* a
    tasks = images * p.groups
    for axis in range(2, -1, -1):
        a = p.axes + axis
        a.boxes = (a.out_size + most - 1) // most
        a.box = (a.out_size + a.boxes - 1) // a.boxes
        a.boxes = (a.out_size + a.box - 1) // a.box
        most = max(most // a.box, <Py_ssize_t> 1)
        tasks *= a.boxes
    p.shares = (p.outputs + MOST_OUTPUTS - 1) // MOST_OUTPUTS
    if n_threads > 1:
        p.shares = max(p.shares, (4 * n_threads + tasks - 1) // tasks)
    p.share = max((p.outputs + p.shares - 1) // p.shares, min(p.outputs, <Py_ssize_t> OUTPUT_ROWS))
    p.shares = (p.outputs + p.share - 1) // p.share
    p.places = p.axes[0].box * p.axes[1].box * p.axes[2].box // POSITIONS + MOST_REGIONS
    p.pieces = p.axes[0].box * p.axes[1].box * MOST_PARTS + p.places
    p.copied = (TERMS + p.taps) * p.places * POSITIONS
    p.buffer = (
        sizeof(Columns) + p.pieces * sizeof(Piece) + p.places * sizeof(Place)
    ) // sizeof(float) + p.copied + p.places * p.share * POSITIONS + 32
    p.buffer = p.buffer // 16 * 16


cdef inline bint convolve_columns(
    Convolution* p, Py_ssize_t images, int n_threads
) noexcept nogil:
    """Return False if a result is infinite or nan, or memory is short: boxes are needed then."""
    cdef Py_ssize_t tasks = images * p.groups
    cut_columns(p, images, n_threads)
    p.scratch = <float*> malloc(p.buffer * n_threads * sizeof(float))
    if p.scratch == NULL:
        return False
    tasks *= p.axes[0].boxes * p.axes[1].boxes * p.axes[2].boxes * p.shares
    fill_taps(p)
    parallel_for(columns_task, p, tasks, n_threads)
    free(p.scratch)
    return not p.met_infinity
