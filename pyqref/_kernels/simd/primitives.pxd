# The primitives that every header of this folder defines.
#
# A kernel body cimports this file; the four-line .pyx that includes the body names the
# header that defines the primitives for one instruction set. A vector has SIMD_LANES
# lanes of 32 bits, at most 16. Loads and stores touch SIMD_LANES elements at any address;
# where fewer are left, bodies go through a buffer of LANES_MAX elements.

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t

cdef enum:
    LANES_MAX = 16

cdef extern from *:
    ctypedef struct f32v:
        pass
    ctypedef struct i32v:
        pass
    ctypedef struct f64v:        # SIMD_LANES doubles
        pass
    ctypedef struct u8v:         # 4 * SIMD_LANES bytes
        pass
    ctypedef struct quads_v:     # four bytes in each lane
        pass
    ctypedef struct weights_v:   # four weights in each lane
        pass

    enum:
        SIMD_LANES
        TILE_ROWS        # rows of the tile of a matrix product
        TILE_VECTORS     # vectors of columns of that tile
        INPUT_SHIFT      # 128 where dot4 takes its inputs as lower by that, else 0
        PAIR_PRICE       # dot2 takes half as many products in the time of so many dot4; 0: too long

    f32v set_f32(float value) nogil
    f32v load_f32(const float* source) nogil
    void store_f32(float* target, f32v value) nogil
    # Past the caches to memory; the target is aligned to a vector. Whoever has stored so finishes
    # before others may look.
    void stream_f32(float* target, f32v value) nogil
    void finish_streams() nogil

    i32v set_i32(int32_t value) nogil
    i32v load_i32(const int32_t* source) nogil
    void store_i32(int32_t* target, i32v value) nogil

    # Bytes, widened to 32 bits; the lowest byte of each lane, stored.
    i32v load_u8(const uint8_t* source) nogil
    i32v load_s8(const int8_t* source) nogil
    void store_low_bytes(uint8_t* target, i32v value) nogil

    # a and b rounded as by to_i32, plus the zero point, not below `lower`: 2 * SIMD_LANES unsigned
    # bytes to `first`, those of c and d to `second`. The numbers are at most 255 - zero_point and
    # no nan, but as low as can be; zero_point and lower are in [0, 255].
    void store_rounded_u8(
        uint8_t* first, uint8_t* second, f32v a, f32v b, f32v c, f32v d, int zero_point, int lower
    ) nogil

    # a, b, c and d rounded as by to_i32 and clamped to [lower, upper], numbers of int8 or of uint8:
    # 4 * SIMD_LANES of them. a, b, c and d are below 2^31 and no nan, but as low as can be.
    void store_rounded_bytes(
        uint8_t* target, f32v a, f32v b, f32v c, f32v d, bint is_signed, int lower, int upper
    ) nogil
    # Whether every lane of four vectors is below that of another; no nan is.
    bint all_below(f32v a, f32v b, f32v c, f32v d, f32v bound) nogil

    # tile_finish.h alone uses these: a vector of bytes, four numbers rounded and plus the zero
    # point, clamped to [0, 255]; the same clamped to [lower, upper]; and the first `count` bytes of
    # `quarters` of its four quarters stored, from the one named `first`. The numbers are no nan and
    # below 2^31.
    #
    #   bytes_v pack_rounded_u8(f32v a, f32v b, f32v c, f32v d, int zero_point)
    #   bytes_v clamp_u8(bytes_v bytes, int lower, int upper)
    #   void store_quarters(uint8_t* target, bytes_v bytes, int first, int quarters, int count)

    # winograd.h alone uses these, where PAIR_PRICE is not 0, of vectors of 2 * SIMD_LANES numbers
    # of 16 bits: bytes widened; of 4 * SIMD_LANES bytes, the first or the second two of each four;
    # two numbers in every lane; and sum + a * b, two products a lane, which wraps around.
    #
    #   i16v set_i16(int16_t value), load_i16(const int16_t* source)
    #   void store_i16(int16_t* target, i16v value)
    #   i16v add_i16(i16v a, i16v b), sub_i16(i16v a, i16v b), shl_i16(i16v a, const int n)
    #   i16v widen_u8(const uint8_t* source), widen_pairs(const int8_t* source, const int second)
    #   i16v broadcast_pair(const int16_t* source)
    #   i32v dot2(i32v sum, i16v a, i16v b)
    #   i32v shl_i32(i32v a, const int n), shr_i32(i32v a, const int n)

    # Bytes side by side. Where they are fewer than fill a vector, only n of them are read or
    # written, 0 <= n < 4 * SIMD_LANES.
    u8v set_bytes(uint8_t value) nogil
    u8v load_many_bytes(const uint8_t* source) nogil
    void store_many_bytes(uint8_t* target, u8v value) nogil
    u8v load_some_bytes(const uint8_t* source, Py_ssize_t n) nogil
    void store_some_bytes(uint8_t* target, u8v value, Py_ssize_t n) nogil
    u8v min_bytes(u8v a, u8v b) nogil                # unsigned
    u8v max_bytes(u8v a, u8v b) nogil
    u8v xor_bytes(u8v a, u8v b) nogil

    # target[i] = table[source[i]] for n bytes; the table has 256. Target and source may be one.
    void look_up_u8(
        uint8_t* target, const uint8_t* source, Py_ssize_t n, const uint8_t* table
    ) nogil

    # Of 4 * SIMD_LANES bytes, lane l of the vector v of the four has the quad l // 4 * 4 + v.
    void broadcast_quads(quads_v* quads, const uint8_t* source) nogil
    # Bytes of four places side by side: 4 * SIMD_LANES are read from each. Lane l of the vector v
    # of the four has the bytes l // 4 * 16 + v * 4 + l % 4 of the four places.
    void interleave_quads(
        quads_v* quads, const uint8_t* a, const uint8_t* b, const uint8_t* c, const uint8_t* d
    ) nogil
    # The same bytes, stored, 16 * SIMD_LANES of them, their top bit changed where flip is 128,
    # not 0.
    void interleave_u8(
        uint8_t* target, const uint8_t* a, const uint8_t* b, const uint8_t* c, const uint8_t* d,
        int flip
    ) nogil
    quads_v load_quads(const uint8_t* source) nogil  # lower by INPUT_SHIFT
    weights_v load_weights(const int8_t* source) nogil
    i32v dot4_quads(i32v sum, quads_v x, weights_v w) nogil
    # As store_rounded_u8, for numbers in the order of interleave_quads: 4 * SIMD_LANES bytes in the
    # order of their places, and their top bit changed where flip is 128.
    void store_rounded_quads(
        uint8_t* target, f32v a, f32v b, f32v c, f32v d, int zero_point, int lower, int flip
    ) nogil

    f32v add_f32(f32v a, f32v b) nogil
    f32v sub_f32(f32v a, f32v b) nogil
    f32v mul_f32(f32v a, f32v b) nogil
    f32v div_f32(f32v a, f32v b) nogil
    f32v sqrt_f32(f32v a) nogil
    f32v fma_f32(f32v a, f32v b, f32v c) nogil       # a * b + c, rounded once
    f32v min_f32(f32v a, f32v b) nogil               # a < b ? a : b, so b where a is nan
    f32v max_f32(f32v a, f32v b) nogil               # a > b ? a : b, so b where a is nan
    f32v round_f32(f32v a) nogil                     # to the nearest integer, ties to even
    f32v if_nan(f32v a, f32v other) nogil            # other where a is nan, else a
    f32v if_unequal(f32v a, i32v x, i32v y) nogil    # a where x is not y, else +0.0
    f32v abs_f32(f32v a) nogil
    f32v copy_sign_f32(f32v a, f32v sign) nogil      # a, not negative, with the sign of another
    f32v power_of_two(i32v n) nogil                  # 2^n, n in [-126, 127]; else any number
    float least_f32(f32v a) nogil                    # of the lanes, none of them nan
    float greatest_f32(f32v a) nogil
    f32v least_of_rows(const f32v* rows) nogil       # lane l: of row l, which has no nan
    f32v greatest_of_rows(const f32v* rows) nogil    # SIMD_LANES rows
    bint any_i32(i32v a) nogil                       # whether a lane is not 0
    i32v is_nan(f32v a) nogil                        # 1 or 0
    # A bit for each lane, the lowest for the first: where low <= a <= high; and numbers whose bit
    # is set, +0.0 for others. Bits above those of the lanes mean nothing.
    uint32_t lanes_inside(f32v a, f32v low, f32v high) nogil
    f32v lanes_of(const int32_t* source, uint32_t bits) nogil

    f32v if_less(f32v a, f32v b, f32v x, f32v y) nogil  # a < b ? x : y, so y where one is nan

    f64v set_f64(double value) nogil
    f64v widen_f32(f32v a) nogil
    f32v narrow_f64(f64v a) nogil                    # to the nearest, ties to even
    f64v add_f64(f64v a, f64v b) nogil
    f64v sub_f64(f64v a, f64v b) nogil
    f64v mul_f64(f64v a, f64v b) nogil
    f64v div_f64(f64v a, f64v b) nogil
    f64v min_f64(f64v a, f64v b) nogil               # a < b ? a : b, so b where a is nan
    f64v max_f64(f64v a, f64v b) nogil               # a > b ? a : b, so b where a is nan
    f64v exponent_from_low_bits(f64v a) nogil        # bits shifted left by 52

    i32v add_i32(i32v a, i32v b) nogil               # wraps around
    i32v sub_i32(i32v a, i32v b) nogil
    i32v mul_i32(i32v a, i32v b) nogil               # low 32 bits
    i32v or_i32(i32v a, i32v b) nogil
    i32v multiply_add_i16(i32v c, i32v a, i32v b) nogil  # a in [0, 2^15), b in [-2^15, 2^15)

    f32v to_f32(i32v a) nogil                        # rounded to nearest, ties to even
    i32v to_i32(f32v a) nogil                        # the same; a must fit
    i32v truncate_i32(f32v a) nogil                  # towards zero; any number where a does not fit


cdef inline i32v load_bytes_of(const uint8_t* source, bint is_signed) noexcept nogil:
    """Bytes of either kind, widened; ``is_signed`` is a constant where it is inlined."""
    return load_s8(<const int8_t*> source) if is_signed else load_u8(source)


cdef inline void put_f32(float* target, f32v value, bint streams) noexcept nogil:
    """A store that goes past the caches or does not."""
    if streams:
        stream_f32(target, value)
    else:
        store_f32(target, value)
