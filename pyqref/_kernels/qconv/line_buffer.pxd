# Copies of the lines of an image that lie under a line of outputs.
#
# A copy begins and ends with the padding, its bytes are unsigned, and where windows are several
# pixels apart, it has first the pixels under the first tap of each window, then those one further
# on, and so on: what neighbouring windows take for one tap always lies side by side. It holds some
# channels of the pixels under some outputs, so that all copies stay in a near cache. Where taps are
# so far apart that most of what a window reaches over is under none, a copy has what the first tap
# takes for these outputs, then the next, and so on.

from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memcpy, memset
from pyqref._kernels.cache cimport whole_lines
from pyqref._kernels.product.description cimport COPIED_TOO_MUCH, Epilogue
from pyqref._kernels.qconv.im2col cimport Image, Position, is_in, reach
from pyqref._kernels.simd.primitives cimport *

cdef enum:
    VECTOR_BYTES = 4 * SIMD_LANES   # that are read at a time, from any place


# What finishes sums in the order of quads.
cdef extern from "qconv/quads.h":
    void prefetch_apart(const void* first, Py_ssize_t step, Py_ssize_t count) nogil

    ctypedef struct Finish:
        float bias_multiplier, high
        int zero_point, lowest, flip
        Py_ssize_t bytes

    ctypedef struct Factors:
        const int32_t* offset
        const float* multiplier
        const float* bias


cdef struct Lines:
    const Image* image
    Py_ssize_t channel, width       # which channels
    Py_ssize_t first, outputs       # which outputs of a line
    Py_ssize_t most                 # lines under a window
    Py_ssize_t n_copies             # that are kept: of all of them, or of none
    Py_ssize_t phases               # sets of pixels that are `stride` apart
    Py_ssize_t apart                # pixels from the beginning of one to that of the next
    Py_ssize_t pixels, phase_size   # of each; the bytes from one to the next
    Py_ssize_t line_size
    const uint8_t* end              # of the image
    const uint8_t** lines           # those under a window; NULL: padding
    const uint8_t** copied          # which line each copy is of
    uint8_t* copies
    uint8_t* blank                  # a line of padding


cdef inline void measure_lines(
    Lines* l, const Image* image, Py_ssize_t width, Py_ssize_t outputs, Py_ssize_t most,
    bint by_taps,
) noexcept nogil:
    """Say how much ``outputs`` of a line take of ``width`` channels."""
    cdef Py_ssize_t reached = (image.kernel[2] - 1) * image.dilation[2] + 1
    cdef Py_ssize_t pixels = image.batch * image.size[0] * image.size[1] * image.size[2]
    l.image, l.width, l.outputs, l.most, l.n_copies = image, width, outputs, most, most
    l.phases, l.apart = min(image.stride[2], reached), 1
    l.pixels = outputs + (reached - 1) // image.stride[2]
    if by_taps:
        l.phases, l.apart, l.pixels = image.kernel[2], image.dilation[2], outputs
    l.phase_size = l.pixels * width
    l.line_size = (l.phases * l.phase_size + VECTOR_BYTES + COPIED_TOO_MUCH + 63) // 64 * 64
    l.end = image.x + pixels * image.channels


cdef inline void measure_blank(
    Lines* l, const Image* image, Py_ssize_t width, Py_ssize_t most, Py_ssize_t size
) noexcept nogil:
    """No copies, but ``size`` bytes of padding."""
    l.image, l.width, l.outputs, l.most, l.n_copies = image, width, 0, most, 0
    l.line_size = whole_lines(size)


cdef inline Py_ssize_t size_of_lines(const Lines* l) noexcept nogil:
    return (l.n_copies + 1) * l.line_size + 2 * l.most * <Py_ssize_t> sizeof(void*)


cdef inline void place_lines(Lines* l, uint8_t* scratch) noexcept nogil:
    l.blank = scratch
    l.copies = l.blank + l.line_size
    l.lines = <const uint8_t**> (l.copies + l.n_copies * l.line_size)
    l.copied = l.lines + l.most
    memset(l.blank, l.image.zero_point ^ l.image.flip, l.line_size)


cdef inline void begin_lines(Lines* l, Py_ssize_t channel, Py_ssize_t first) noexcept nogil:
    """Turn to other channels, or to other outputs of the lines: no copy is of these."""
    l.channel, l.first = channel, first
    memset(l.copied, 0, l.most * sizeof(void*))


cdef inline Py_ssize_t outputs_at_once(
    const Image* image, Py_ssize_t width, Py_ssize_t most, bint by_taps, Py_ssize_t most_bytes
) noexcept nogil:
    """Outputs of a line whose copies take some bytes, or one; the line in equal parts."""
    cdef Lines lines
    cdef Py_ssize_t outputs, parts
    measure_lines(&lines, image, width, 1, most, by_taps)
    outputs = (most_bytes // most - lines.line_size) // (width * lines.phases)
    outputs = max(outputs, <Py_ssize_t> 0) + 1
    parts = (image.out[2] + outputs - 1) // outputs
    return (image.out[2] + parts - 1) // parts


cdef inline bint are_far_apart(
    const Image* image, Py_ssize_t width, Py_ssize_t most, Py_ssize_t most_bytes
) noexcept nogil:
    """Return True if the taps read fewer pixels than lie between the first and the last of them."""
    cdef Lines lines
    cdef Py_ssize_t outputs = outputs_at_once(image, width, most, False, most_bytes)
    measure_lines(&lines, image, width, outputs, most, False)
    return image.dilation[2] > 1 and image.kernel[2] * outputs < lines.phases * lines.pixels


cdef inline const uint8_t* line_under(
    const Image* image, const Position* p, Py_ssize_t depth, Py_ssize_t height
) noexcept nogil:
    """The line under a window that is so far from its first; NULL in the padding."""
    cdef Py_ssize_t z = reach(image, p, 0, 0) + depth
    cdef Py_ssize_t y = reach(image, p, 1, 0) + height
    if not (is_in(image, 0, z) and is_in(image, 1, y)):
        return NULL
    return image.x + (
        ((p.image * image.size[0] + z) * image.size[1] + y) * image.size[2]
    ) * image.channels


cdef inline Py_ssize_t place_in_quads(Py_ssize_t i) noexcept nogil:
    """Return the place of the i-th of VECTOR_BYTES bytes in the order of ``interleave_quads``."""
    return i % 16 // 4 * SIMD_LANES + i // 16 * 4 + i % 4


cdef inline void set_finish(Finish* f, const Epilogue* e) noexcept nogil:
    f.flip = 128 if e.lower < 0 else 0
    f.zero_point, f.lowest = e.zero_point + f.flip, e.lower + f.flip
    f.bias_multiplier, f.high = e.bias_multiplier, <float> (e.upper - e.zero_point)


cdef inline Py_ssize_t place_of_tap(const Lines* l, Py_ssize_t tap) noexcept nogil:
    """Return the place in a copy of the bytes of the first output for a tap of the line."""
    cdef Py_ssize_t column = tap * l.image.dilation[2]
    cdef Py_ssize_t stride = l.image.stride[2]
    if l.apart > 1:
        return tap * l.phase_size
    return column % stride * l.phase_size + column // stride * l.width


cdef inline Py_ssize_t first_not_below(
    Py_ssize_t bound, Py_ssize_t start, Py_ssize_t step, Py_ssize_t most
) noexcept nogil:
    """The first of ``start``, ``start + step``, ... that is not below a bound; at most ``most``."""
    if start >= bound:
        return 0
    return min((bound - start + step - 1) // step, most)


cdef inline void copy_chunks(
    uint8_t* target, const uint8_t* x, Py_ssize_t width, Py_ssize_t step, Py_ssize_t count,
    const int chunks, const int chunk,
) noexcept nogil:
    cdef Py_ssize_t _i
    cdef int k
    for _i in range(count):
        for k in range(chunks):
            memcpy(target + k * chunk, x + k * chunk, chunk)
        target += width
        x += step


cdef inline void copy_pixels(
    uint8_t* target, const uint8_t* x, Py_ssize_t width, Py_ssize_t step, Py_ssize_t count,
    const uint8_t* end,
) noexcept nogil:
    """Copy ``width`` bytes of pixels that are ``step`` bytes apart.

    Copies of a constant size may write more: what follows is written later.
    """
    cdef Py_ssize_t safe = count
    while safe > 0 and x + (safe - 1) * step + width + COPIED_TOO_MUCH > end:
        safe -= 1
    if width <= 16:
        copy_chunks(target, x, width, step, safe, 1, 16)
    elif width <= 32:
        copy_chunks(target, x, width, step, safe, 1, 32)
    elif width <= 64:
        copy_chunks(target, x, width, step, safe, 1, 64)
    elif width <= 128:
        copy_chunks(target, x, width, step, safe, 2, 64)
    elif width <= 192:
        copy_chunks(target, x, width, step, safe, 3, 64)
    elif width <= 256:
        copy_chunks(target, x, width, step, safe, 4, 64)
    else:
        copy_chunks(target, x, width, step, safe, 5, 64)
    while safe < count:
        memcpy(target + safe * width, x + safe * step, width)
        safe += 1


cdef inline void copy_line(const Lines* l, const uint8_t* line, uint8_t* target) noexcept nogil:
    cdef const Image* image = l.image
    cdef Py_ssize_t stride = image.stride[2]
    cdef Py_ssize_t step = stride * image.channels
    cdef Py_ssize_t phase, start, before, end, i
    cdef const uint8_t* x
    cdef uint8_t* place
    for phase in range(l.phases):
        start = l.first * stride - image.padding[2] + phase * l.apart
        before = first_not_below(0, start, stride, l.pixels)
        end = first_not_below(image.size[2], start, stride, l.pixels)
        place = target + phase * l.phase_size
        memset(place, image.zero_point, before * l.width)
        place += before * l.width
        x = line + (start + before * stride) * image.channels + l.channel
        if step == l.width:
            memcpy(place, x, (end - before) * l.width)
            place += (end - before) * l.width
        else:
            copy_pixels(place, x, l.width, step, end - before, l.end)
            place += (end - before) * l.width
        memset(place, image.zero_point, (l.pixels - end) * l.width)
    if image.flip:
        for i in range(l.line_size):
            target[i] ^= image.flip


cdef inline Py_ssize_t copy_of(
    const Lines* l, const uint8_t* line, Py_ssize_t count
) noexcept nogil:
    """Return the copy of a line, or else a copy that none of the ``count`` lines needs."""
    cdef Py_ssize_t copy, i
    for copy in range(l.most):
        if l.copied[copy] == line:
            return copy
    for copy in range(l.most):
        for i in range(count):
            if l.copied[copy] != NULL and l.lines[i] == l.copied[copy]:
                break
        else:
            return copy
    return 0


cdef inline void copy_lines(Lines* l, Py_ssize_t count) noexcept nogil:
    """Put the copies of ``count`` lines in their place; those of the windows before are kept."""
    cdef Py_ssize_t i, copy
    for i in range(count):
        if l.lines[i] != NULL:
            copy = copy_of(l, l.lines[i], count)
            if l.copied[copy] != l.lines[i]:
                l.copied[copy] = l.lines[i]
                copy_line(l, l.lines[i], l.copies + copy * l.line_size)
    for i in range(count):
        if l.lines[i] == NULL:
            l.lines[i] = l.blank
        else:
            l.lines[i] = l.copies + copy_of(l, l.lines[i], count) * l.line_size
