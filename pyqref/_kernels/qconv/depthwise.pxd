# Depthwise convolution: each channel with its own taps, vectors along the channels.
#
# An instruction adds four products of bytes to each lane; the four bytes of a channel lie far
# apart, under four taps. So four vectors of bytes, each what one tap takes for VECTOR_BYTES
# outputs side by side, are woven into four vectors of quads. Two lines of outputs are computed
# together: quads that lie under both serve both. Vectors of copied lines take no notice of where a
# pixel ends: they go along several pixels, for which weights are repeated.

from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.stdint cimport int8_t, int32_t, uint8_t
from pyqref._kernels._parallel cimport is_ending, parallel_for, useful_threads
from pyqref._kernels.cache cimport next_line, scratch_of_all, scratch_step
from pyqref._kernels.product.description cimport Epilogue, bytes_of_result
from pyqref._kernels.qconv.depthwise_in_place cimport (
    compute_in_place, find_inner, measure_padding, suits_in_place,
)
from pyqref._kernels.qconv.depthwise_plan cimport (
    LINES_BYTES, LONGEST_TASK, SLAB_BYTES, TAPS_PER_THREAD, TASKS_A_THREAD, WEIGHTS_BYTES,
    WIDTH_VECTORS, Depthwise, DepthwiseVectors, Stream, Under, Work, find_under, plan, work_of_pair,
)
from pyqref._kernels.qconv.depthwise_weights cimport (
    begin_channels, compute_copied, find_lines_under, measure_copies, size_of_streams,
)
from pyqref._kernels.qconv.im2col cimport Image, Position, place_of_result
from pyqref._kernels.qconv.line_buffer cimport (
    VECTOR_BYTES, Lines, are_far_apart, begin_lines, outputs_at_once, set_finish, size_of_lines,
)


cdef inline void set_up(const Depthwise* d, Work* work, int thread) noexcept nogil:
    """Lay a thread's things out in its scratch."""
    cdef DepthwiseVectors* v = &work.vectors
    cdef uint8_t* scratch = d.scratch + thread * scratch_step(d.scratch_size)
    cdef Py_ssize_t size = 4 * VECTOR_BYTES * d.most_vectors
    work.weights = <int8_t*> scratch
    scratch += d.weights_size * d.most_vectors
    work.offset = <int32_t*> scratch
    work.multiplier = <float*> (scratch + size)
    work.bias = <float*> (scratch + 2 * size)
    work.buffer = scratch + 3 * size
    work.streams = <const uint8_t**> (scratch + 4 * size)
    work.next = work.streams + (d.n_streams + 3) // 4 * 4
    work.lines_at = scratch + 4 * size + size_of_streams(d)
    work.results = <uint8_t*> work.weights + d.results_at
    v.streams = work.streams
    v.upper, v.both, v.lower = d.upper, d.both, d.lower
    v.finished = d.itemsize == 1
    set_finish(&v.finish, d.epilogue)


cdef inline void depthwise_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some lines of outputs, part of the channels after part."""
    cdef Depthwise* d = <Depthwise*> context
    cdef const Image* image = d.image
    cdef Py_ssize_t first = index * d.pairs_a_task
    cdef Py_ssize_t last = min(first + d.pairs_a_task, d.pairs)
    cdef Py_ssize_t channel = 0
    cdef Py_ssize_t start, pair, width, plane
    cdef uint8_t* out
    cdef uint8_t* lower
    cdef bint is_single
    cdef Work work
    cdef Position p
    set_up(d, &work, thread)
    while channel < image.channels:
        width = image.channels - channel
        if width >= d.width + VECTOR_BYTES:
            width = d.width
        begin_channels(d, &work, channel, width)
        start = 0
        while start < image.out[2]:
            if is_ending():
                return
            # The last segment ends with the line, and may take some outputs once more.
            start = min(start, image.out[2] - d.segment)
            p.at[2] = start
            begin_lines(&work.lines, channel, start)
            for pair in range(first, last):
                plane = pair // d.pairs_a_plane
                p.image, p.at[0] = plane // image.out[0], plane % image.out[0]
                p.at[1] = 2 * (pair % d.pairs_a_plane)
                is_single = p.at[1] + 1 == image.out[1]
                find_lines_under(d, &work, &p)
                out = d.out + place_of_result(image, &p) + channel * d.itemsize
                lower = NULL if is_single else out + image.step[2]
                if d.in_place:
                    compute_in_place(d, &work, out, lower)
                else:
                    compute_copied(d, &work, out, lower)
            start += d.segment
        channel += width


cdef inline void measure_depthwise(Depthwise* d, int n_threads) noexcept nogil:
    """Choose how much is done at a time, and what scratch that takes."""
    cdef const Image* image = d.image
    cdef Py_ssize_t tasks, widest
    cdef Lines lines
    d.pairs_a_plane = (image.out[1] + 1) // 2
    d.pairs = image.batch * image.out[0] * d.pairs_a_plane
    tasks = 2 * d.pairs * image.out[2] * image.channels // SLAB_BYTES // n_threads
    tasks = 1 if n_threads == 1 else n_threads * max(min(tasks, <Py_ssize_t> TASKS_A_THREAD), 1)
    d.pairs_a_task = (d.pairs + tasks - 1) // tasks
    d.pairs_a_task = min(d.pairs_a_task, LONGEST_TASK // work_of_pair(d) + 1)
    d.weights_size = (d.upper + 2 * d.both + d.lower) * 4 * VECTOR_BYTES
    d.most_vectors = max(WEIGHTS_BYTES // d.weights_size, <Py_ssize_t> 2)
    d.width = min(d.most_vectors - 1, <Py_ssize_t> WIDTH_VECTORS) * VECTOR_BYTES
    find_inner(d)
    d.in_place = suits_in_place(d)
    widest = min(image.channels, d.width + VECTOR_BYTES - 1)
    d.by_taps = not d.in_place and are_far_apart(image, widest, d.n_under, LINES_BYTES)
    d.segment = image.out[2]
    if d.in_place:
        measure_padding(d, widest)
    else:
        d.segment = outputs_at_once(image, widest, d.n_under, d.by_taps, LINES_BYTES)
    measure_copies(d, &lines, widest)
    d.scratch_size = d.most_vectors * (d.weights_size + 16 * VECTOR_BYTES)
    d.scratch_size += size_of_streams(d) + size_of_lines(&lines)
    d.results_at = d.scratch_size
    if d.is_scattered and not d.in_place:
        d.scratch_size += 2 * d.segment * widest * d.itemsize


cdef inline int depthwise(
    const Image* image, const Epilogue* epilogue, const int8_t* taps, Py_ssize_t pixels,
    uint8_t* out, int n_threads,
) except -1 nogil:
    """Run a depthwise convolution with as many outputs as inputs, whose weights are centred."""
    cdef Depthwise d
    cdef Py_ssize_t rows = image.kernel[0] * image.kernel[1]
    cdef Py_ssize_t n_taps = rows * image.kernel[2]
    cdef uint8_t* scratch
    if n_taps == 0 or image.channels == 0:
        return 0
    d.image, d.epilogue, d.taps, d.out = image, epilogue, taps, out
    d.padded = (image.channels + 15) // 16 * 16
    d.itemsize = bytes_of_result(epilogue)
    d.is_scattered = image.step[3] != image.channels
    n_threads = useful_threads(
        <double> pixels * image.channels * n_taps, TAPS_PER_THREAD, n_threads
    )
    d.under = <Under*> malloc(2 * (rows * sizeof(Under) + n_taps * sizeof(Stream)))
    scratch = NULL
    if d.under:
        d.streams = <Stream*> (d.under + 2 * rows)
        find_under(&d, image.out[1] > 1)
        plan(&d)
        measure_depthwise(&d, n_threads)
        scratch = <uint8_t*> malloc(scratch_of_all(d.scratch_size, n_threads))
    if scratch:
        d.scratch = <uint8_t*> next_line(scratch)
        parallel_for(
            depthwise_task, &d, (d.pairs + d.pairs_a_task - 1) // d.pairs_a_task, n_threads
        )
    free(scratch)
    free(d.under)
    if not scratch:
        with gil:
            raise MemoryError()
    return 0
