# Images whose channels come last in memory, copied so that they come first: included by the body.

from libc.stdint cimport uint8_t

cdef extern from "qconv/transpose_channels.h":
    void transpose_block(
        const uint8_t* source, Py_ssize_t source_step, int channels, uint8_t* target,
        Py_ssize_t target_step, int exact,
    ) nogil

cdef enum:
    TRANSPOSED = 16                 # bytes along either side of what is transposed in registers
    SIDE = 64                   # of a block whose cache lines are used up
    BYTES_PER_THREAD = 1 << 18


cdef struct Turn:
    const uint8_t* x                # (batch, pixels, channels)
    uint8_t* out                    # (batch, channels, pixels)
    Py_ssize_t channels, pixels, tasks_an_image


cdef inline void transpose_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some channels of an image."""
    cdef const Turn* t = <const Turn*> context
    cdef Py_ssize_t image = index // t.tasks_an_image * t.channels * t.pixels
    cdef Py_ssize_t first = index % t.tasks_an_image * SIDE
    cdef bint ends = (index + 1) % t.tasks_an_image == 0
    cdef Py_ssize_t last = t.channels if ends else first + SIDE
    cdef const uint8_t* x = t.x + image
    cdef uint8_t* out = t.out + image
    cdef Py_ssize_t pixel = 0
    cdef Py_ssize_t count, channel, at
    while pixel < t.pixels:
        count = min(t.pixels - pixel, <Py_ssize_t> TRANSPOSED)
        channel = first
        while channel < last:
            # The last 16 channels may overlap those before.
            at = min(channel, t.channels - TRANSPOSED)
            transpose_block(
                x + pixel * t.channels + at, t.channels, <int> count,
                out + at * t.pixels + pixel, t.pixels, True,
            )
            channel += TRANSPOSED
        pixel += TRANSPOSED
