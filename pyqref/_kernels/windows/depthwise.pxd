# Depthwise convolution of planes of floats, and its gradients.
#
# A line of x is copied with zeros beside it, and for a stride of s in s parts, each of every s-th
# number: what a tap meets is then contiguous.

from cpython.mem cimport PyMem_RawCalloc as calloc, PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.string cimport memset
from pyqref._kernels._parallel cimport Task, is_ending, parallel_for, useful_threads
from pyqref._kernels.simd.primitives cimport SIMD_LANES
from pyqref._kernels.windows.gathering cimport PRODUCTS_PER_THREAD
from pyqref._kernels.windows.largest cimport LONG_LINE

cdef enum:
    SCRATCH = 1 << 18           # floats of the lines of an image that scratch holds

cdef extern from "windows/depthwise.h":
    enum:
        PLACES
    ctypedef struct Lines:
        const float* x
        float* out
        Py_ssize_t x_line, out_line, width, taps
        const Py_ssize_t* offsets
        const float* weight
        float bias
    void depthwise_lines(const Lines* lines, Py_ssize_t count) nogil
    void add_products(
        float* places, const float* x, Py_ssize_t x_line, const float* g, Py_ssize_t g_line,
        Py_ssize_t lines, Py_ssize_t n,
    ) nogil
    float sum_by_halves(float* places) nogil
    void copy_every(float* target, const float* source, Py_ssize_t step, Py_ssize_t n) nogil
    void store_every(float* target, const float* source, Py_ssize_t step, Py_ssize_t n) nogil


# Planes (batch, channels, height, width), filters (channels, kernel_y, kernel_x).
cdef struct Depthwise:
    const float* x
    const float* weight
    const float* bias               # or NULL
    const float* grad
    float* out
    Py_ssize_t channels, height, width, out_height, out_width
    Py_ssize_t kernel_y, kernel_x, stride_y, stride_x, dilation_y, dilation_x, before_y, before_x
    Py_ssize_t part, line           # floats of a part of a copied line, and of all parts
    Py_ssize_t copied               # lines that are copied at a time
    Py_ssize_t strip, strips        # lines of results of a task, and tasks of a plane
    # Where results lie in the planes of `out`: the first, how far apart, and how many places.
    Py_ssize_t first_y, step_y, places_y, first_x, step_x, places_x
    Py_ssize_t* offsets             # of what each tap meets in the copied lines
    float* scratch                  # of each thread
    Py_ssize_t buffer


cdef inline Py_ssize_t first_of_part(const Depthwise* d, Py_ssize_t phase) noexcept nogil:
    """Return the index in a part of the first number of the line, behind the padding."""
    return max((d.before_x - phase + d.stride_x - 1) // d.stride_x, <Py_ssize_t> 0)


cdef inline Py_ssize_t count_of_part(const Depthwise* d, Py_ssize_t phase) noexcept nogil:
    """Return how many numbers of the line a part has."""
    cdef Py_ssize_t x = first_of_part(d, phase) * d.stride_x + phase - d.before_x
    return (d.width - x + d.stride_x - 1) // d.stride_x if x < d.width else 0


cdef inline void copy_lines_apart(
    const Depthwise* d, const float* plane, Py_ssize_t first, Py_ssize_t count, float* target
) noexcept nogil:
    """Lines of the padded plane, in parts, with zeros beside them."""
    cdef Py_ssize_t start = max(first, d.before_y)
    cdef Py_ssize_t end = min(first + count, d.before_y + d.height)
    cdef Py_ssize_t phase, i, length, _y
    cdef const float* line
    cdef float* to
    if d.strips > 1:                # else no other lines were copied here before
        memset(target, 0, count * d.line * sizeof(float))
    for phase in range(d.stride_x):
        i = first_of_part(d, phase)
        length = min(count_of_part(d, phase), d.part - i)
        if length <= 0:
            continue
        line = plane + (start - d.before_y) * d.width + i * d.stride_x + phase - d.before_x
        to = target + (start - first) * d.line + phase * d.part + i
        for _y in range(start, end):
            copy_every(to, line, d.stride_x, length)
            line += d.width
            to += d.line


cdef inline Py_ssize_t lines_under(const Depthwise* d, Py_ssize_t count) noexcept nogil:
    """Lines of the padded plane under so many lines of results."""
    return (count - 1) * d.stride_y + (d.kernel_y - 1) * d.dilation_y + 1


cdef inline void depthwise_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some lines of results of one plane."""
    cdef const Depthwise* d = <const Depthwise*> context
    cdef float* scratch = d.scratch + thread * d.buffer
    cdef Py_ssize_t plane = index // d.strips
    cdef Py_ssize_t channel = plane % d.channels
    cdef Py_ssize_t first = index % d.strips * d.strip
    cdef Py_ssize_t count = min(d.strip, d.out_height - first)
    cdef Py_ssize_t done, i
    cdef float* out
    cdef Lines l
    copy_lines_apart(
        d, d.x + plane * d.height * d.width, first * d.stride_y, lines_under(d, count), scratch
    )
    l.x, l.x_line, l.offsets = scratch, d.stride_y * d.line, d.offsets
    l.taps = d.kernel_y * d.kernel_x
    l.weight = d.weight + channel * l.taps
    l.bias = 0 if d.bias == NULL else 0 + d.bias[channel]
    out = d.out + (
        (plane * d.places_y + d.first_y + first * d.step_y) * d.places_x + d.first_x
    )
    l.out, l.out_line, l.width = out, d.step_y * d.places_x, d.out_width
    if d.step_x > 1:
        l.out, l.out_line = scratch + d.copied * d.line, d.out_width
    # Ctrl-C ends it between lines, where these are long.
    done = 1 if l.width * l.taps >= LONG_LINE else count
    while count > 0:
        depthwise_lines(&l, min(done, count))
        if d.step_x > 1:
            for i in range(min(done, count)):
                store_every(out, l.out + i * l.out_line, d.step_x, d.out_width)
                out += d.step_y * d.places_x
        else:
            l.out += done * l.out_line
        count -= done
        if count > 0 and is_ending():
            return
        l.x += done * l.x_line


cdef inline void depthwise_weight_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Sums of one plane for each tap."""
    cdef const Depthwise* d = <const Depthwise*> context
    cdef float* scratch = d.scratch + thread * d.buffer
    cdef Py_ssize_t taps = d.kernel_y * d.kernel_x
    cdef float* places = scratch + d.copied * d.line
    cdef const float* grad = d.grad + index * d.out_height * d.out_width
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t count, t
    memset(places, 0, taps * PLACES * sizeof(float))
    while first < d.out_height:
        count = min(d.strip, d.out_height - first)
        copy_lines_apart(
            d, d.x + index * d.height * d.width, first * d.stride_y, lines_under(d, count), scratch
        )
        for t in range(taps):
            add_products(
                places + t * PLACES, scratch + d.offsets[t], d.stride_y * d.line,
                grad + first * d.out_width, d.out_width, count, d.out_width,
            )
            if is_ending():
                return
        first += count
    for t in range(taps):
        d.out[index * taps + t] = sum_by_halves(places + t * PLACES)


cdef inline int run_depthwise(
    Depthwise* d, tuple sizes, tuple geometry, Task task, Py_ssize_t planes, int n_threads
) except -1:
    """``sizes``: height and width of x, of the results, and of the kernel."""
    cdef Py_ssize_t ky, kx, taps, tasks
    d.height, d.width, d.out_height, d.out_width, d.kernel_y, d.kernel_x = sizes
    d.stride_y, d.stride_x, d.dilation_y, d.dilation_x, d.before_y, d.before_x = geometry
    taps = d.kernel_y * d.kernel_x
    # A vector may be read behind the last.
    d.part = d.out_width + ((d.kernel_x - 1) * d.dilation_x) // d.stride_x + SIMD_LANES
    d.line = d.part * d.stride_x
    d.strip = max((SCRATCH // d.line - lines_under(d, 1)) // d.stride_y + 1, <Py_ssize_t> 1)
    d.strip = min(d.strip, d.out_height)
    d.strips = (d.out_height + d.strip - 1) // d.strip
    d.copied = lines_under(d, d.strip)
    d.buffer = d.copied * d.line + taps * PLACES
    if d.step_x > 1:
        d.buffer += d.strip * d.out_width
    n_threads = useful_threads(
        <double> planes * d.out_height * d.out_width * taps, PRODUCTS_PER_THREAD, n_threads
    )
    d.offsets = <Py_ssize_t*> malloc(taps * sizeof(Py_ssize_t))
    d.scratch = <float*> calloc(d.buffer * n_threads, sizeof(float))
    if d.offsets == NULL or d.scratch == NULL:
        free(d.offsets)
        free(d.scratch)
        raise MemoryError()
    for ky in range(d.kernel_y):
        for kx in range(d.kernel_x):
            d.offsets[ky * d.kernel_x + kx] = (
                ky * d.dilation_y * d.line + kx * d.dilation_x % d.stride_x * d.part
                + kx * d.dilation_x // d.stride_x
            )
    tasks = planes if task == depthwise_weight_task else planes * d.strips
    with nogil:
        parallel_for(task, d, tasks, n_threads)
        free(d.offsets)
        free(d.scratch)
    return 0
