# Images whose channels come first in memory, copied so that they come last.

cdef extern from "qconv/turn.h":
    void turn_block(
        const uint8_t* source, Py_ssize_t source_step, int channels, uint8_t* target,
        Py_ssize_t target_step, int exact,
    ) nogil

cdef enum:
    TURNED = 16                 # pixels, and channels at most, of a block
    PIXELS_A_TASK = 1 << 10
    BYTES_A_THREAD = 1 << 18


cdef struct Turn:
    const uint8_t* x                # (batch, channels, pixels)
    uint8_t* out                    # (batch, pixels, channels)
    Py_ssize_t channels, pixels, tasks_an_image


cdef void turn_pixels(const Turn* t, const uint8_t* x, uint8_t* out, bint exact) noexcept nogil:
    """All channels of some pixels; what does not fill a block is written first, beyond its end."""
    cdef Py_ssize_t whole = t.channels // TURNED * TURNED
    cdef Py_ssize_t c = 0
    if whole < t.channels:
        turn_block(
            x + whole * t.pixels, t.pixels, <int> (t.channels - whole), out + whole, t.channels,
            exact,
        )
    while c < whole:
        turn_block(x + c * t.pixels, t.pixels, TURNED, out + c, t.channels, True)
        c += TURNED


cdef void turn_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef const Turn* t = <const Turn*> context
    cdef Py_ssize_t image = index // t.tasks_an_image * t.channels * t.pixels
    cdef Py_ssize_t pixel = index % t.tasks_an_image * PIXELS_A_TASK
    cdef Py_ssize_t end = min(pixel + PIXELS_A_TASK, t.pixels)
    cdef const uint8_t* x = t.x + image
    cdef uint8_t* out = t.out + image
    cdef Py_ssize_t c
    while pixel + TURNED <= end:
        # What is written too much stays within the pixels of this task.
        turn_pixels(
            t, x + pixel, out + pixel * t.channels,
            (end - pixel - TURNED) * t.channels < TURNED,
        )
        pixel += TURNED
    if pixel < end and end - TURNED >= index % t.tasks_an_image * PIXELS_A_TASK:
        pixel = end - TURNED
        turn_pixels(t, x + pixel, out + pixel * t.channels, True)
        return
    while pixel < end:
        for c in range(t.channels):
            out[pixel * t.channels + c] = x[c * t.pixels + pixel]
        pixel += 1


def put_channels_last(cnp.ndarray x, cnp.ndarray out, int n_threads):
    """Copy bytes ``(batch, channels, *size)`` to ``(batch, *size, channels)``."""
    cdef Turn t
    cdef Py_ssize_t batch = cnp.PyArray_DIM(x, 0)
    if cnp.PyArray_SIZE(x) == 0:
        return
    t.x, t.out = <const uint8_t*> cnp.PyArray_DATA(x), <uint8_t*> cnp.PyArray_DATA(out)
    t.channels = cnp.PyArray_DIM(x, 1)
    t.pixels = cnp.PyArray_SIZE(x) // (batch * t.channels)
    t.tasks_an_image = (t.pixels + PIXELS_A_TASK - 1) // PIXELS_A_TASK
    with nogil:
        n_threads = useful_threads(
            <double> batch * t.channels * t.pixels, BYTES_A_THREAD, n_threads
        )
        parallel_for(turn_task, &t, batch * t.tasks_an_image, n_threads)
