# Sums of rows in double, in the order of numerics/lane_sums.py.

cdef enum:
    PART_OF_SUM = 1 << 15       # numbers whose sum is added to those before
    LANES_OF_SUM = 16


cdef inline double sum_of_lanes(double* sums) noexcept nogil:
    """Add the second half of the lanes to the first one, until one is left."""
    cdef int lane
    for lane in range(8):
        sums[lane] += sums[lane + 8]
    for lane in range(4):
        sums[lane] += sums[lane + 4]
    return (sums[0] + sums[2]) + (sums[1] + sums[3])
