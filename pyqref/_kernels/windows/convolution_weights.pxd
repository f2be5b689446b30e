# The gradient of the filters of a convolution of floats.
#
# A task has some channels of a group. It copies them image by image, as a convolution does, and
# multiplies what each tap meets by the gradients of the results, RESULTS results at a time.
#
# With a stride of 1 inputs are read in place, tap by tap, and results for which a tap meets padding
# are left out. A zero that is added to a sum that began with +0 changes it only if the gradient of
# the result is infinite or nan. Then the sum of another tap is, and all is computed from copies.

from libc.string cimport memset
from pyqref._kernels._parallel cimport is_ending
from pyqref._kernels.simd.primitives cimport SIMD_LANES
from pyqref._kernels.windows.convolution cimport scratch_of
from pyqref._kernels.windows.convolution_boxes cimport (
    POSITIONS, Axis, Box, Convolution, copy_box,
)
from pyqref._kernels.windows.gathering cimport places_before
from pyqref._kernels.windows.regions cimport Part, part_of

cdef extern from "simd/transpose.h":
    void transpose_f32(
        float* target, Py_ssize_t target_row, const float* source, Py_ssize_t source_row,
        Py_ssize_t rows, Py_ssize_t columns,
    ) nogil

cdef extern from "windows/convolution.h":
    ctypedef struct Span:
        Py_ssize_t at, count, first
    void add_weight_tiles(
        const float* panel, const Span* spans, Py_ssize_t count, Py_ssize_t terms, int vectors,
        const float* x, const Py_ssize_t* offsets, float* sums, Py_ssize_t step
    ) nogil

cdef enum:
    RESULTS = 256               # that are added up before the sum is added to those before
    FEWEST_TERMS = 48           # of a task: for fewer, panels would be laid out too often
    FEWEST_CHANNELS = 16        # whose terms of one tap fill tiles


cdef struct WeightGradient:
    Convolution layer           # whose box is an image, and channels those of a task
    const float* grad
    float* out                  # (groups * outputs, channels * taps)
    Py_ssize_t images, all_channels, chunks, length
    Py_ssize_t panels           # of POSITIONS outputs
    bint in_place               # are the inputs, which are copied otherwise
    Py_ssize_t step             # of terms that are added at a time


cdef inline void find_results(const Convolution* p, Py_ssize_t tap, Box* met) noexcept nogil:
    """Find the results for which a tap meets the image."""
    cdef Py_ssize_t axis, start, end
    cdef const Axis* a
    for axis in range(2, -1, -1):
        a = p.axes + axis
        start = tap % a.kernel * a.dilation - a.before
        tap //= a.kernel
        end = places_before(a.size - start, a.stride, a.out_size)
        met.first[axis] = places_before(-start, a.stride, a.out_size)
        met.count[axis] = end - met.first[axis]


cdef inline Py_ssize_t lay_spans(
    const Convolution* p, Py_ssize_t first, Py_ssize_t count, const Box* met, Span* spans
) noexcept nogil:
    """Find the inputs of those of ``count`` results from ``first`` on that are in a box."""
    cdef Py_ssize_t width = p.axes[2].out_size
    cdef Py_ssize_t height = p.axes[1].out_size
    cdef Py_ssize_t at = first
    cdef Py_ssize_t found = 0
    cdef Py_ssize_t line, z, y, x, end
    while at < first + count:
        line = at // width
        x = at - line * width
        end = min(width, x + first + count - at)
        z, y = line // height, line % height
        at += end - x
        if (
            met.first[0] <= z < met.first[0] + met.count[0]
            and met.first[1] <= y < met.first[1] + met.count[1]
        ):
            line *= width
            x, end = max(x, met.first[2]), min(end, met.first[2] + met.count[2])
            if x < end:
                spans[found].at, spans[found].count = z * p.plane + y * p.pitch + x, end - x
                spans[found].first = line + x - first
                found += 1
    return found


cdef inline void add_block(
    const WeightGradient* w, const float* grad, Py_ssize_t first, Py_ssize_t channels,
    const float* copied, float* sums, float* panel, Span* spans
) noexcept nogil:
    """Add the terms of some results of one image to the sums of all outputs."""
    cdef const Convolution* p = &w.layer
    cdef Py_ssize_t count = min(<Py_ssize_t> RESULTS, w.length - first)
    cdef Py_ssize_t terms = channels * p.taps
    cdef Py_ssize_t i, outputs, tap, lines
    cdef Box met
    for i in range(3):
        met.first[i], met.count[i] = 0, p.axes[i].out_size
    for i in range(w.panels):
        outputs = min(p.outputs - i * POSITIONS, <Py_ssize_t> POSITIONS)
        if outputs < POSITIONS:
            memset(panel, 0, count * POSITIONS * sizeof(float))
        transpose_f32(
            panel, POSITIONS, grad + i * POSITIONS * w.length + first, w.length, outputs, count
        )
        for tap in range(w.step):
            if w.in_place:
                find_results(p, tap, &met)
            lines = lay_spans(p, first, count, &met, spans)
            add_weight_tiles(
                panel, spans, lines, terms // w.step,
                <int> ((outputs + SIMD_LANES - 1) // SIMD_LANES), copied, p.offsets + tap,
                sums + (i * terms + tap) * POSITIONS, w.step,
            )


cdef inline bint are_finite(
    const WeightGradient* w, Py_ssize_t terms, const float* sums
) noexcept nogil:
    """Look at the terms of one channel, for all outputs."""
    cdef const Convolution* p = &w.layer
    cdef Py_ssize_t o, tap
    cdef float total = 0
    for o in range(p.outputs):
        for tap in range(p.taps):
            total += 0 * sums[(o // POSITIONS * terms + tap) * POSITIONS + o % POSITIONS]
    return total == 0


cdef inline bint are_met_in_place(const WeightGradient* w) noexcept nogil:
    """Return True if inputs may be read where they lie, because all results meet one or more."""
    cdef Py_ssize_t axis, i
    cdef Part part
    for axis in range(3):
        if w.layer.axes[axis].stride > 1:
            return False
        for i in range(w.layer.axes[axis].out_size):
            part = part_of(w.layer.axes + axis, i)
            if part.tap == part.end:
                return False
    return w.all_channels >= FEWEST_CHANNELS


cdef inline void weight_gradient_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some channels of one group, for all of its outputs."""
    cdef WeightGradient* w = <WeightGradient*> context
    cdef const Convolution* p = &w.layer
    cdef Py_ssize_t group = index // w.chunks
    cdef Py_ssize_t channel = index % w.chunks * p.channels
    cdef Py_ssize_t channels = min(p.channels, w.all_channels - channel)
    cdef Py_ssize_t terms = channels * p.taps
    cdef Py_ssize_t size = p.axes[0].size * p.axes[1].size * p.axes[2].size
    cdef float* copied = scratch_of(p, thread)
    cdef const float* met = copied
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
        if w.in_place:
            met = x - (
                p.axes[0].before * p.plane + p.axes[1].before * p.pitch + p.axes[2].before
            )
        else:
            for i in range(channels):
                copy_box(p, x + i * size, &box, copied + i * p.channel)
        for i in range((w.length + RESULTS - 1) // RESULTS):
            if is_ending():
                return
            add_block(
                w, w.grad + (image * p.groups + group) * p.outputs * w.length, i * RESULTS,
                channels, met, sums, panel, spans,
            )
    if w.in_place and not are_finite(w, terms, sums):
        w.layer.met_infinity = True
    out = w.out + group * p.outputs * w.all_channels * p.taps + channel * p.taps
    for i in range(w.panels):
        first = i * POSITIONS
        transpose_f32(
            out + first * w.all_channels * p.taps, w.all_channels * p.taps, sums + first * terms,
            POSITIONS, terms, min(<Py_ssize_t> POSITIONS, p.outputs - first),
        )
