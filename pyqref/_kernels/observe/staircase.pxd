# The squared error of quantization on counted data (eq-staircase-error): included by the body.

from libc.stdint cimport int64_t

cdef enum:
    BINS = 256                  # whose integrals are found before they are subtracted
    SUMS = 8                    # lanes of a sum


# Candidates of several rows of counts; a candidate of each row after the other.
cdef struct Staircase:
    const int64_t* counts
    const double* edges
    const double* scales
    const double* zero_points
    double* errors
    Py_ssize_t rows, bins
    double quant_min, quant_max


cdef inline void integrals(
    const double* edges, Py_ssize_t n, double scale, double zero_point, double low, double high,
    double* out,
) noexcept nogil:
    """The integral up to each of n edges, in units of the scale."""
    cdef double nearest = 6755399441055744.0    # 1.5 * 2**52: a sum with it has no fraction
    cdef double u, k, rest
    cdef Py_ssize_t i
    for i in range(n):
        u = edges[i] / scale + zero_point
        # To clip before rounding gives the same: the ends are integers.
        k = u if u > low else low
        k = k if k < high else high
        k = (k + nearest) - nearest
        rest = u - k
        out[i] = (k - low) / 12 + rest * rest * rest / 3


cdef inline void error_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """The error of one candidate; the bins are added in lanes, and the lanes by halves."""
    cdef const Staircase* s = <const Staircase*> context
    cdef Py_ssize_t row = index % s.rows
    cdef const int64_t* counts = s.counts + row * s.bins
    cdef const double* edges = s.edges + row * (s.bins + 1)
    cdef double scale = s.scales[index]
    cdef double[BINS + 1] integral
    cdef double[BINS] terms
    cdef double[SUMS] sums
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t n, i
    cdef int lane
    for lane in range(SUMS):
        sums[lane] = 0
    while start < s.bins:
        n = min(<Py_ssize_t> BINS, s.bins - start)
        integrals(
            edges + start, n + 1, scale, s.zero_points[index], s.quant_min, s.quant_max, integral
        )
        for i in range(n):
            terms[i] = counts[start + i] * (
                (integral[i + 1] - integral[i]) / (edges[start + i + 1] - edges[start + i])
            )
        i = 0
        while i + SUMS <= n:
            for lane in range(SUMS):
                sums[lane] += terms[i + lane]
            i += SUMS
        for lane in range(<int> (n - i)):
            sums[lane] += terms[i + lane]
        start += n
    for lane in range(4):
        sums[lane] += sums[lane + 4]
    s.errors[index] = ((sums[0] + sums[2]) + (sums[1] + sums[3])) * (scale * scale * scale)
