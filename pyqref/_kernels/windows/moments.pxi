# Mean and variance of channels: included by the body.

cdef enum:
    LANES = 8       # sums of a channel that are made side by side


cdef struct Moments:
    const float* x                  # (batch, channels, length)
    float* means
    float* variances
    Py_ssize_t batch, channels, length


cdef inline double sum_of_lanes(const double* s) noexcept nogil:
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))


cdef inline void add_line(
    double* sums, const float* line, Py_ssize_t length, float mean, bint squared
) noexcept nogil:
    """Add a line, or the squares of what it is without the mean, to the sums."""
    cdef double[LANES] lanes
    cdef double value
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t lane
    cdef Py_ssize_t whole = length // LANES * LANES
    memcpy(lanes, sums, sizeof(lanes))
    while i < whole:
        for lane in range(LANES):
            value = line[i + lane] - mean if squared else line[i + lane]
            lanes[lane] += value * value if squared else value
        i += LANES
    for lane in range(length - whole):
        value = line[whole + lane] - mean if squared else line[whole + lane]
        lanes[lane] += value * value if squared else value
    memcpy(sums, lanes, sizeof(lanes))


cdef void moments_task(void* context, Py_ssize_t channel, int thread) noexcept nogil:
    cdef const Moments* m = <const Moments*> context
    cdef double[LANES] sums
    cdef double count = <double> (m.batch * m.length)
    cdef Py_ssize_t image
    memset(sums, 0, sizeof(sums))
    for image in range(m.batch):
        add_line(sums, m.x + (image * m.channels + channel) * m.length, m.length, 0, False)
    m.means[channel] = <float> (sum_of_lanes(sums) / count)
    memset(sums, 0, sizeof(sums))
    for image in range(m.batch):
        add_line(
            sums, m.x + (image * m.channels + channel) * m.length, m.length, m.means[channel], True
        )
    m.variances[channel] = <float> (sum_of_lanes(sums) / count)


def moments_of_channels(cnp.ndarray x, cnp.ndarray means, cnp.ndarray variances, int n_threads):
    """Mean and variance of each channel of float32 ``x (batch, channels, length)``, contiguous."""
    cdef Moments m
    m.x = <const float*> cnp.PyArray_DATA(x)
    m.means = <float*> cnp.PyArray_DATA(means)
    m.variances = <float*> cnp.PyArray_DATA(variances)
    m.batch, m.channels = cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 1)
    m.length = cnp.PyArray_DIM(x, 2)
    n_threads = useful_threads(<double> cnp.PyArray_SIZE(x), WORK_PER_THREAD, n_threads)
    with nogil:
        parallel_for(moments_task, &m, m.channels, n_threads)
