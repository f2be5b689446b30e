# Images of bytes, and for each result the places that it is made of.

cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy
from pyqref._kernels.images cimport Image, image_of
from pyqref._kernels.simd.primitives cimport *

cdef extern from "simd/copy.h":
    void copy_bytes(uint8_t* target, const uint8_t* source, Py_ssize_t n) nogil

ctypedef const uint8_t* Bytes

cdef enum:
    # Bytes of results that are worth a thread: copied, and interpolated.
    COPIED_PER_THREAD = 1 << 19
    COMPUTED_PER_THREAD = 1 << 15
    LONG_RUN = 256              # bytes of a pixel from which on no line is copied
    NUMBERS_A_TASK = 1 << 13
    NUMBERS_PER_THREAD = 1 << 15


# Images with their channels last in memory, and for each result along an axis its source.
cdef struct Resize:
    const uint8_t* x
    uint8_t* out
    Py_ssize_t[3] size
    Py_ssize_t[3] out_size
    Py_ssize_t channels
    const int64_t* planes
    const int64_t* rows             # the second ones of rows and columns follow the first ones
    const int64_t* columns
    const float* down
    const float* along
    bint is_signed
    float zero_point, lower, upper


cdef inline void nearest_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Lines of results that have one source (eq-quantized-nearest), at the first of them.

    Pixels of many channels are written to all of them while they are at hand.
    """
    cdef const Resize* r = <const Resize*> context
    cdef Py_ssize_t y = index % r.out_size[1]
    cdef Py_ssize_t z = index // r.out_size[1] % r.out_size[0]
    cdef Py_ssize_t image = index // r.out_size[1] // r.out_size[0]
    cdef Py_ssize_t n = r.channels
    cdef Py_ssize_t length = r.out_size[2] * n
    cdef Py_ssize_t x, i, at_once
    cdef Py_ssize_t alike = 1
    cdef uint8_t* out = r.out + index * length
    cdef const uint8_t* line = r.x + (
        ((image * r.size[0] + r.planes[z]) * r.size[1] + r.rows[y]) * r.size[2] * n
    )
    if y > 0 and r.rows[y] == r.rows[y - 1]:
        return
    while y + alike < r.out_size[1] and r.rows[y + alike] == r.rows[y]:
        alike += 1
    at_once = alike if n >= LONG_RUN else 1
    for x in range(r.out_size[2]):
        for i in range(at_once):
            copy_bytes(out + i * length + x * n, line + r.columns[x] * n, n)
    for i in range(at_once, alike):
        memcpy(out + i * length, out, length)


cdef inline void fill_sizes(Resize* r, cnp.ndarray x, cnp.ndarray out) noexcept:
    cdef Image image = image_of(x, False)
    r.x, r.out = <const uint8_t*> cnp.PyArray_DATA(x), <uint8_t*> cnp.PyArray_DATA(out)
    r.channels, r.size = image.inner, image.size
    r.out_size = image_of(out, False).size


cdef inline f32v load_real(const uint8_t* source, bint is_signed) noexcept nogil:
    return to_f32(load_bytes_of(source, is_signed))


cdef inline f32v between(f32v first, f32v second, f32v rest, f32v part) noexcept nogil:
    # Two products and a sum, each rounded, as the equation has them.
    return add_f32(mul_f32(rest, first), mul_f32(part, second))


cdef inline void bilinear_pixel(
    const Resize* r, const Bytes* corners, float down, float along, uint8_t* out,
) noexcept nogil:
    """All channels of one result (eq-quantized-bilinear)."""
    cdef f32v part = set_f32(along)
    cdef f32v rest = set_f32(1 - along)
    cdef f32v low_part = set_f32(down)
    cdef f32v low_rest = set_f32(1 - down)
    cdef f32v zero_point = set_f32(r.zero_point)
    cdef f32v lower = set_f32(r.lower)
    cdef f32v upper = set_f32(r.upper)
    cdef uint8_t[4 * LANES_MAX] few
    cdef uint8_t[LANES_MAX] few_out
    cdef Bytes[4] from_
    cdef f32v value
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t left, j
    cdef int corner
    while i < r.channels:
        left = min(r.channels - i, <Py_ssize_t> SIMD_LANES)
        for corner in range(4):
            from_[corner] = corners[corner] + i
            if left < SIMD_LANES:
                for j in range(SIMD_LANES):
                    few[corner * LANES_MAX + j] = corners[corner][i + j] if j < left else 0
                from_[corner] = few + corner * LANES_MAX
        value = between(
            between(
                load_real(from_[0], r.is_signed), load_real(from_[1], r.is_signed), rest, part
            ),
            between(
                load_real(from_[2], r.is_signed), load_real(from_[3], r.is_signed), rest, part
            ),
            low_rest, low_part,
        )
        value = round_f32(add_f32(sub_f32(value, zero_point), zero_point))
        value = min_f32(max_f32(value, lower), upper)
        if left < SIMD_LANES:
            store_low_bytes(few_out, to_i32(value))
            for j in range(left):
                out[i + j] = few_out[j]
        else:
            store_low_bytes(out + i, to_i32(value))
        i += SIMD_LANES


cdef inline void bilinear_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """One line of results."""
    cdef const Resize* r = <const Resize*> context
    cdef Py_ssize_t y = index % r.out_size[1]
    cdef Py_ssize_t image = index // r.out_size[1]
    cdef const uint8_t* whole = r.x + image * r.size[1] * r.size[2] * r.channels
    cdef const uint8_t* top = whole + r.rows[y] * r.size[2] * r.channels
    cdef const uint8_t* bottom = whole + r.rows[r.out_size[1] + y] * r.size[2] * r.channels
    cdef uint8_t* out = r.out + index * r.out_size[2] * r.channels
    cdef Bytes[4] corners
    cdef Py_ssize_t x, left, right
    for x in range(r.out_size[2]):
        left, right = r.columns[x] * r.channels, r.columns[r.out_size[2] + x] * r.channels
        corners[0], corners[1] = top + left, top + right
        corners[2], corners[3] = bottom + left, bottom + right
        bilinear_pixel(r, corners, r.down[y], r.along[x], out + x * r.channels)


# resample
