# Convolutions in groups of 4, 8 or 16 channels in and out, vectors along the outputs.
#
# As an ordinary product each group would be too narrow, and several joined would multiply mostly
# zeros. But the inputs of 16 outputs lie in the 16 bytes at the same place, so that one shuffle
# gives every lane the quad of its group.

from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.stdint cimport int8_t, int32_t, uint8_t
from libc.string cimport memcpy
from pyqref._kernels._parallel cimport is_ending, parallel_for, useful_threads
from pyqref._kernels.cache cimport next_line, scratch_of_all, scratch_step
from pyqref._kernels.product.description cimport WORK_PER_THREAD, Columns, Epilogue
from pyqref._kernels.product.kernel cimport load_columns
from pyqref._kernels.qconv.depthwise_plan cimport (
    LINES_BYTES, LONGEST_TASK, TASKS_A_THREAD, WIDTH_VECTORS,
)
from pyqref._kernels.qconv.im2col cimport Image, Position, place_of_result
from pyqref._kernels.qconv.line_buffer cimport (
    VECTOR_BYTES, Factors, Finish, Lines, are_far_apart, begin_lines, copy_lines, line_under,
    measure_lines, outputs_at_once, place_in_quads, place_lines, place_of_tap, set_finish,
    size_of_lines,
)
from pyqref._kernels.qconv.scatter cimport scatter_line

cdef enum:
    STRIP = 16                      # outputs whose weights are kept together
    STRIPS_BYTES = 1 << 15          # of weights in the order of quads, if enough for a vector


cdef extern from "qconv/grouped.h":
    ctypedef struct GroupedVectors:
        const uint8_t** taps
        Py_ssize_t n_taps
        const int8_t* weights
        Factors factors
        Finish finish
        Py_ssize_t at, count, x_step, out_step

    void grouped_vectors(const GroupedVectors* g, Py_ssize_t channels, uint8_t* out) nogil


cdef struct Grouped:
    const Image* image
    const Epilogue* epilogue
    const int8_t* strips            # (outputs / 16, quads, 16, 4)
    Py_ssize_t quads                # of each output
    Py_ssize_t n_under, n_taps      # lines under a line of outputs, taps
    Py_ssize_t width, vectors       # channels that are computed at a time; the vectors of these
    Py_ssize_t segment              # outputs of a line that are
    bint by_taps                    # how their pixels are copied
    Py_ssize_t lines, lines_a_task  # of outputs
    bint is_scattered                  # whether there are gaps between the outputs of a line
    uint8_t* scratch                # scratch_size bytes for each thread
    Py_ssize_t scratch_size
    uint8_t* out


# What a thread works with; all of it lies in its scratch.
cdef struct GroupedWork:
    Lines lines
    GroupedVectors vectors          # what is computed next
    int8_t* weights                 # [vector][quad][VECTOR_BYTES][4], in the order of quads
    int32_t* offset                 # [vector][VECTOR_BYTES]
    float* multiplier
    float* bias
    const uint8_t** taps
    uint8_t* results                # of a segment that will be scattered


cdef inline Py_ssize_t place_in_width(const Grouped* g, Py_ssize_t vector) noexcept nogil:
    """Return the beginning of a vector: the last one ends with the channels, if they suffice."""
    return max(min(vector * VECTOR_BYTES, g.width - VECTOR_BYTES), <Py_ssize_t> 0)


cdef inline void lay_strips(const Grouped* g, GroupedWork* work, Py_ssize_t channel) noexcept nogil:
    """Bring weights, and what finishes the sums, into the order of quads."""
    cdef Py_ssize_t strips = g.image.channels // STRIP
    cdef Py_ssize_t vector, first, part, quad, v, i, at
    cdef const int8_t* strip
    cdef int8_t* weights
    cdef Columns columns
    for vector in range(g.vectors):
        first = channel + place_in_width(g, vector)
        weights = work.weights + vector * g.quads * 4 * VECTOR_BYTES
        for part in range(VECTOR_BYTES // STRIP):
            strip = g.strips + min(first // STRIP + part, strips - 1) * g.quads * 4 * STRIP
            for quad in range(g.quads):
                for v in range(4):
                    memcpy(weights + (4 * quad + v) * VECTOR_BYTES + part * 16, strip, 16)
                    strip += 16
        load_columns(
            g.epilogue, &columns, first, <int> min(g.image.channels - first, VECTOR_BYTES)
        )
        for i in range(VECTOR_BYTES):
            at = vector * VECTOR_BYTES + place_in_quads(i)
            work.offset[at] = columns.offset[i]
            work.multiplier[at] = columns.multiplier[i]
            work.bias[at] = columns.bias[i]


cdef inline void find_taps(const Grouped* g, GroupedWork* work, const Position* p) noexcept nogil:
    """Find the bytes for each tap, for a line of outputs."""
    cdef const Image* image = g.image
    cdef Py_ssize_t i, k
    for i in range(g.n_under):
        work.lines.lines[i] = line_under(
            image, p, i // image.kernel[1] * image.dilation[0],
            i % image.kernel[1] * image.dilation[1],
        )
    copy_lines(&work.lines, g.n_under)
    for i in range(g.n_under):
        for k in range(image.kernel[2]):
            work.taps[i * image.kernel[2] + k] = (
                work.lines.lines[i] + place_of_tap(&work.lines, k)
            )


cdef inline void set_up_grouped(const Grouped* g, GroupedWork* work, int thread) noexcept nogil:
    """Lay a thread's things out in its scratch."""
    cdef uint8_t* scratch = g.scratch + thread * scratch_step(g.scratch_size)
    cdef Py_ssize_t size = 4 * VECTOR_BYTES * g.vectors
    cdef GroupedVectors* v = &work.vectors
    work.weights = <int8_t*> scratch
    scratch += size * g.quads
    work.offset = <int32_t*> scratch
    work.multiplier = <float*> (scratch + size)
    work.bias = <float*> (scratch + 2 * size)
    scratch += 3 * size
    measure_lines(&work.lines, g.image, g.width, g.segment, g.n_under, g.by_taps)
    place_lines(&work.lines, scratch)
    work.taps = <const uint8_t**> (scratch + size_of_lines(&work.lines))
    work.results = <uint8_t*> (work.taps + g.n_taps)
    v.taps, v.n_taps = work.taps, g.n_taps
    set_finish(&v.finish, g.epilogue)
    v.finish.bytes = min(<Py_ssize_t> VECTOR_BYTES, g.width)
    v.count, v.x_step = g.segment, g.width
    v.out_step = g.width if g.is_scattered else g.image.channels


cdef inline void grouped_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some lines of outputs, part of the channels after part."""
    cdef Grouped* g = <Grouped*> context
    cdef const Image* image = g.image
    cdef Py_ssize_t first = index * g.lines_a_task
    cdef Py_ssize_t last = min(first + g.lines_a_task, g.lines)
    cdef Py_ssize_t channel = 0
    cdef Py_ssize_t start, line, vector, at
    cdef uint8_t* out
    cdef uint8_t* results
    cdef Position p
    cdef GroupedWork work
    set_up_grouped(g, &work, thread)
    while channel < image.channels:
        # The last channels, and the last segment of a line, may be computed once more.
        channel = min(channel, image.channels - g.width)
        lay_strips(g, &work, channel)
        start = 0
        while start < image.out[2]:
            if is_ending():
                return
            start = min(start, image.out[2] - g.segment)
            begin_lines(&work.lines, channel, start)
            for line in range(first, last):
                p.at[1], p.at[2] = line % image.out[1], start
                p.at[0] = line // image.out[1] % image.out[0]
                p.image = line // (image.out[1] * image.out[0])
                find_taps(g, &work, &p)
                out = g.out + place_of_result(image, &p) + channel
                results = work.results if g.is_scattered else out
                for vector in range(g.vectors):
                    at = place_in_width(g, vector)
                    work.vectors.weights = work.weights + vector * g.quads * 4 * VECTOR_BYTES
                    work.vectors.factors.offset = work.offset + vector * VECTOR_BYTES
                    work.vectors.factors.multiplier = work.multiplier + vector * VECTOR_BYTES
                    work.vectors.factors.bias = work.bias + vector * VECTOR_BYTES
                    work.vectors.at = at
                    grouped_vectors(&work.vectors, image.inputs, results + at)
                if g.is_scattered:
                    scatter_line(image, results, g.width, g.width, g.segment, out)
            start += g.segment
        channel += g.width


cdef inline int grouped(
    const Image* image, const Epilogue* epilogue, const int8_t* strips, Py_ssize_t pixels,
    uint8_t* out, int n_threads,
) except -1 nogil:
    """Run a convolution whose groups have 4, 8 or 16 channels, and whose weights are centred."""
    cdef Grouped g
    cdef Lines lines
    cdef Py_ssize_t tasks, vectors
    cdef uint8_t* scratch
    g.image, g.epilogue, g.strips, g.out = image, epilogue, strips, out
    g.is_scattered = image.step[3] != image.channels
    g.n_under = image.kernel[0] * image.kernel[1]
    g.n_taps = g.n_under * image.kernel[2]
    g.quads = g.n_taps * image.inputs // 4
    g.lines = pixels // image.out[2]
    n_threads = useful_threads(
        <double> pixels * image.channels * g.n_taps * image.inputs, WORK_PER_THREAD, n_threads
    )
    tasks = 1 if n_threads == 1 else min(n_threads * <Py_ssize_t> TASKS_A_THREAD, g.lines)
    g.lines_a_task = (g.lines + tasks - 1) // tasks
    g.lines_a_task = min(
        g.lines_a_task,
        LONGEST_TASK // (image.out[2] * image.channels * g.n_taps * image.inputs) + 1,
    )
    g.vectors = max(STRIPS_BYTES // (g.quads * 4 * VECTOR_BYTES), <Py_ssize_t> 1)
    vectors = (image.channels + VECTOR_BYTES - 1) // VECTOR_BYTES
    g.vectors = min(min(g.vectors, <Py_ssize_t> WIDTH_VECTORS), vectors)
    while vectors % g.vectors:      # none is computed twice
        g.vectors -= 1
    g.width = min(g.vectors * VECTOR_BYTES, image.channels)
    g.by_taps = are_far_apart(image, g.width, g.n_under, LINES_BYTES)
    g.segment = outputs_at_once(image, g.width, g.n_under, g.by_taps, LINES_BYTES)
    measure_lines(&lines, image, g.width, g.segment, g.n_under, g.by_taps)
    g.scratch_size = g.vectors * (g.quads + 3) * 4 * VECTOR_BYTES + size_of_lines(&lines)
    g.scratch_size += g.n_taps * <Py_ssize_t> sizeof(void*)
    if g.is_scattered:
        g.scratch_size += g.segment * g.width
    scratch = <uint8_t*> malloc(scratch_of_all(g.scratch_size, n_threads))
    if scratch == NULL:
        with gil:
            raise MemoryError()
    g.scratch = <uint8_t*> next_line(scratch)
    parallel_for(
        grouped_task, &g, (g.lines + g.lines_a_task - 1) // g.lines_a_task, n_threads
    )
    free(scratch)
    return 0
