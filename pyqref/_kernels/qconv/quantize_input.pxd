# Pixels of real numbers, which become bytes while their channels are put last.

from libc.stdint cimport uint8_t
from pyqref._kernels.qconv.source cimport TRANSPOSED, Source, transpose_block
from pyqref._kernels.quantize.to_bytes cimport quantize_bytes

cdef enum:
    REAL = 4                    # bytes of a real number
    REALS_A_THREAD = 1 << 17
    STRETCH = 256                # numbers that become bytes at a time


cdef inline void quantize_some(
    const Source* s, const uint8_t* x, uint8_t* out, Py_ssize_t n
) noexcept nogil:
    """Numbers side by side; all bytes are used, whatever bits the grid was chosen for."""
    quantize_bytes(<const float*> x, out, n, s.inverse, s.offset, 0, 255)


cdef inline void quantize_stretch(
    const Source* s, const uint8_t* x, Py_ssize_t n, Py_ssize_t channels, uint8_t* out,
    Py_ssize_t buffer,
) noexcept nogil:
    """Some channels of n pixels that follow one another; bytes are transposed in blocks.

    ``buffer`` is how many bytes from ``out`` on are of these pixels, or of what is written later.
    """
    cdef uint8_t[TRANSPOSED * STRETCH] rows
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t c
    for c in range(channels):
        quantize_some(s, x + c * s.step[1], rows + c * STRETCH, n)
    while i + TRANSPOSED <= n:
        transpose_block(
            rows + i, STRETCH, <int> channels, out, s.channels,
            s.channels >= TRANSPOSED or (i + TRANSPOSED) * s.channels + TRANSPOSED > buffer,
        )
        out += TRANSPOSED * s.channels
        i += TRANSPOSED
    for i in range(i, n):
        for c in range(channels):
            out[c] = rows[c * STRETCH + i]
        out += s.channels


cdef inline void quantize_across(
    const Source* s, const uint8_t* x, Py_ssize_t pixels, uint8_t* out
) noexcept nogil:
    """Pixels that follow one another, each channel for itself."""
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t c
    while first < pixels:
        c = 0
        while c < s.channels:
            quantize_stretch(
                s, x + c * s.step[1] + first * REAL, min(pixels - first, <Py_ssize_t> STRETCH),
                min(s.channels - c, <Py_ssize_t> TRANSPOSED), out + first * s.channels + c,
                (pixels - first) * s.channels - c,
            )
            c += TRANSPOSED
        first += STRETCH


cdef inline void quantize_pixel(const Source* s, const uint8_t* x, uint8_t* out) noexcept nogil:
    """Channels that lie anywhere."""
    cdef float[STRETCH] some
    cdef Py_ssize_t c = 0
    cdef Py_ssize_t i, n
    if s.step[1] == REAL:
        quantize_some(s, x, out, s.channels)
        return
    while c < s.channels:
        n = min(s.channels - c, <Py_ssize_t> STRETCH)
        for i in range(n):
            some[i] = (<const float*> (x + (c + i) * s.step[1]))[0]
        quantize_some(s, <const uint8_t*> some, out + c, n)
        c += STRETCH


cdef inline void quantize_line(
    const Source* s, const uint8_t* x, Py_ssize_t step, Py_ssize_t pixels, uint8_t* out
) noexcept nogil:
    """Quantize a line of real numbers, as ``take_line`` takes one of bytes."""
    cdef Py_ssize_t i
    if step == s.channels * REAL and (s.channels == 1 or s.step[1] == REAL):
        quantize_some(s, x, out, pixels * s.channels)
    elif step == REAL:
        quantize_across(s, x, pixels, out)
    else:
        for i in range(pixels):
            quantize_pixel(s, x + i * step, out + i * s.channels)
