# Sums of magnitudes (eq-magnitude-sum).

from libc.math cimport fabs
from pyqref._kernels.lane_sums cimport LANES_OF_SUM, PART_OF_SUM, sum_of_lanes


# Rows of numbers; the sums of each row's parts, one after the other.
cdef struct Magnitudes:
    const float* x
    double* sums
    Py_ssize_t size, parts


cdef inline void magnitudes_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Sum up one part of one row: in lanes, and the lanes by halves."""
    cdef const Magnitudes* m = <const Magnitudes*> context
    cdef Py_ssize_t start = index % m.parts * PART_OF_SUM
    cdef Py_ssize_t n = min(<Py_ssize_t> PART_OF_SUM, m.size - start)
    cdef const float* x = m.x + index // m.parts * m.size + start
    cdef double[LANES_OF_SUM] sums
    cdef Py_ssize_t i = 0
    cdef int lane
    for lane in range(LANES_OF_SUM):
        sums[lane] = 0
    while i + LANES_OF_SUM <= n:
        for lane in range(LANES_OF_SUM):
            sums[lane] += fabs(<double> x[i + lane])
        i += LANES_OF_SUM
    for lane in range(<int> (n - i)):
        sums[lane] += fabs(<double> x[i + lane])
    m.sums[index] = sum_of_lanes(sums)
