# Images whose channels come last in memory, copied so that they come first: included by the body.

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


cdef void transpose_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
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


def put_channels_first(cnp.ndarray x, cnp.ndarray out, int n_threads):
    """Bytes ``(batch, pixels, channels)`` to ``(batch, channels, pixels)``; 16 channels or more."""
    cdef Turn t
    cdef Py_ssize_t batch = cnp.PyArray_DIM(x, 0)
    cdef cnp.npy_intp[3] sizes = [batch, cnp.PyArray_DIM(x, 2), cnp.PyArray_DIM(x, 1)]
    require_output("out", out, OF_BYTES | OF_BOOL, 3, sizes)
    t.x, t.out = <const uint8_t*> cnp.PyArray_DATA(x), <uint8_t*> cnp.PyArray_DATA(out)
    t.pixels, t.channels = cnp.PyArray_DIM(x, 1), cnp.PyArray_DIM(x, 2)
    t.tasks_an_image = max(<Py_ssize_t> 1, t.channels // SIDE)
    n_threads = useful_threads(<double> cnp.PyArray_SIZE(x), BYTES_PER_THREAD, n_threads)
    with nogil:
        parallel_for(transpose_task, &t, batch * t.tasks_an_image, n_threads)
