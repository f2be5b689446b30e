# Regions of the results of a convolution: those that meet the same taps inside the image.
#
# A plane has nine or more: the inside, edges and corners. Far taps leave little to the inside.

from libc.stdint cimport uint64_t
from pyqref._kernels.windows.convolution_boxes cimport POSITIONS, Axis, Box, Convolution
from pyqref._kernels.windows.gathering cimport places_before

cdef enum:
    MOST_PARTS = 8              # of an axis
    MOST_REGIONS = 32           # of a box
    MOST_TAPS = 64              # one bit for each


# Neighbouring outputs along one axis that meet the taps from ``tap`` on, before ``end``.
cdef struct Part:
    Py_ssize_t first, count, tap, end


cdef struct Region:
    Part[3] parts
    uint64_t met                # the taps
    Py_ssize_t taps, positions, tiles
    Py_ssize_t tile             # the first of the box
    Py_ssize_t piece, pieces


cdef inline Part part_of(const Axis* a, Py_ssize_t at) noexcept nogil:
    """Find the taps along an axis that meet the image for one output."""
    cdef Py_ssize_t start = at * a.stride - a.before
    cdef Part part
    part.first, part.count = at, 1
    part.tap = places_before(-start, a.dilation, a.kernel)
    part.end = max(places_before(a.size - start, a.dilation, a.kernel), part.tap)
    return part


cdef inline Py_ssize_t lay_parts(
    const Axis* a, Py_ssize_t first, Py_ssize_t count, Part* parts
) noexcept nogil:
    """Find the parts of some outputs along an axis, or more than MOST_PARTS."""
    cdef Py_ssize_t found = 0
    cdef Py_ssize_t i
    cdef Part part
    for i in range(first, first + count):
        part = part_of(a, i)
        if found and parts[found - 1].tap == part.tap and parts[found - 1].end == part.end:
            parts[found - 1].count += 1
        elif found < MOST_PARTS:
            parts[found] = part
            found += 1
        else:
            return MOST_PARTS + 1
    return found


cdef inline uint64_t taps_of(const Convolution* p, const Region* region) noexcept nogil:
    cdef uint64_t met = 0
    cdef Py_ssize_t z, y, x
    for z in range(region.parts[0].tap, region.parts[0].end):
        for y in range(region.parts[1].tap, region.parts[1].end):
            for x in range(region.parts[2].tap, region.parts[2].end):
                met |= <uint64_t> 1 << (
                    (z * p.axes[1].kernel + y) * p.axes[2].kernel + x
                )
    return met


cdef inline Py_ssize_t lay_regions(
    const Convolution* p, const Box* box, Region* regions
) noexcept nogil:
    """Find the regions of a box, or more than MOST_REGIONS."""
    cdef Part[3][MOST_PARTS] parts
    cdef Py_ssize_t[3] counts
    cdef Py_ssize_t axis, z, y, x
    cdef Py_ssize_t found = 0
    cdef Py_ssize_t tiles = 0
    cdef Region* region
    for axis in range(3):
        counts[axis] = lay_parts(p.axes + axis, box.first[axis], box.count[axis], parts[axis])
        if counts[axis] > MOST_PARTS:
            return MOST_REGIONS + 1
    if counts[0] * counts[1] * counts[2] > MOST_REGIONS:
        return MOST_REGIONS + 1
    for z in range(counts[0]):
        for y in range(counts[1]):
            for x in range(counts[2]):
                region = regions + found
                region.parts[0], region.parts[1], region.parts[2] = (
                    parts[0][z], parts[1][y], parts[2][x]
                )
                region.taps = region.positions = 1
                for axis in range(3):
                    region.taps *= region.parts[axis].end - region.parts[axis].tap
                    region.positions *= region.parts[axis].count
                region.met = taps_of(p, region)
                region.tile, region.tiles = tiles, (region.positions + POSITIONS - 1) // POSITIONS
                tiles += region.tiles
                found += 1
    return found
