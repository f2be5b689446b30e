# Convolution of floats, box by box (convolution_boxes.pxd).

from pyqref._kernels._parallel cimport is_ending
from pyqref._kernels.cache cimport LINE
from pyqref._kernels.simd.primitives cimport SIMD_LANES
from pyqref._kernels.windows.convolution_boxes cimport (
    POSITIONS, TERMS, Axis, Box, Convolution, Place, Terms, add_tiles, copy_box,
    lay_tiles,
)
from pyqref._kernels.windows.gathering cimport copy_floats


cdef inline Py_ssize_t place_of(
    const Convolution* p, Py_ssize_t z, Py_ssize_t y, Py_ssize_t x
) noexcept nogil:
    """Return the place of a result of the first output."""
    cdef const Axis* a = p.axes
    z = z * a[0].out_step + a[0].out_first
    y = y * a[1].out_step + a[1].out_first
    return z * p.out_deep + y * a[2].out_places + x * a[2].out_step + a[2].out_first


cdef inline Py_ssize_t place_in_box(
    const Convolution* p, const Box* box, Py_ssize_t at
) noexcept nogil:
    """Return the place of the result at a position of a box."""
    return place_of(
        p, box.first[0] + at // p.plane, box.first[1] + at % p.plane // p.pitch,
        box.first[2] + at % p.pitch,
    )


cdef inline bint is_whole(const Convolution* p, const Box* box, const Place* tile) noexcept nogil:
    """Return True if the results of a tile lie side by side, and those of outputs evenly."""
    return p.out_row > 0 and (
        tile.at % p.pitch + tile.vectors * SIMD_LANES <= box.count[2]
    )


cdef inline void put_sums(
    const Convolution* p, const Box* box, const Place* tile, float* out, Py_ssize_t first,
    Py_ssize_t outputs
) noexcept nogil:
    """Store the sums of one tile, line by line, for ``outputs`` outputs from ``first`` on."""
    cdef const float* sums = tile.sums
    cdef Py_ssize_t step = p.axes[2].out_step
    cdef Py_ssize_t at = tile.at
    cdef Py_ssize_t end = at + tile.vectors * SIMD_LANES
    cdef Py_ssize_t y = at % p.plane // p.pitch
    cdef Py_ssize_t rest, count, i, o
    cdef float* to
    while at < end and y < box.count[1]:
        rest = p.pitch - at % p.pitch
        count = min(end - at, box.count[2] - p.pitch + rest)
        to = out + place_in_box(p, box, at)
        if count > 0:
            for o in range(outputs):
                if step > 1:
                    for i in range(count):
                        to[p.planes[first + o] + i * step] = sums[o * tile.row + i]
                else:
                    copy_floats(to + p.planes[first + o], sums + o * tile.row, count)
        at += rest
        sums += rest
        y += 1


cdef inline void convolve_outputs(
    const Convolution* p, const Box* box, const float* weight, const float* bias, float* out,
    Py_ssize_t first, Py_ssize_t outputs, Place* tiles, Py_ssize_t count, const float* copied,
    float* sums
) noexcept nogil:
    """Some outputs of one box."""
    cdef Py_ssize_t depth = p.channels * p.taps
    cdef Py_ssize_t block, k, i, end
    cdef Terms t
    t.is_first, t.bias = True, bias
    t.ends, t.blocks = &end, 1
    t.weight, t.weight_row = weight, p.weight_row
    for i in range(count):
        if is_whole(p, box, tiles + i):     # its sums are made where they belong
            tiles[i].sums = out + place_in_box(p, box, tiles[i].at) + p.planes[first]
            tiles[i].row = p.out_row
        else:
            tiles[i].sums, tiles[i].row = sums + i * POSITIONS, count * POSITIONS
    for block in range((depth + TERMS - 1) // TERMS):
        if is_ending():
            return
        k = block * TERMS
        t.weights, t.offsets = p.weights + k, p.offsets + k
        end = min(<Py_ssize_t> TERMS, depth - k)
        add_tiles(&t, outputs, copied, tiles, count)
        t.is_first = False
    for i in range(count):
        if not is_whole(p, box, tiles + i):
            put_sums(p, box, tiles + i, out, first, outputs)


cdef inline float* scratch_of(const Convolution* p, int thread) noexcept nogil:
    """Return the scratch of a thread, from the beginning of a cache line on."""
    cdef size_t at = <size_t> (p.scratch + thread * p.buffer)
    return <float*> ((at + LINE - 1) // LINE * LINE)


cdef inline Py_ssize_t box_of(const Convolution* p, Py_ssize_t index, Box* box) noexcept nogil:
    """Find a box, and return its group: the groups of all images are counted."""
    cdef Py_ssize_t axis
    for axis in range(2, -1, -1):
        box.first[axis] = index % p.axes[axis].boxes * p.axes[axis].box
        box.count[axis] = min(p.axes[axis].box, p.axes[axis].out_size - box.first[axis])
        index //= p.axes[axis].boxes
    return index


cdef inline void convolution_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some outputs of one box of one group of one image."""
    cdef const Convolution* p = <const Convolution*> context
    cdef float* copied = scratch_of(p, thread)
    cdef float* sums = copied + p.copied
    cdef Place* tiles = p.tiles + thread * p.places
    cdef Py_ssize_t first = index % p.shares * p.share
    cdef Py_ssize_t end = min(first + p.share, p.outputs)
    cdef Py_ssize_t channel, count, some
    cdef const float* bias = NULL
    cdef Box box
    cdef Py_ssize_t rest = box_of(p, index // p.shares, &box)
    cdef Py_ssize_t group = rest % p.groups
    cdef const float* image = p.x + rest * p.channels * p.x_channel
    for channel in range(p.channels):
        if channel % 64 == 63 and is_ending():
            return
        copy_box(p, image + channel * p.x_channel, &box, copied + channel * p.channel)
    count = lay_tiles(p, &box, tiles)
    while first < end:
        if p.bias != NULL:
            bias = p.bias + group * p.outputs + first
        some = min(p.some, end - first)
        convolve_outputs(
            p, &box, p.weight + group * p.weight_group + first * p.weight_row, bias,
            p.out + rest * p.group_places, first, some, tiles, count, copied, sums,
        )
        first += some
