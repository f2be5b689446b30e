# The gradient of the filters of a convolution of floats.
#
# A task has some channels of a group. It copies them image by image, as a convolution does, and
# multiplies what each tap meets by the gradients of the results, RESULTS results at a time.

from libc.string cimport memset
from pyqref._kernels._parallel cimport is_ending
from pyqref._kernels.simd.primitives cimport SIMD_LANES
from pyqref._kernels.windows.convolution cimport scratch_of
from pyqref._kernels.windows.convolution_boxes cimport POSITIONS, Box, Convolution, copy_box

cdef extern from "simd/transpose.h":
    void transpose_f32(
        float* target, Py_ssize_t target_row, const float* source, Py_ssize_t source_row,
        Py_ssize_t rows, Py_ssize_t columns,
    ) nogil

cdef extern from "windows/convolution.h":
    ctypedef struct Span:
        Py_ssize_t at, count
    void add_weight_tiles(
        const float* panel, const Span* spans, Py_ssize_t count, Py_ssize_t terms, int vectors,
        const float* x, const Py_ssize_t* offsets, float* sums
    ) nogil

cdef enum:
    RESULTS = 256               # that are added up before the sum is added to those before
    FEWEST_TERMS = 48           # of a task: for fewer, panels would be laid out too often


cdef struct WeightGradient:
    Convolution layer           # whose box is an image, and channels those of a task
    const float* grad
    float* out                  # (groups * outputs, channels * taps)
    Py_ssize_t images, all_channels, chunks, length
    Py_ssize_t panels           # of POSITIONS outputs


cdef inline Py_ssize_t lay_spans(
    const Convolution* p, Py_ssize_t first, Py_ssize_t count, Span* spans
) noexcept nogil:
    """Find the inputs of ``count`` results from ``first`` on, line by line."""
    cdef Py_ssize_t width = p.axes[2].out_size
    cdef Py_ssize_t height = p.axes[1].out_size
    cdef Py_ssize_t line = first // width
    cdef Py_ssize_t x = first - line * width
    cdef Py_ssize_t found = 0
    while count > 0:
        spans[found].at = line // height * p.plane + line % height * p.pitch + x
        spans[found].count = min(width - x, count)
        count -= spans[found].count
        found += 1
        line += 1
        x = 0
    return found


cdef inline void add_block(
    const WeightGradient* w, const float* grad, Py_ssize_t first, Py_ssize_t channels,
    const float* copied, float* sums, float* panel, Span* spans
) noexcept nogil:
    """Add the terms of some results of one image to the sums of all outputs."""
    cdef const Convolution* p = &w.layer
    cdef Py_ssize_t count = min(<Py_ssize_t> RESULTS, w.length - first)
    cdef Py_ssize_t terms = channels * p.taps
    cdef Py_ssize_t lines = lay_spans(p, first, count, spans)
    cdef Py_ssize_t i, outputs
    for i in range(w.panels):
        outputs = min(p.outputs - i * POSITIONS, <Py_ssize_t> POSITIONS)
        if outputs < POSITIONS:
            memset(panel, 0, count * POSITIONS * sizeof(float))
        transpose_f32(
            panel, POSITIONS, grad + i * POSITIONS * w.length + first, w.length, outputs, count
        )
        add_weight_tiles(
            panel, spans, lines, terms, <int> ((outputs + SIMD_LANES - 1) // SIMD_LANES), copied,
            p.offsets, sums + i * terms * POSITIONS,
        )


cdef inline void weight_gradient_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some channels of one group, for all of its outputs."""
    cdef const WeightGradient* w = <const WeightGradient*> context
    cdef const Convolution* p = &w.layer
    cdef Py_ssize_t group = index // w.chunks
    cdef Py_ssize_t channel = index % w.chunks * p.channels
    cdef Py_ssize_t channels = min(p.channels, w.all_channels - channel)
    cdef Py_ssize_t terms = channels * p.taps
    cdef Py_ssize_t size = p.axes[0].size * p.axes[1].size * p.axes[2].size
    cdef float* copied = scratch_of(p, thread)
    cdef float* panel = copied + p.copied
    cdef float* sums = panel + RESULTS * POSITIONS
    cdef Span* spans = <Span*> (sums + w.panels * p.channels * p.taps * POSITIONS)
    cdef Py_ssize_t image, first, i
    cdef const float* x
    cdef float* out
    cdef Box box
    for i in range(3):
        box.first[i], box.count[i] = 0, p.axes[i].out_size
    memset(sums, 0, w.panels * terms * POSITIONS * sizeof(float))
    for image in range(w.images):
        x = p.x + ((image * p.groups + group) * w.all_channels + channel) * size
        for i in range(channels):
            copy_box(p, x + i * size, &box, copied + i * p.channel)
        for i in range((w.length + RESULTS - 1) // RESULTS):
            if is_ending():
                return
            add_block(
                w, w.grad + (image * p.groups + group) * p.outputs * w.length, i * RESULTS,
                channels, copied, sums, panel, spans,
            )
    out = w.out + group * p.outputs * w.all_channels * p.taps + channel * p.taps
    for i in range(w.panels):
        first = i * POSITIONS
        transpose_f32(
            out + first * w.all_channels * p.taps, w.all_channels * p.taps, sums + first * terms,
            POSITIONS, terms, min(<Py_ssize_t> POSITIONS, p.outputs - first),
        )
