/* Primitives for AVX512 with VNNI: 16 lanes, four products of bytes added in one instruction. */
#ifndef PYQREF_SIMD_H
#define PYQREF_SIMD_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "nibbles.h"

#define SIMD_LANES 16
#define TILE_ROWS 6
#define TILE_VECTORS 4
#define NARROW_TILE_ROWS 8
#define LAST_QUADS 8
#define LAST_SUMS 8
#if defined(__GNUC__) && defined(__AVX512F__)
#define STAYS_LOADED(vector) __asm__("" : "+v"(vector))
#define STAYS_COUNTED(number) __asm__("" : "+r"(number))
#endif
#define INPUT_SHIFT 0
#define PAIR_PRICE 2

typedef __m512 f32v;
typedef __m512i i32v;
typedef __m512i inputs_v;  /* four activations, in every lane */
typedef __m512i weights_v; /* four weights of each of 16 columns */

static inline f32v set_f32(float value) { return _mm512_set1_ps(value); }
static inline f32v load_f32(const float *source) { return _mm512_loadu_ps(source); }
static inline void store_f32(float *target, f32v value) { _mm512_storeu_ps(target, value); }
#define HAS_LOAD_N
static inline f32v load_n_f32(const float *source, ptrdiff_t n) {
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), source);
}
#define HAS_STORE_N
static inline void store_n_f32(float *target, f32v value, ptrdiff_t n) {
    _mm512_mask_storeu_ps(target, (__mmask16)((1u << n) - 1), value);
}
static inline void stream_f32(float *target, f32v value) { _mm512_stream_ps(target, value); }
static inline void finish_streams(void) { _mm_sfence(); }

static inline i32v set_i32(int32_t value) { return _mm512_set1_epi32(value); }
static inline i32v load_i32(const int32_t *source) { return _mm512_loadu_si512(source); }
static inline void store_i32(int32_t *target, i32v value) { _mm512_storeu_si512(target, value); }

static inline i32v load_u8(const uint8_t *source) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)source));
}
static inline i32v load_s8(const int8_t *source) {
    return _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)source));
}
static inline void store_low_bytes(uint8_t *target, i32v value) {
    _mm_storeu_si128((__m128i *)target, _mm512_cvtepi32_epi8(value));
}

static inline f32v add_f32(f32v a, f32v b) { return _mm512_add_ps(a, b); }
static inline f32v sub_f32(f32v a, f32v b) { return _mm512_sub_ps(a, b); }
static inline f32v mul_f32(f32v a, f32v b) { return _mm512_mul_ps(a, b); }
static inline f32v div_f32(f32v a, f32v b) { return _mm512_div_ps(a, b); }
static inline f32v sqrt_f32(f32v a) { return _mm512_sqrt_ps(a); }
static inline f32v fma_f32(f32v a, f32v b, f32v c) { return _mm512_fmadd_ps(a, b, c); }
static inline f32v min_f32(f32v a, f32v b) { return _mm512_min_ps(a, b); }
static inline f32v max_f32(f32v a, f32v b) { return _mm512_max_ps(a, b); }
static inline f32v round_f32(f32v a) {
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline f32v if_nan(f32v a, f32v other) {
    return _mm512_mask_mov_ps(a, _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), other);
}
static inline f32v abs_f32(f32v a) { return _mm512_abs_ps(a); }
static inline f32v if_unequal(f32v a, i32v x, i32v y) {
    return _mm512_maskz_mov_ps(_mm512_cmpneq_epi32_mask(x, y), a);
}
static inline f32v copy_sign_f32(f32v a, f32v sign) {
    return _mm512_or_ps(a, _mm512_and_ps(_mm512_set1_ps(-0.0f), sign));
}
static inline f32v power_of_two(i32v n) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(n, _mm512_set1_epi32(127)), 23));
}
static inline float least_f32(f32v a) { return _mm512_reduce_min_ps(a); }
static inline float greatest_f32(f32v a) { return _mm512_reduce_max_ps(a); }
/* Of the lanes of 16 rows: pairs of numbers, of pairs, of quarters and of halves, side by side. */
#define FOLD_ROWS(extreme)                                                                    \
    f32v a[8], b[4], c[2];                                                                    \
    for (int i = 0; i < 8; ++i) {                                                             \
        const f32v x = rows[2 * i], y = rows[2 * i + 1];                                      \
        a[i] = extreme(_mm512_unpacklo_ps(x, y), _mm512_unpackhi_ps(x, y));                   \
    }                                                                                         \
    for (int i = 0; i < 4; ++i) {                                                             \
        const __m512d x = _mm512_castps_pd(a[2 * i]), y = _mm512_castps_pd(a[2 * i + 1]);     \
        b[i] = extreme(_mm512_castpd_ps(_mm512_unpacklo_pd(x, y)),                            \
                       _mm512_castpd_ps(_mm512_unpackhi_pd(x, y)));                           \
    }                                                                                         \
    for (int i = 0; i < 2; ++i) {                                                             \
        c[i] = extreme(_mm512_shuffle_f32x4(b[2 * i], b[2 * i + 1], 0x88),                    \
                       _mm512_shuffle_f32x4(b[2 * i], b[2 * i + 1], 0xdd));                   \
    }                                                                                         \
    return extreme(_mm512_shuffle_f32x4(c[0], c[1], 0x88), _mm512_shuffle_f32x4(c[0], c[1], 0xdd))
static inline f32v least_of_rows(const f32v *rows) { FOLD_ROWS(min_f32); }
static inline f32v greatest_of_rows(const f32v *rows) { FOLD_ROWS(max_f32); }
static inline int any_i32(i32v a) { return _mm512_test_epi32_mask(a, a) != 0; }
static inline i32v is_nan(f32v a) {
    return _mm512_maskz_set1_epi32(_mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), 1);
}
static inline uint32_t lanes_inside(f32v a, f32v low, f32v high) {
    __mmask16 above = _mm512_cmp_ps_mask(a, low, _CMP_GE_OQ);
    return _mm512_mask_cmp_ps_mask(above, a, high, _CMP_LE_OQ);
}
static inline f32v lanes_of(const int32_t *source, uint32_t bits) {
    return _mm512_castsi512_ps(_mm512_maskz_loadu_epi32((__mmask16)bits, source));
}

static inline i32v add_i32(i32v a, i32v b) { return _mm512_add_epi32(a, b); }
static inline i32v sub_i32(i32v a, i32v b) { return _mm512_sub_epi32(a, b); }
static inline i32v mul_i32(i32v a, i32v b) { return _mm512_mullo_epi32(a, b); }
static inline i32v or_i32(i32v a, i32v b) { return _mm512_or_si512(a, b); }

static inline f32v to_f32(i32v a) { return _mm512_cvtepi32_ps(a); }
static inline i32v to_i32(f32v a) { return _mm512_cvtps_epi32(a); }
static inline i32v truncate_i32(f32v a) { return _mm512_cvttps_epi32(a); }

/* Doubles, one for each lane: halves side by side. */
typedef struct { __m512d low, high; } f64v;
#define EACH_HALF(operation)                                      \
    f64v result = {operation(a.low, b.low), operation(a.high, b.high)}; \
    return result
static inline f64v set_f64(double value) {
    f64v result = {_mm512_set1_pd(value), _mm512_set1_pd(value)};
    return result;
}
static inline f64v widen_f32(f32v a) {
    f64v result = {_mm512_cvtps_pd(_mm512_castps512_ps256(a)),
                   _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1))};
    return result;
}
static inline f32v narrow_f64(f64v a) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(a.low)),
                              _mm512_cvtpd_ps(a.high), 1);
}
static inline f64v add_f64(f64v a, f64v b) { EACH_HALF(_mm512_add_pd); }
static inline f64v sub_f64(f64v a, f64v b) { EACH_HALF(_mm512_sub_pd); }
static inline f64v mul_f64(f64v a, f64v b) { EACH_HALF(_mm512_mul_pd); }
#define HAS_FMA_F64
static inline f64v fma_f64(f64v a, f64v b, f64v c) {
    f64v result = {_mm512_fmadd_pd(a.low, b.low, c.low), _mm512_fmadd_pd(a.high, b.high, c.high)};
    return result;
}
static inline f64v div_f64(f64v a, f64v b) { EACH_HALF(_mm512_div_pd); }
static inline f64v min_f64(f64v a, f64v b) { EACH_HALF(_mm512_min_pd); }
static inline f64v max_f64(f64v a, f64v b) { EACH_HALF(_mm512_max_pd); }
static inline __m512d low_bits_up(__m512d a) {
    return _mm512_castsi512_pd(_mm512_slli_epi64(_mm512_castpd_si512(a), 52));
}
static inline f64v exponent_from_low_bits(f64v a) {
    f64v result = {low_bits_up(a.low), low_bits_up(a.high)};
    return result;
}
static inline f32v exponent_f32(f32v a) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(a), 23));
}
#define HAS_SCALE_F32
static inline f32v scale_f32(f32v a, f32v n) { return _mm512_scalef_ps(a, n); }
static inline f32v look_up_32(const float *table, i32v index) {
    return _mm512_permutex2var_ps(_mm512_loadu_ps(table), index, _mm512_loadu_ps(table + 16));
}
static inline i32v bits_of(f32v a) { return _mm512_castps_si512(a); }
static inline f32v with_bits(i32v a) { return _mm512_castsi512_ps(a); }
static inline f32v if_less(f32v a, f32v b, f32v x, f32v y) {
    return _mm512_mask_mov_ps(y, _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), x);
}

typedef __m512i bytes_v;
static inline bytes_v pack_in_lanes(f32v a, f32v b, f32v c, f32v d, int zero_point) {
    const __m512i zero = _mm512_set1_epi16((short)zero_point);
    __m512i ab = _mm512_packs_epi32(_mm512_cvtps_epi32(a), _mm512_cvtps_epi32(b));
    __m512i cd = _mm512_packs_epi32(_mm512_cvtps_epi32(c), _mm512_cvtps_epi32(d));
    return _mm512_packus_epi16(_mm512_adds_epi16(ab, zero), _mm512_adds_epi16(cd, zero));
}
static inline bytes_v in_order(bytes_v packed) {
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_permutexvar_epi32(order, packed);
}
static inline bytes_v pack_rounded_u8(f32v a, f32v b, f32v c, f32v d, int zero_point) {
    return in_order(pack_in_lanes(a, b, c, d, zero_point));
}
static inline bytes_v clamp_u8(bytes_v bytes, int lower, int upper) {
    bytes = _mm512_max_epu8(bytes, _mm512_set1_epi8((char)lower));
    return _mm512_min_epu8(bytes, _mm512_set1_epi8((char)upper));
}
static inline void store_quarters(uint8_t *target, bytes_v bytes, const int first,
                                  const int quarters, int count) {
    const __mmask64 mask = count < 64 ? ((__mmask64)1 << count) - 1 : ~(__mmask64)0;
    __m128i quarter = _mm512_castsi512_si128(bytes);
    if (quarters > 2 && count == 64) {
        _mm512_storeu_si512(target, bytes);
    } else if (quarters > 2) {
        _mm512_mask_storeu_epi8(target, mask, bytes);
    } else if (quarters == 2) {
        _mm256_mask_storeu_epi8(target, (__mmask32)mask,
                                first ? _mm512_extracti64x4_epi64(bytes, 1)
                                      : _mm512_castsi512_si256(bytes));
    } else {
        if (first == 1) quarter = _mm512_extracti32x4_epi32(bytes, 1);
        if (first == 2) quarter = _mm512_extracti32x4_epi32(bytes, 2);
        if (first == 3) quarter = _mm512_extracti32x4_epi32(bytes, 3);
        _mm_mask_storeu_epi8(target, (__mmask16)mask, quarter);
    }
}
static inline void store_rounded_u8(uint8_t *first, uint8_t *second, f32v a, f32v b, f32v c,
                                    f32v d, int zero_point, int lower) {
    __m512i bytes = pack_rounded_u8(a, b, c, d, zero_point);
    bytes = _mm512_max_epu8(bytes, _mm512_set1_epi8((char)lower));
    _mm256_storeu_si256((__m256i *)first, _mm512_castsi512_si256(bytes));
    _mm256_storeu_si256((__m256i *)second, _mm512_extracti64x4_epi64(bytes, 1));
}
static inline void store_rounded_bytes(uint8_t *target, f32v a, f32v b, f32v c, f32v d,
                                       const int is_signed, int lower, int upper) {
    __m512i ab = _mm512_packs_epi32(_mm512_cvtps_epi32(a), _mm512_cvtps_epi32(b));
    __m512i cd = _mm512_packs_epi32(_mm512_cvtps_epi32(c), _mm512_cvtps_epi32(d));
    __m512i bytes;
    if (is_signed) {
        bytes = _mm512_max_epi8(_mm512_packs_epi16(ab, cd), _mm512_set1_epi8((char)lower));
        bytes = _mm512_min_epi8(bytes, _mm512_set1_epi8((char)upper));
    } else {
        bytes = clamp_u8(_mm512_packus_epi16(ab, cd), lower, upper);
    }
    _mm512_storeu_si512(target, in_order(bytes));
}
static inline int all_below(f32v a, f32v b, f32v c, f32v d, f32v bound) {
    __mmask16 beyond = _mm512_cmp_ps_mask(a, bound, _CMP_NLT_UQ);
    beyond |= _mm512_cmp_ps_mask(b, bound, _CMP_NLT_UQ);
    beyond |= _mm512_cmp_ps_mask(c, bound, _CMP_NLT_UQ);
    return !(beyond | _mm512_cmp_ps_mask(d, bound, _CMP_NLT_UQ));
}

static inline void store_rounded_quads(uint8_t *target, f32v a, f32v b, f32v c, f32v d,
                                       int zero_point, int lower, int flip) {
    __m512i bytes = pack_in_lanes(a, b, c, d, zero_point);
    bytes = _mm512_max_epu8(bytes, _mm512_set1_epi8((char)lower));
    store_i32((int32_t *)target, _mm512_xor_si512(bytes, _mm512_set1_epi8((char)flip)));
}

static inline inputs_v broadcast_inputs(const uint8_t *source) {
    int32_t four;
    memcpy(&four, source, 4);
    return _mm512_set1_epi32(four);
}
typedef __m512i quads_v;
static inline quads_v load_quads(const uint8_t *source) { return _mm512_loadu_si512(source); }
static inline void broadcast_quads(quads_v *quads, const uint8_t *source) {
    const __m512i x = _mm512_loadu_si512(source);
    quads[0] = _mm512_shuffle_epi32(x, _MM_PERM_AAAA);
    quads[1] = _mm512_shuffle_epi32(x, _MM_PERM_BBBB);
    quads[2] = _mm512_shuffle_epi32(x, _MM_PERM_CCCC);
    quads[3] = _mm512_shuffle_epi32(x, _MM_PERM_DDDD);
}
static inline void interleave_quads(quads_v *quads, const uint8_t *a, const uint8_t *b,
                               const uint8_t *c, const uint8_t *d) {
    const __m512i av = _mm512_loadu_si512(a), bv = _mm512_loadu_si512(b);
    const __m512i cv = _mm512_loadu_si512(c), dv = _mm512_loadu_si512(d);
    const __m512i low_ab = _mm512_unpacklo_epi8(av, bv), high_ab = _mm512_unpackhi_epi8(av, bv);
    const __m512i low_cd = _mm512_unpacklo_epi8(cv, dv), high_cd = _mm512_unpackhi_epi8(cv, dv);
    quads[0] = _mm512_unpacklo_epi16(low_ab, low_cd);
    quads[1] = _mm512_unpackhi_epi16(low_ab, low_cd);
    quads[2] = _mm512_unpacklo_epi16(high_ab, high_cd);
    quads[3] = _mm512_unpackhi_epi16(high_ab, high_cd);
}
static inline weights_v load_weights(const int8_t *source) { return _mm512_loadu_si512(source); }
static inline void interleave_u8(uint8_t *target, const uint8_t *a, const uint8_t *b,
                                 const uint8_t *c, const uint8_t *d, int flip) {
    const __m512i top = _mm512_set1_epi8((char)flip);
    quads_v quads[4];
    interleave_quads(quads, a, b, c, d);
    for (int v = 0; v < 4; ++v) {
        _mm512_storeu_si512(target + v * 64, _mm512_xor_si512(quads[v], top));
    }
}
static inline i32v dot4(i32v sum, inputs_v x, weights_v w) {
    return _mm512_dpbusd_epi32(sum, x, w);
}
static inline i32v dot4_quads(i32v sum, quads_v x, weights_v w) { return dot4(sum, x, w); }

/* Products of 16 bits, two a lane, for transformed convolutions. */
#define PAIR_ROWS 6
typedef __m512i i16v;
static inline i16v set_i16(int16_t value) { return _mm512_set1_epi16(value); }
static inline i16v load_i16(const int16_t *source) { return _mm512_loadu_si512(source); }
static inline void store_i16(int16_t *target, i16v value) { _mm512_storeu_si512(target, value); }
static inline i16v widen_u8(const uint8_t *source) {
    return _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)source));
}
static inline i16v widen_pairs(const int8_t *source, const int second) {
    __m512i x = _mm512_loadu_si512(source);
    if (second) x = _mm512_srli_epi32(x, 16);
    x = _mm512_mask_blend_epi16(0xaaaaaaaa, _mm512_slli_epi16(x, 8), _mm512_slli_epi32(x, 16));
    return _mm512_srai_epi16(x, 8);
}
static inline i16v add_i16(i16v a, i16v b) { return _mm512_add_epi16(a, b); }
static inline i16v sub_i16(i16v a, i16v b) { return _mm512_sub_epi16(a, b); }
static inline i16v shl_i16(i16v a, const int n) { return _mm512_slli_epi16(a, n); }
static inline i32v shl_i32(i32v a, const int n) { return _mm512_slli_epi32(a, n); }
static inline i32v shr_i32(i32v a, const int n) { return _mm512_srai_epi32(a, n); }
static inline i16v broadcast_pair(const int16_t *source) {
    int32_t two;
    memcpy(&two, source, 4);
    return _mm512_set1_epi32(two);
}
static inline i32v dot2(i32v sum, i16v a, i16v b) { return _mm512_dpwssd_epi32(sum, a, b); }
static inline i32v multiply_add_i16(i32v c, i32v a, i32v b) { return dot2(c, a, b); }

typedef __m512i u8v;
static inline u8v set_bytes(uint8_t value) { return _mm512_set1_epi8((char)value); }
static inline u8v load_many_bytes(const uint8_t *source) { return _mm512_loadu_si512(source); }
static inline void store_many_bytes(uint8_t *target, u8v value) {
    _mm512_storeu_si512(target, value);
}
static inline u8v load_some_bytes(const uint8_t *source, ptrdiff_t n) {
    return _mm512_maskz_loadu_epi8(((__mmask64)1 << n) - 1, source);
}
static inline void store_some_bytes(uint8_t *target, u8v value, ptrdiff_t n) {
    _mm512_mask_storeu_epi8(target, ((__mmask64)1 << n) - 1, value);
}
static inline u8v min_bytes(u8v a, u8v b) { return _mm512_min_epu8(a, b); }
static inline u8v max_bytes(u8v a, u8v b) { return _mm512_max_epu8(a, b); }
static inline u8v xor_bytes(u8v a, u8v b) { return _mm512_xor_si512(a, b); }

/* The first processors with VNNI have no VBMI, whose permutations look up 128 bytes at once. */
#if defined(__GNUC__)
#define SIMD_HAS_VBMI() __builtin_cpu_supports("avx512vbmi")
__attribute__((target("avx512vbmi")))
static ptrdiff_t look_up_permuted(uint8_t *target, const uint8_t *source, ptrdiff_t n,
                                  const uint8_t *table) {
    const __m512i a = _mm512_loadu_si512(table), b = _mm512_loadu_si512(table + 64);
    const __m512i c = _mm512_loadu_si512(table + 128), d = _mm512_loadu_si512(table + 192);
    for (ptrdiff_t i = 0; i < n; i += 64) {
        const __mmask64 used = n - i < 64 ? ((__mmask64)1 << (n - i)) - 1 : ~(__mmask64)0;
        const __m512i x = _mm512_maskz_loadu_epi8(used, source + i);
        const __m512i low = _mm512_permutex2var_epi8(a, x, b);
        const __m512i high = _mm512_permutex2var_epi8(c, x, d);
        const __m512i found = _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), low, high);
        if (n - i >= 64) _mm512_storeu_si512(target + i, found);
        else _mm512_mask_storeu_epi8(target + i, used, found);
    }
    return n;
}
#else
#define SIMD_HAS_VBMI() 0
static ptrdiff_t look_up_permuted(uint8_t *target, const uint8_t *source, ptrdiff_t n,
                                  const uint8_t *table) {
    (void)target, (void)source, (void)n, (void)table;
    return 0;
}
#endif
static inline __m128i load_16(const uint8_t *source) {
    return _mm_loadu_si128((const __m128i *)source);
}
static inline void look_up_u8(uint8_t *target, const uint8_t *source, ptrdiff_t n,
                              const uint8_t *table) {
    uint8_t rows[16][16];
    ptrdiff_t i = SIMD_HAS_VBMI() ? look_up_permuted(target, source, n, table) : 0;
    if (n - i >= 64) nibble_rows(table, rows);
    for (; i + 64 <= n; i += 64) {
        __m512i x = _mm512_loadu_si512(source + i), found = _mm512_setzero_si512();
        __m512i y = _mm512_xor_si512(x, _mm512_set1_epi8((char)0x80));
        for (int r = 0; r < 8; ++r) {
            const __m512i low = _mm512_broadcast_i32x4(load_16(rows[r]));
            const __m512i high = _mm512_broadcast_i32x4(load_16(rows[r + 8]));
            found = _mm512_xor_si512(found, _mm512_shuffle_epi8(low, x));
            found = _mm512_xor_si512(found, _mm512_shuffle_epi8(high, y));
            x = _mm512_subs_epi8(x, _mm512_set1_epi8(16));
            y = _mm512_subs_epi8(y, _mm512_set1_epi8(16));
        }
        _mm512_storeu_si512(target + i, found);
    }
    for (; i < n; ++i) target[i] = table[source[i]];
}

#endif
