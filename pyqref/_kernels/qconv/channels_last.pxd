# Boxes of pixels, taken out of an image that lies in any order: their channels come last. Real
# numbers become bytes on the way.

from libc.stdint cimport uint8_t
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.qconv.quantize_input cimport REALS_A_THREAD, quantize_line
from pyqref._kernels.qconv.scatter cimport copy_bytes
from pyqref._kernels.qconv.source cimport TRANSPOSED, Source, transpose_block

cdef enum:
    PIXELS_A_TASK = 1 << 8
    BYTES_A_THREAD = 1 << 17    # of whole blocks


# Pixels of some images: along each dimension so many from the first, so far apart.
cdef struct Box:
    Py_ssize_t image, images
    Py_ssize_t[3] first, count, apart


# The lines of a box, each with all of its channels; several that follow one another are one.
cdef struct Turn:
    const Source* source
    Box box
    Py_ssize_t pixels           # of a line
    Py_ssize_t step             # from one to the next, in the source
    Py_ssize_t tasks_a_line
    uint8_t* out


cdef inline void transpose_pixels(
    const Source* s, const uint8_t* x, uint8_t* out, bint exact
) noexcept nogil:
    """All channels of some pixels; what does not fill a block is written first, beyond its end."""
    cdef Py_ssize_t whole = s.channels // TRANSPOSED * TRANSPOSED
    cdef Py_ssize_t c = 0
    if whole < s.channels:
        transpose_block(
            x + whole * s.step[1], s.step[1], <int> (s.channels - whole), out + whole, s.channels,
            exact,
        )
    while c < whole:
        transpose_block(x + c * s.step[1], s.step[1], TRANSPOSED, out + c, s.channels, True)
        c += TRANSPOSED


cdef inline void transpose_line(
    const Source* s, const uint8_t* x, Py_ssize_t pixels, uint8_t* out
) noexcept nogil:
    """Pixels that follow one another, in blocks; a last one overlaps the one before."""
    cdef Py_ssize_t pixel = 0
    while pixel + TRANSPOSED <= pixels:
        # What is written too much stays within these pixels.
        transpose_pixels(
            s, x + pixel, out + pixel * s.channels,
            (pixels - pixel - TRANSPOSED) * s.channels < TRANSPOSED,
        )
        pixel += TRANSPOSED
    if pixel < pixels:
        pixel = pixels - TRANSPOSED
        transpose_pixels(s, x + pixel, out + pixel * s.channels, True)


cdef inline void take_line(
    const Source* s, const uint8_t* x, Py_ssize_t step, Py_ssize_t pixels, uint8_t* out
) noexcept nogil:
    """Pixels that are ``step`` bytes apart."""
    cdef Py_ssize_t i, c
    if s.is_real:
        quantize_line(s, x, step, pixels, out)
    elif step == 1 and pixels >= TRANSPOSED:
        transpose_line(s, x, pixels, out)
    elif s.channels == 1 or s.step[1] == 1:
        for i in range(pixels):
            copy_bytes(out + i * s.channels, x + i * step, s.channels)
    else:
        for i in range(pixels):
            for c in range(s.channels):
                out[i * s.channels + c] = x[i * step + c * s.step[1]]


cdef inline void transpose_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef const Turn* t = <const Turn*> context
    cdef const Source* s = t.source
    cdef const Box* b = &t.box
    cdef Py_ssize_t line = index // t.tasks_a_line
    cdef Py_ssize_t pixel = index % t.tasks_a_line * PIXELS_A_TASK
    cdef Py_ssize_t count = min(t.pixels - pixel, <Py_ssize_t> PIXELS_A_TASK)
    cdef uint8_t* out = t.out + (line * t.pixels + pixel) * s.channels
    cdef Py_ssize_t at = pixel * t.step + b.first[2] * s.step[4]
    at += (b.first[1] + line % b.count[1] * b.apart[1]) * s.step[3]
    line //= b.count[1]
    at += (b.first[0] + line % b.count[0] * b.apart[0]) * s.step[2]
    at += (b.image + line // b.count[0]) * s.step[0]
    take_line(s, s.x + at, t.step, count, out)


cdef inline void take_box(
    const Source* source, const Box* box, uint8_t* out, int n_threads
) noexcept nogil:
    """Copy a box to ``out (images, *count, channels)``."""
    cdef Turn t
    cdef Py_ssize_t blocks = (source.channels + TRANSPOSED - 1) // TRANSPOSED
    cdef Py_ssize_t lines
    cdef double work
    cdef int axis
    t.source, t.box, t.out = source, box[0], out
    t.pixels, t.step = box.count[2], box.apart[2] * source.step[4]
    for axis in range(1, -1, -1):
        if t.box.count[axis] > 1 and box.apart[axis] * source.step[2 + axis] != t.pixels * t.step:
            break
        t.pixels *= t.box.count[axis]
        t.box.count[axis] = 1
    lines = box.images * t.box.count[0] * t.box.count[1]
    if lines * t.pixels * source.channels == 0:
        return
    t.tasks_a_line = (t.pixels + PIXELS_A_TASK - 1) // PIXELS_A_TASK
    work = <double> lines * t.pixels
    if source.is_real:
        n_threads = useful_threads(work * source.channels, REALS_A_THREAD, n_threads)
    else:
        n_threads = useful_threads(work * blocks * TRANSPOSED, BYTES_A_THREAD, n_threads)
    parallel_for(transpose_task, &t, lines * t.tasks_a_line, n_threads)
