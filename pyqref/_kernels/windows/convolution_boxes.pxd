# Convolution of floats without columns, its boxes.
#
# The inputs of some windows, a *box* of outputs, are copied with zeros beside them. For a stride of
# s, a line is copied in s parts, each of every s-th number, and so are lines of a plane and planes
# of a volume. What a tap meets at neighbouring outputs is then contiguous, and as many floats
# behind each (``offsets``), and a product is multiplied straight from there (convolution.h).
#
# Lines of outputs follow each other, a *pitch* apart. Where it is cheaper, tiles reach over the
# ends of lines, and what they find in between is left out.

cimport numpy as cnp
from pyqref._kernels.simd.primitives cimport SIMD_LANES
from pyqref._kernels.windows.gathering cimport gather, places_before, zero_floats

cdef extern from "windows/convolution.h":
    enum:
        OUTPUT_ROWS
        POSITION_VECTORS
        POSITIONS
        BOX
        LARGEST_BOX
    ctypedef struct Terms:
        const float* weight
        const float* bias
        const Py_ssize_t* weights
        const Py_ssize_t* offsets
        const Py_ssize_t* ends
        Py_ssize_t weight_row, blocks
        bint is_first
    ctypedef struct Place:
        Py_ssize_t at
        int vectors
        float* sums
        Py_ssize_t row
    void add_tiles(
        const Terms* t, Py_ssize_t outputs, const float* x, const Place* places, Py_ssize_t count
    ) nogil

cdef enum:
    TERMS = 64                  # that are added up before the sum is added to those before
    SUMS = 32 << 10             # sums that wait for the next terms
    BOX_POSITIONS = 512


# One axis: sizes, the parts in which it is copied, and outputs of a box.
cdef struct Axis:
    Py_ssize_t size, out_size, kernel, stride, dilation, before
    Py_ssize_t parts            # remainders, divided by the stride, of what taps meet
    Py_ssize_t reach            # places of a part behind an output that taps meet
    Py_ssize_t box, boxes
    Py_ssize_t out_step, out_first, out_places     # where outputs lie in the result


# Images (batch, groups * channels, *size). Those of a batch follow each other along the depth where
# images have none: small ones share boxes, for which weights are read once.
cdef struct Convolution:
    Axis[3] axes                # depth, height, width
    const float* x
    const float* weight
    const float* bias           # or NULL
    float* out
    Py_ssize_t groups, channels, outputs, taps, group_places
    Py_ssize_t x_channel        # floats of a channel
    Py_ssize_t x_deep, out_deep     # floats from one depth to the next
    Py_ssize_t out_row          # from output to output, where results lie side by side, else 0
    Py_ssize_t weight_group, weight_row     # floats of a group, and from output to output
    Py_ssize_t pitch, plane, part, channel      # floats of a copied line, plane, part and channel
    bint across                 # tiles reach over the ends of lines
    Py_ssize_t share, shares    # outputs of a task, and tasks of a box
    Py_ssize_t some             # outputs whose sums wait together
    Py_ssize_t places           # tiles of a box at the most
    Py_ssize_t pieces           # of a box at the most (convolution_columns.pxd)
    bint met_infinity           # or nan
    Py_ssize_t* offsets         # of what each term meets
    Py_ssize_t* weights         # where the weight of each term is
    Py_ssize_t* planes          # where the results of each output of a group begin
    Place* tiles                # of each thread
    float* scratch              # of each thread
    Py_ssize_t copied, buffer


# What a task computes: outputs of each axis from ``first`` on.
cdef struct Box:
    Py_ssize_t[3] first
    Py_ssize_t[3] count


cdef inline Py_ssize_t slot_of(const Axis* a, Py_ssize_t remainder) noexcept nogil:
    """Count the remainders before this one that some tap meets."""
    cdef Py_ssize_t r, tap
    cdef Py_ssize_t slot = 0
    for r in range(remainder):
        for tap in range(a.kernel):
            if tap * a.dilation % a.stride == r:
                slot += 1
                break
    return slot


cdef inline bint is_met(const Axis* a, Py_ssize_t remainder) noexcept nogil:
    cdef Py_ssize_t tap
    if a.parts == a.stride:
        return True
    for tap in range(a.kernel):
        if tap * a.dilation % a.stride == remainder:
            return True
    return False


cdef inline void copy_part_of_lines(
    const Convolution* p, const float* image, const Box* box, Py_ssize_t rz, Py_ssize_t ry,
    Py_ssize_t rx, float* target
) noexcept nogil:
    """Copy the part of one channel that a box needs: one remainder along each axis."""
    cdef const Axis* deep = &p.axes[0]
    cdef const Axis* high = &p.axes[1]
    cdef const Axis* wide = &p.axes[2]
    cdef Py_ssize_t length = box.count[2] + wide.reach
    cdef Py_ssize_t start = box.first[2] * wide.stride + rx - wide.before
    cdef Py_ssize_t begin = min(length, places_before(-start, wide.stride, length))
    cdef Py_ssize_t end = max(places_before(wide.size - start, wide.stride, length), begin)
    cdef Py_ssize_t z, y, iz, iy
    cdef float* line
    for z in range(box.count[0] + deep.reach):
        iz = (box.first[0] + z) * deep.stride + rz - deep.before
        for y in range(box.count[1] + high.reach):
            iy = (box.first[1] + y) * high.stride + ry - high.before
            line = target + z * p.plane + y * p.pitch
            if not (0 <= iz < deep.size and 0 <= iy < high.size) or begin == end:
                zero_floats(line, length)
                continue
            zero_floats(line, begin)
            gather(
                line + begin,
                image + iz * p.x_deep + iy * wide.size + start + begin * wide.stride,
                wide.stride, end - begin,
            )
            zero_floats(line + end, length - end)


cdef inline void copy_box(
    const Convolution* p, const float* image, const Box* box, float* target
) noexcept nogil:
    """One channel: parts of planes, of lines and of numbers; planes, lines and numbers of these."""
    cdef Py_ssize_t rz, ry, rx
    for rz in range(p.axes[0].stride):
        if not is_met(&p.axes[0], rz):
            continue
        for ry in range(p.axes[1].stride):
            if not is_met(&p.axes[1], ry):
                continue
            for rx in range(p.axes[2].stride):
                if is_met(&p.axes[2], rx):
                    copy_part_of_lines(p, image, box, rz, ry, rx, target)
                    target += p.part


cdef inline Py_ssize_t lay_tiles(const Convolution* p, const Box* box, Place* tiles) noexcept nogil:
    """Lay out the beginnings of the tiles of a box."""
    cdef Py_ssize_t lines = 1 if p.across else box.count[1]
    cdef Py_ssize_t length = box.count[2]
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t z, y, tile, at
    if p.across:
        length += (box.count[1] - 1) * p.pitch
    for z in range(box.count[0]):
        for y in range(lines):
            for tile in range((length + POSITIONS - 1) // POSITIONS):
                at = tile * POSITIONS
                tiles[count].at = z * p.plane + y * p.pitch + at
                tiles[count].vectors = <int> min(
                    (length - at + SIMD_LANES - 1) // SIMD_LANES, <Py_ssize_t> POSITION_VECTORS
                )
                count += 1
    return count


cdef inline Py_ssize_t floats_of_box(Convolution* p, bint of_lines) noexcept nogil:
    """Lay out boxes, and how many floats they take."""
    cdef Axis* high = &p.axes[1]
    cdef Axis* wide = &p.axes[2]
    p.pitch = wide.box + wide.reach
    # The zeros behind a line are those before the next one.
    if of_lines and wide.stride == 1 and wide.box == wide.out_size:
        p.pitch -= min(wide.before, max(p.pitch - wide.before - wide.size, <Py_ssize_t> 0))
        p.pitch = max(p.pitch, wide.box)
    p.plane = p.pitch * (high.box + high.reach)
    # Parts begin with a line of the cache, and channels in different sets of the first cache.
    p.part = (p.plane * (p.axes[0].box + p.axes[0].reach) + wide.reach + 15) // 16 * 16
    p.channel = p.part * p.axes[0].parts * high.parts * wide.parts // 32 * 32 + 48
    return p.channel * p.channels


cdef inline Py_ssize_t price_of_tiles(Py_ssize_t length) noexcept nogil:
    """Return the cost of tiles of so many positions: products, and half a vector for each."""
    cdef Py_ssize_t vectors = (length + SIMD_LANES - 1) // SIMD_LANES
    return 2 * vectors + (vectors + POSITION_VECTORS - 1) // POSITION_VECTORS


cdef inline void choose_boxes(Convolution* p) noexcept nogil:
    """Choose boxes as large as the scratch allows, along the last axis first."""
    cdef Axis* a
    cdef Py_ssize_t axis, low, high, middle
    cdef Py_ssize_t apart, across, most
    cdef Py_ssize_t reach = 1
    for axis in range(3):
        a = &p.axes[axis]
        a.box = 1
        # What windows reach over is copied for each box: one line alone would copy it many times.
        reach *= 1 + min(a.reach, a.out_size) // 8
    most = min(BOX * reach, <Py_ssize_t> LARGEST_BOX)
    for axis in range(2, -1, -1):
        a = &p.axes[axis]
        low, high = 1, a.out_size
        while low < high:                   # the largest that fits
            middle = (low + high + 1) // 2
            a.box = middle
            if floats_of_box(p, True) <= most and (
                p.axes[0].box * p.axes[1].box * p.axes[2].box <= BOX_POSITIONS
            ):
                low = middle
            else:
                high = middle - 1
        if low < a.out_size and axis == 2:
            low = min((low + POSITIONS - 1) // POSITIONS * POSITIONS, a.out_size)
        a.boxes = (a.out_size + low - 1) // low
        a.box = (a.out_size + a.boxes - 1) // a.boxes
        if axis == 2 and a.boxes > 1:
            a.box = min((a.box + POSITIONS - 1) // POSITIONS * POSITIONS, a.out_size)
            a.boxes = (a.out_size + a.box - 1) // a.box
        if a.boxes > 1:
            break
    for axis in range(3):
        a = &p.axes[axis]
        a.boxes = (a.out_size + a.box - 1) // a.box
    floats_of_box(p, True)
    across = price_of_tiles((p.axes[1].box - 1) * p.pitch + p.axes[2].box)
    apart = p.axes[1].box * price_of_tiles(p.axes[2].box)
    p.across = across < apart
    p.copied = floats_of_box(p, p.across) + p.axes[2].reach + 2 * POSITIONS
    p.copied = (p.copied + 15) // 16 * 16
    p.places = p.axes[0].box
    if p.across:
        p.places *= ((p.axes[1].box - 1) * p.pitch + p.axes[2].box) // POSITIONS + 1
    else:
        p.places *= p.axes[1].box * (p.axes[2].box // POSITIONS + 1)


cdef inline void fill_offsets(Convolution* p) noexcept nogil:
    """Fill in the place, behind an output, of the input of each tap of each channel."""
    cdef Axis* a = p.axes
    cdef Py_ssize_t channel, kz, ky, kx, z, y, x, slot
    cdef Py_ssize_t k = 0
    for kz in range(a[0].kernel):
        z = kz * a[0].dilation
        for ky in range(a[1].kernel):
            y = ky * a[1].dilation
            for kx in range(a[2].kernel):
                x = kx * a[2].dilation
                slot = (
                    slot_of(a, z % a[0].stride) * a[1].parts + slot_of(a + 1, y % a[1].stride)
                ) * a[2].parts + slot_of(a + 2, x % a[2].stride)
                p.offsets[k] = (
                    slot * p.part + z // a[0].stride * p.plane + y // a[1].stride * p.pitch
                    + x // a[2].stride
                )
                k += 1
    for channel in range(1, p.channels):
        for x in range(p.taps):
            p.offsets[k] = p.offsets[x] + channel * p.channel
            k += 1


cdef inline void fill_planes(Convolution* p, const Py_ssize_t* beside) noexcept nogil:
    """Fill in the beginning of each output's results: taps side by side, then channels."""
    cdef Py_ssize_t volume = (
        p.axes[0].out_places * p.axes[1].out_places * p.axes[2].out_places
    )
    cdef Py_ssize_t channels = p.outputs // (beside[0] * beside[1] * beside[2])
    cdef Py_ssize_t channel, z, y, x
    cdef Py_ssize_t o = 0
    p.group_places = channels * volume
    p.out_row = volume if channels == p.outputs and p.axes[2].out_step == 1 else 0
    for channel in range(channels):
        for z in range(beside[0]):
            for y in range(beside[1]):
                for x in range(beside[2]):
                    p.planes[o] = channel * volume + (
                        z * p.axes[1].out_places + y
                    ) * p.axes[2].out_places + x
                    o += 1


cdef inline int fill_axes(Convolution* p, cnp.ndarray x, tuple given) except -1:
    """``given``: as for :func:`convolve`."""
    cdef Py_ssize_t axis
    cdef Axis* a
    for axis in range(3):
        a = &p.axes[axis]
        a.size = cnp.PyArray_DIM(x, 2 + axis)
        (
            a.out_size, a.kernel, a.stride, a.dilation, a.before, a.out_first, a.out_step,
            a.out_places,
        ) = given[axis]
        a.reach = (a.kernel - 1) * a.dilation // a.stride
        a.parts = slot_of(a, a.stride)
    p.x_deep = p.axes[1].size * p.axes[2].size
    p.x_channel = p.axes[0].size * p.x_deep
    return 0
