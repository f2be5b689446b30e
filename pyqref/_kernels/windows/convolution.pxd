# Convolution of floats, box by box (convolution_boxes.pxd).

from pyqref._kernels._parallel cimport is_ending
from pyqref._kernels.cache cimport LINE
from pyqref._kernels.simd.primitives cimport SIMD_LANES, load_f32, store_f32
from pyqref._kernels.windows.convolution_boxes cimport (
    POSITIONS, POSITION_VECTORS, TERMS, Axis, Box, Convolution, Place, Terms, add_tiles, copy_box,
    lay_tiles,
)
from pyqref._kernels.windows.gathering cimport copy_floats


cdef inline void put_sums(
    const Convolution* p, const Box* box, const Place* tile, const float* sums, Py_ssize_t row,
    float* out, Py_ssize_t first, Py_ssize_t outputs
) noexcept nogil:
    """Those of one tile, line by line, for ``outputs`` outputs of a group from ``first`` on."""
    cdef const Axis* high = &p.axes[1]
    cdef const Axis* wide = &p.axes[2]
    cdef Py_ssize_t z = tile.at // p.plane
    cdef Py_ssize_t y = (tile.at - z * p.plane) // p.pitch
    cdef Py_ssize_t x = tile.at - z * p.plane - y * p.pitch
    cdef const Py_ssize_t* planes = p.planes + first
    cdef Py_ssize_t left = tile.vectors * SIMD_LANES
    cdef Py_ssize_t count, i, o
    cdef float* to
    out += ((box.first[0] + z) * p.axes[0].out_step + p.axes[0].out_first) * p.out_deep
    while left > 0 and y < box.count[1]:
        count = min(left, box.count[2] - x)
        if count > 0:
            to = out + (
                (box.first[1] + y) * high.out_step + high.out_first
            ) * wide.out_places + (box.first[2] + x) * wide.out_step + wide.out_first
            for o in range(outputs):
                if wide.out_step > 1:
                    for i in range(count):
                        to[planes[o] + i * wide.out_step] = sums[o * row + i]
                elif count == POSITIONS:
                    for i in range(POSITION_VECTORS):
                        store_f32(
                            to + planes[o] + i * SIMD_LANES,
                            load_f32(sums + o * row + i * SIMD_LANES),
                        )
                else:
                    copy_floats(to + planes[o], sums + o * row, count)
        left -= p.pitch - x
        sums += p.pitch - x
        x = 0
        y += 1


cdef inline void convolve_outputs(
    const Convolution* p, const Box* box, const float* weight, const float* bias, float* out,
    Py_ssize_t first, Py_ssize_t outputs, const Place* tiles, Py_ssize_t count,
    const float* copied, float* sums
) noexcept nogil:
    """Some outputs of one box."""
    cdef Py_ssize_t depth = p.channels * p.taps
    cdef Py_ssize_t row = count * POSITIONS
    cdef Py_ssize_t block, k, i
    cdef Terms t
    t.is_first, t.bias = True, bias
    t.weight, t.weight_row, t.sums_row = weight, p.weight_row, row
    for block in range((depth + TERMS - 1) // TERMS):
        if is_ending():
            return
        k = block * TERMS
        t.weights, t.offsets = p.weights + k, p.offsets + k
        t.terms = min(<Py_ssize_t> TERMS, depth - k)
        add_tiles(&t, outputs, copied, tiles, count, sums)
        t.is_first = False
    for i in range(count):
        put_sums(p, box, tiles + i, sums + i * POSITIONS, row, out, first, outputs)


cdef inline float* scratch_of(const Convolution* p, int thread) noexcept nogil:
    """What a thread has, from the beginning of a line of the cache on."""
    cdef size_t at = <size_t> (p.scratch + thread * p.buffer)
    return <float*> ((at + LINE - 1) // LINE * LINE)


cdef inline void convolution_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some outputs of one box of one group of one image."""
    cdef const Convolution* p = <const Convolution*> context
    cdef float* copied = scratch_of(p, thread)
    cdef float* sums = copied + p.copied
    cdef Place* tiles = p.tiles + thread * p.places
    cdef Py_ssize_t rest = index // p.shares
    cdef Py_ssize_t first = index % p.shares * p.share
    cdef Py_ssize_t end = min(first + p.share, p.outputs)
    cdef Py_ssize_t axis, channel, group, count, some
    cdef const float* image
    cdef const float* bias = NULL
    cdef Box box
    for axis in range(2, -1, -1):
        box.first[axis] = rest % p.axes[axis].boxes * p.axes[axis].box
        box.count[axis] = min(p.axes[axis].box, p.axes[axis].out_size - box.first[axis])
        rest //= p.axes[axis].boxes
    group = rest % p.groups             # rest counts the groups of all images
    image = p.x + rest * p.channels * p.x_channel
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
