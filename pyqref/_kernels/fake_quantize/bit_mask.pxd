# Which numbers were inside the range, as bits: a mask of bytes takes a quarter of the memory of the
# numbers. In C order, the lowest bit of a byte first. Tasks begin at whole bytes, so that no two
# of them write to one byte.

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy
from pyqref._kernels.simd.primitives cimport SIMD_LANES

cdef enum:
    BEYOND = 4      # bytes after the last whole one: bits are read four bytes at a time


cdef inline void add_bits(
    uint8_t* bit_mask, Py_ssize_t at, uint32_t bits, Py_ssize_t n
) noexcept nogil:
    """Put the bits of n numbers from ``at`` on, in each byte from the lowest to the highest."""
    cdef uint8_t* byte = bit_mask + (at >> 3)
    cdef Py_ssize_t left = n + (at & 7)
    bits <<= at & 7
    if at & 7:
        bits |= byte[0]
    while left > 0:
        byte[0] = <uint8_t> bits
        bits >>= 8
        byte += 1
        left -= 8


cdef inline void put_bits(
    uint8_t* bit_mask, Py_ssize_t at, uint32_t bits, bint in_whole_bytes
) noexcept nogil:
    """Put the bits of a whole vector, in rows that fill whole bytes or do not."""
    if SIMD_LANES % 8 == 0 and (in_whole_bytes or at & 7 == 0):
        memcpy(bit_mask + (at >> 3), &bits, SIMD_LANES // 8)
    else:
        add_bits(bit_mask, at, bits, SIMD_LANES)


cdef inline uint32_t bits_at(const uint8_t* bit_mask, Py_ssize_t at) noexcept nogil:
    """Return the bits of a vector from ``at`` on, with other bits above them."""
    cdef uint32_t bits
    memcpy(&bits, bit_mask + (at >> 3), sizeof(bits))
    return bits >> (at & 7)


cdef inline Py_ssize_t whole_bytes(Py_ssize_t head, Py_ssize_t size) noexcept nogil:
    """The length of a first task, none where the next one would begin within a byte."""
    return head if head == size or head % 8 == 0 else 0


cdef inline Py_ssize_t strips_of_whole_bytes(Py_ssize_t strips, Py_ssize_t length) noexcept nogil:
    """A few more strips of a length, where they would end within a byte."""
    while strips * length % 8:
        strips += 1
    return strips
