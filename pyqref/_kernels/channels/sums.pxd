# Sums over channels, in double.

cimport numpy as cnp
from libc.string cimport memcpy, memset
from pyqref._kernels._outputs cimport OF_FLOAT32, require_output
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.channels.constants cimport WORK_PER_THREAD

cdef extern from "channels/places.h":
    ctypedef struct Places:
        pass
    enum:
        PLACES          # sums of a channel that are made side by side
    cdef enum Term:     # what is added up
        ITSELF
        SQUARE
        PRODUCT
    void add_number(
        Term term, double* first, double* second, const float* a, const float* b, float center
    ) nogil
    void add_line(
        Term term, Places* first, Places* second, const float* a, const float* b, float center,
        Py_ssize_t n,
    ) nogil
    double sum_of_doubles(const double* sums) nogil

cdef extern from "channels/across.h":
    ctypedef struct Strips:
        pass
    enum:
        STRIP_CHANNELS
        MOST_CHANNELS   # of a task, where channels are last in memory
    void clear_strips(Strips* sums, Py_ssize_t count) nogil
    void add_places(
        Term term, Strips* first, Strips* second, const float* a, const float* b,
        const float* centers, Py_ssize_t step, Py_ssize_t n, Py_ssize_t count,
    ) nogil
    void put_sums(Strips* sums, double divisor, float* out, Py_ssize_t count) nogil

cdef enum:
    BLOCK = 128     # sums of short lines that are made side by side


cdef struct Sums:
    const float* a
    const float* b
    const float* centers
    float* first            # sums, or means, of what is itself
    float* second           # the same of squares or products
    Term term               # PRODUCT, or SQUARE: of what differs from the mean
    double count            # by which sums are divided
    Py_ssize_t batch, channels, length, channels_per_task
    bint across             # channels are last in memory
    bint apart              # then each image may be added up by itself


cdef inline void finish(
    const Sums* s, Py_ssize_t channel, const double* first, const double* second, Term term
) noexcept nogil:
    if term != SQUARE:
        s.first[channel] = <float> (sum_of_doubles(first) / s.count)
    if term != ITSELF:
        s.second[channel] = <float> (sum_of_doubles(second) / s.count)


cdef inline void add_channel(
    const Sums* s, Py_ssize_t channel, const float* centers, Term term
) noexcept nogil:
    """Line by line, each number to the place that it has modulo 16."""
    cdef Places first, second
    cdef float center = 0 if term == ITSELF else centers[channel]
    cdef Py_ssize_t image, at
    memset(&first, 0, sizeof(first))
    memset(&second, 0, sizeof(second))
    for image in range(s.batch):
        at = (image * s.channels + channel) * s.length
        add_line(term, &first, &second, s.a + at, s.b + at, center, s.length)
    finish(s, channel, <double*> &first, <double*> &second, term)


cdef inline void add_short_lines(
    const Sums* s, Py_ssize_t channel, Py_ssize_t count, const float* centers, Term term
) noexcept nogil:
    """Add up lines of at most 16 numbers, several channels side by side."""
    cdef double[BLOCK] first
    cdef double[BLOCK] second
    cdef float[BLOCK] of_each
    cdef double[2][PLACES] places
    cdef Py_ssize_t n = count * s.length
    cdef Py_ssize_t image, at, i
    memset(first, 0, sizeof(first))
    memset(second, 0, sizeof(second))
    for i in range(n):
        of_each[i] = 0 if term == ITSELF else centers[channel + i // s.length]
    for image in range(s.batch):
        at = (image * s.channels + channel) * s.length
        for i in range(n):
            add_number(term, first + i, second + i, s.a + at + i, s.b + at + i, of_each[i])
    memset(places, 0, sizeof(places))
    for i in range(count):
        memcpy(places[0], first + i * s.length, s.length * sizeof(double))
        memcpy(places[1], second + i * s.length, s.length * sizeof(double))
        finish(s, channel + i, places[0], places[1], term)


cdef inline void add_pixels(
    const Sums* s, Py_ssize_t channel, Py_ssize_t count, const float* centers, Term term
) noexcept nogil:
    """Add up where channels are last in memory: a lane for each channel."""
    cdef Strips first, second
    cdef Py_ssize_t image, at
    clear_strips(&first, count)
    clear_strips(&second, count)
    if term != ITSELF:
        centers += channel
    for image in range(s.batch):
        at = image * s.length * s.channels + channel
        add_places(
            term, &first, &second, s.a + at, s.b + at, centers, s.channels, s.length, count
        )
    if term != SQUARE:
        put_sums(&first, s.count, s.first + channel, count)
    if term != ITSELF:
        put_sums(&second, s.count, s.second + channel, count)


cdef inline void add_channels(
    const Sums* s, Py_ssize_t index, const float* centers, Term term
) noexcept nogil:
    cdef Py_ssize_t channel = index * s.channels_per_task
    cdef Py_ssize_t count = min(s.channels_per_task, s.channels - channel)
    if s.across:
        add_pixels(s, channel, count, centers, term)
    elif s.length <= PLACES:
        add_short_lines(s, channel, count, centers, term)
    else:
        add_channel(s, channel, centers, term)


cdef inline Py_ssize_t tasks_of_image(const Sums* s) noexcept nogil:
    return (s.channels + s.channels_per_task - 1) // s.channels_per_task


cdef inline void sums_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef Sums s = (<Sums*> context)[0]
    cdef Py_ssize_t image, tasks
    if s.apart:
        tasks = tasks_of_image(&s)
        image, index = index // tasks, index % tasks
        s.a, s.b = s.a + image * s.length * s.channels, s.b + image * s.length * s.channels
        s.first, s.second = s.first + image * s.channels, s.second + image * s.channels
        s.centers, s.batch = s.centers + image * s.channels, 1
    # The term is a constant of each loop.
    if s.term == PRODUCT:
        add_channels(&s, index, s.centers, PRODUCT)
    else:
        add_channels(&s, index, NULL, ITSELF)
        add_channels(&s, index, s.first, SQUARE)


cdef inline Py_ssize_t channels_across(Py_ssize_t channels, int n_threads) noexcept nogil:
    """Whole strips, as many for each task and a task for each thread."""
    cdef Py_ssize_t tasks = max((channels + MOST_CHANNELS - 1) // MOST_CHANNELS, n_threads)
    cdef Py_ssize_t strips = (channels + STRIP_CHANNELS - 1) // STRIP_CHANNELS
    return max((strips + tasks - 1) // tasks, <Py_ssize_t> 1) * STRIP_CHANNELS


cdef inline int run_sums(
    Sums* s, cnp.ndarray a, str name, cnp.ndarray first, str other, cnp.ndarray second,
    int n_threads,
) except -1:
    cdef cnp.npy_intp size = cnp.PyArray_DIM(a, 1)
    if s.apart:
        size *= cnp.PyArray_DIM(a, 0)
    require_output(name, first, OF_FLOAT32, 1, &size)
    require_output(other, second, OF_FLOAT32, 1, &size)
    s.a = <const float*> cnp.PyArray_DATA(a)
    s.b = s.a if s.b == NULL else s.b
    s.first, s.second = <float*> cnp.PyArray_DATA(first), <float*> cnp.PyArray_DATA(second)
    s.batch, s.channels = cnp.PyArray_DIM(a, 0), cnp.PyArray_DIM(a, 1)
    s.length = cnp.PyArray_DIM(a, 2)
    s.channels_per_task = 1
    n_threads = useful_threads(<double> cnp.PyArray_SIZE(a), WORK_PER_THREAD, n_threads)
    s.across = not cnp.PyArray_IS_C_CONTIGUOUS(a)
    if s.across:
        s.channels_per_task = channels_across(s.channels, n_threads)
    elif s.length <= PLACES:
        s.channels_per_task = BLOCK // max(s.length, <Py_ssize_t> 1)
    with nogil:
        parallel_for(sums_task, s, tasks_of_image(s) * (s.batch if s.apart else 1), n_threads)
    return 0
