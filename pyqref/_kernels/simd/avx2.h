/* Primitives for AVX2 with FMA: 8 lanes. Products of bytes are exact: widened to 16 bits and
 * added in pairs to 32 bits; the instruction that saturates at 16 bits has only what fits them. */
#ifndef PYQREF_SIMD_H
#define PYQREF_SIMD_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "nibbles.h"

#define SIMD_LANES 8

typedef __m256 f32v;
typedef __m256i i32v;

static inline __m128i load_bytes(const void *source) {
    return _mm_loadl_epi64((const __m128i *)source);
}
static inline __m128i low_bytes(__m256i value) {
    const __m256i pick = _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                          0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    __m256i picked = _mm256_shuffle_epi8(value, pick);
    return _mm_unpacklo_epi32(_mm256_castsi256_si128(picked), _mm256_extracti128_si256(picked, 1));
}

static inline f32v set_f32(float value) { return _mm256_set1_ps(value); }
static inline f32v load_f32(const float *source) { return _mm256_loadu_ps(source); }
static inline void store_f32(float *target, f32v value) { _mm256_storeu_ps(target, value); }
#define HAS_LOAD_N
static inline f32v load_n_f32(const float *source, ptrdiff_t n) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_maskload_ps(source, _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), lane));
}
static inline void stream_f32(float *target, f32v value) { _mm256_stream_ps(target, value); }
static inline void finish_streams(void) { _mm_sfence(); }

static inline i32v set_i32(int32_t value) { return _mm256_set1_epi32(value); }
static inline i32v load_i32(const int32_t *source) {
    return _mm256_loadu_si256((const __m256i *)source);
}
static inline void store_i32(int32_t *target, i32v value) {
    _mm256_storeu_si256((__m256i *)target, value);
}

static inline i32v load_u8(const uint8_t *source) {
    return _mm256_cvtepu8_epi32(load_bytes(source));
}
static inline i32v load_s8(const int8_t *source) {
    return _mm256_cvtepi8_epi32(load_bytes(source));
}
static inline void store_low_bytes(uint8_t *target, i32v value) {
    _mm_storel_epi64((__m128i *)target, low_bytes(value));
}

static inline f32v add_f32(f32v a, f32v b) { return _mm256_add_ps(a, b); }
static inline f32v sub_f32(f32v a, f32v b) { return _mm256_sub_ps(a, b); }
static inline f32v mul_f32(f32v a, f32v b) { return _mm256_mul_ps(a, b); }
static inline f32v div_f32(f32v a, f32v b) { return _mm256_div_ps(a, b); }
static inline f32v sqrt_f32(f32v a) { return _mm256_sqrt_ps(a); }
static inline f32v fma_f32(f32v a, f32v b, f32v c) { return _mm256_fmadd_ps(a, b, c); }
static inline f32v min_f32(f32v a, f32v b) { return _mm256_min_ps(a, b); }
static inline f32v max_f32(f32v a, f32v b) { return _mm256_max_ps(a, b); }
static inline f32v round_f32(f32v a) {
    return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline f32v if_nan(f32v a, f32v other) {
    return _mm256_blendv_ps(a, other, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}
static inline f32v abs_f32(f32v a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
static inline f32v if_unequal(f32v a, i32v x, i32v y) {
    return _mm256_andnot_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(x, y)), a);
}
static inline f32v copy_sign_f32(f32v a, f32v sign) {
    return _mm256_or_ps(a, _mm256_and_ps(_mm256_set1_ps(-0.0f), sign));
}
static inline f32v power_of_two(i32v n) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}
static inline float least_f32(f32v a) {
    __m128 half = _mm_min_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    half = _mm_min_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_min_ss(half, _mm_shuffle_ps(half, half, 1)));
}
static inline float greatest_f32(f32v a) {
    __m128 half = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    half = _mm_max_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_max_ss(half, _mm_shuffle_ps(half, half, 1)));
}
/* Of the lanes of 8 rows: pairs of numbers, of pairs and of halves, side by side. */
#define FOLD_ROWS(extreme)                                                                \
    f32v a[4], b[2];                                                                      \
    for (int i = 0; i < 4; ++i) {                                                         \
        const f32v x = rows[2 * i], y = rows[2 * i + 1];                                  \
        a[i] = extreme(_mm256_unpacklo_ps(x, y), _mm256_unpackhi_ps(x, y));               \
    }                                                                                     \
    for (int i = 0; i < 2; ++i) {                                                         \
        const __m256d x = _mm256_castps_pd(a[2 * i]), y = _mm256_castps_pd(a[2 * i + 1]); \
        b[i] = extreme(_mm256_castpd_ps(_mm256_unpacklo_pd(x, y)),                        \
                       _mm256_castpd_ps(_mm256_unpackhi_pd(x, y)));                       \
    }                                                                                     \
    return extreme(_mm256_permute2f128_ps(b[0], b[1], 0x20),                              \
                   _mm256_permute2f128_ps(b[0], b[1], 0x31))
static inline f32v least_of_rows(const f32v *rows) { FOLD_ROWS(min_f32); }
static inline f32v greatest_of_rows(const f32v *rows) { FOLD_ROWS(max_f32); }
static inline int any_i32(i32v a) { return !_mm256_testz_si256(a, a); }
static inline i32v is_nan(f32v a) {
    return _mm256_srli_epi32(_mm256_castps_si256(_mm256_cmp_ps(a, a, _CMP_UNORD_Q)), 31);
}
static inline uint32_t lanes_inside(f32v a, f32v low, f32v high) {
    return _mm256_movemask_ps(_mm256_and_ps(_mm256_cmp_ps(a, low, _CMP_GE_OQ),
                                            _mm256_cmp_ps(a, high, _CMP_LE_OQ)));
}
static inline f32v lanes_of(const int32_t *source, uint32_t bits) {
    __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    __m256i is_set = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(bits), lane), lane);
    __m256i value = _mm256_loadu_si256((const __m256i *)source);
    return _mm256_castsi256_ps(_mm256_and_si256(value, is_set));
}

static inline i32v add_i32(i32v a, i32v b) { return _mm256_add_epi32(a, b); }
static inline i32v sub_i32(i32v a, i32v b) { return _mm256_sub_epi32(a, b); }
static inline i32v mul_i32(i32v a, i32v b) { return _mm256_mullo_epi32(a, b); }
static inline i32v or_i32(i32v a, i32v b) { return _mm256_or_si256(a, b); }
static inline f32v to_f32(i32v a) { return _mm256_cvtepi32_ps(a); }
static inline i32v to_i32(f32v a) { return _mm256_cvtps_epi32(a); }
static inline i32v truncate_i32(f32v a) { return _mm256_cvttps_epi32(a); }

/* Doubles, one for each lane: halves side by side. */
typedef struct { __m256d low, high; } f64v;
#define EACH_HALF(operation)                                      \
    f64v result = {operation(a.low, b.low), operation(a.high, b.high)}; \
    return result
static inline f64v set_f64(double value) {
    f64v result = {_mm256_set1_pd(value), _mm256_set1_pd(value)};
    return result;
}
static inline f64v widen_f32(f32v a) {
    f64v result = {_mm256_cvtps_pd(_mm256_castps256_ps128(a)),
                   _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1))};
    return result;
}
static inline f32v narrow_f64(f64v a) {
    return _mm256_set_m128(_mm256_cvtpd_ps(a.high), _mm256_cvtpd_ps(a.low));
}
static inline f64v add_f64(f64v a, f64v b) { EACH_HALF(_mm256_add_pd); }
static inline f64v sub_f64(f64v a, f64v b) { EACH_HALF(_mm256_sub_pd); }
static inline f64v mul_f64(f64v a, f64v b) { EACH_HALF(_mm256_mul_pd); }
#define HAS_FMA_F64
static inline f64v fma_f64(f64v a, f64v b, f64v c) {
    f64v result = {_mm256_fmadd_pd(a.low, b.low, c.low), _mm256_fmadd_pd(a.high, b.high, c.high)};
    return result;
}
static inline f64v div_f64(f64v a, f64v b) { EACH_HALF(_mm256_div_pd); }
static inline f64v min_f64(f64v a, f64v b) { EACH_HALF(_mm256_min_pd); }
static inline f64v max_f64(f64v a, f64v b) { EACH_HALF(_mm256_max_pd); }
static inline __m256d low_bits_up(__m256d a) {
    return _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_castpd_si256(a), 52));
}
static inline f64v exponent_from_low_bits(f64v a) {
    f64v result = {low_bits_up(a.low), low_bits_up(a.high)};
    return result;
}
static inline f32v exponent_f32(f32v a) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(a), 23));
}
static inline f32v look_up_32(const float *table, i32v index) {
    const f32v third = _mm256_castsi256_ps(_mm256_slli_epi32(index, 28));
    const f32v fourth = _mm256_castsi256_ps(_mm256_slli_epi32(index, 27));
    f32v a[4];
    for (int i = 0; i < 4; ++i) {
        a[i] = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table + 8 * i), index);
    }
    return _mm256_blendv_ps(_mm256_blendv_ps(a[0], a[1], third),
                            _mm256_blendv_ps(a[2], a[3], third), fourth);
}
/* The columns of rows of 12 that lanes name by their five lowest bits. */
#define HAS_LOOK_UP_ROWS
static inline void look_up_rows(const float (*rows)[12], i32v index, f32v *columns) {
    int32_t row[8];
    _mm256_storeu_si256((__m256i *)row, _mm256_and_si256(index, _mm256_set1_epi32(31)));
    for (int k = 0; k < 12; k += 4) {
        f32v a[4];
        for (int i = 0; i < 4; ++i) {
            a[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(rows[row[i]] + k)),
                                        _mm_loadu_ps(rows[row[i + 4]] + k), 1);
        }
        const f32v low = _mm256_unpacklo_ps(a[0], a[1]), high = _mm256_unpackhi_ps(a[0], a[1]);
        const f32v low2 = _mm256_unpacklo_ps(a[2], a[3]), high2 = _mm256_unpackhi_ps(a[2], a[3]);
        columns[k] = _mm256_shuffle_ps(low, low2, 0x44);
        columns[k + 1] = _mm256_shuffle_ps(low, low2, 0xee);
        columns[k + 2] = _mm256_shuffle_ps(high, high2, 0x44);
        columns[k + 3] = _mm256_shuffle_ps(high, high2, 0xee);
    }
}
static inline i32v bits_of(f32v a) { return _mm256_castps_si256(a); }
static inline f32v with_bits(i32v a) { return _mm256_castsi256_ps(a); }
static inline f32v if_less(f32v a, f32v b, f32v x, f32v y) {
    return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
}

typedef __m256i bytes_v;
static inline bytes_v pack_in_lanes(f32v a, f32v b, f32v c, f32v d, int zero_point) {
    const __m256i zero = _mm256_set1_epi16((short)zero_point);
    __m256i ab = _mm256_packs_epi32(_mm256_cvtps_epi32(a), _mm256_cvtps_epi32(b));
    __m256i cd = _mm256_packs_epi32(_mm256_cvtps_epi32(c), _mm256_cvtps_epi32(d));
    return _mm256_packus_epi16(_mm256_adds_epi16(ab, zero), _mm256_adds_epi16(cd, zero));
}
static inline bytes_v in_order(bytes_v packed) {
    return _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}
static inline bytes_v pack_rounded_u8(f32v a, f32v b, f32v c, f32v d, int zero_point) {
    return in_order(pack_in_lanes(a, b, c, d, zero_point));
}
static inline bytes_v clamp_u8(bytes_v bytes, int lower, int upper) {
    bytes = _mm256_max_epu8(bytes, _mm256_set1_epi8((char)lower));
    return _mm256_min_epu8(bytes, _mm256_set1_epi8((char)upper));
}
static inline void store_quarters(uint8_t *target, bytes_v bytes, const int first,
                                  const int quarters, int count) {
    uint8_t all[32];
    if (quarters == 2 && count == 16) {
        _mm_storeu_si128((__m128i *)target, first ? _mm256_extracti128_si256(bytes, 1)
                                                  : _mm256_castsi256_si128(bytes));
        return;
    }
    _mm256_storeu_si256((__m256i *)all, bytes);
    memcpy(target, all + 8 * first, (size_t)count);
}
static inline void store_rounded_bytes(uint8_t *target, f32v a, f32v b, f32v c, f32v d,
                                       const int is_signed, int lower, int upper) {
    __m256i ab = _mm256_packs_epi32(_mm256_cvtps_epi32(a), _mm256_cvtps_epi32(b));
    __m256i cd = _mm256_packs_epi32(_mm256_cvtps_epi32(c), _mm256_cvtps_epi32(d));
    __m256i bytes;
    if (is_signed) {
        bytes = _mm256_max_epi8(_mm256_packs_epi16(ab, cd), _mm256_set1_epi8((char)lower));
        bytes = _mm256_min_epi8(bytes, _mm256_set1_epi8((char)upper));
    } else {
        bytes = clamp_u8(_mm256_packus_epi16(ab, cd), lower, upper);
    }
    _mm256_storeu_si256((__m256i *)target, in_order(bytes));
}
static inline int all_below(f32v a, f32v b, f32v c, f32v d, f32v bound) {
    f32v beyond = _mm256_cmp_ps(a, bound, _CMP_NLT_UQ);
    beyond = _mm256_or_ps(beyond, _mm256_cmp_ps(b, bound, _CMP_NLT_UQ));
    beyond = _mm256_or_ps(beyond, _mm256_cmp_ps(c, bound, _CMP_NLT_UQ));
    return !_mm256_movemask_ps(_mm256_or_ps(beyond, _mm256_cmp_ps(d, bound, _CMP_NLT_UQ)));
}
static inline void store_rounded_u8(uint8_t *first, uint8_t *second, f32v a, f32v b, f32v c,
                                    f32v d, int zero_point, int lower) {
    __m256i bytes = pack_rounded_u8(a, b, c, d, zero_point);
    bytes = _mm256_max_epu8(bytes, _mm256_set1_epi8((char)lower));
    _mm_storeu_si128((__m128i *)first, _mm256_castsi256_si128(bytes));
    _mm_storeu_si128((__m128i *)second, _mm256_extracti128_si256(bytes, 1));
}

static inline __m256i load_vector(const uint8_t *source) {
    return _mm256_loadu_si256((const __m256i *)source);
}
static inline void interleave(__m256i *woven, const uint8_t *a, const uint8_t *b, const uint8_t *c,
                         const uint8_t *d) {
    const __m256i av = load_vector(a), bv = load_vector(b), cv = load_vector(c);
    const __m256i dv = load_vector(d);
    const __m256i low_ab = _mm256_unpacklo_epi8(av, bv), high_ab = _mm256_unpackhi_epi8(av, bv);
    const __m256i low_cd = _mm256_unpacklo_epi8(cv, dv), high_cd = _mm256_unpackhi_epi8(cv, dv);
    woven[0] = _mm256_unpacklo_epi16(low_ab, low_cd);
    woven[1] = _mm256_unpackhi_epi16(low_ab, low_cd);
    woven[2] = _mm256_unpacklo_epi16(high_ab, high_cd);
    woven[3] = _mm256_unpackhi_epi16(high_ab, high_cd);
}
static inline void broadcast_each_quad(__m256i *quads, const uint8_t *source) {
    const __m256i x = load_vector(source);
    quads[0] = _mm256_shuffle_epi32(x, 0x00);
    quads[1] = _mm256_shuffle_epi32(x, 0x55);
    quads[2] = _mm256_shuffle_epi32(x, 0xaa);
    quads[3] = _mm256_shuffle_epi32(x, 0xff);
}
static inline void interleave_u8(uint8_t *target, const uint8_t *a, const uint8_t *b,
                                 const uint8_t *c, const uint8_t *d, int flip) {
    const __m256i top = _mm256_set1_epi8((char)flip);
    __m256i woven[4];
    interleave(woven, a, b, c, d);
    for (int v = 0; v < 4; ++v) {
        _mm256_storeu_si256((__m256i *)(target + v * 32), _mm256_xor_si256(woven[v], top));
    }
}
static inline void store_rounded_quads(uint8_t *target, f32v a, f32v b, f32v c, f32v d,
                                       int zero_point, int lower, int flip) {
    __m256i bytes = pack_in_lanes(a, b, c, d, zero_point);
    bytes = _mm256_max_epu8(bytes, _mm256_set1_epi8((char)lower));
    store_i32((int32_t *)target, _mm256_xor_si256(bytes, _mm256_set1_epi8((char)flip)));
}

typedef __m256i u8v;
static inline u8v set_bytes(uint8_t value) { return _mm256_set1_epi8((char)value); }
static inline u8v load_many_bytes(const uint8_t *source) { return load_vector(source); }
static inline void store_many_bytes(uint8_t *target, u8v value) {
    _mm256_storeu_si256((__m256i *)target, value);
}
static inline u8v load_some_bytes(const uint8_t *source, ptrdiff_t n) {
    uint8_t bytes[4 * SIMD_LANES] = {0};
    memcpy(bytes, source, (size_t)n);
    return load_many_bytes(bytes);
}
static inline void store_some_bytes(uint8_t *target, u8v value, ptrdiff_t n) {
    uint8_t bytes[4 * SIMD_LANES];
    store_many_bytes(bytes, value);
    memcpy(target, bytes, (size_t)n);
}
static inline u8v min_bytes(u8v a, u8v b) { return _mm256_min_epu8(a, b); }
static inline u8v max_bytes(u8v a, u8v b) { return _mm256_max_epu8(a, b); }
static inline u8v xor_bytes(u8v a, u8v b) { return _mm256_xor_si256(a, b); }

static inline __m128i load_16(const uint8_t *source) {
    return _mm_loadu_si128((const __m128i *)source);
}
static inline void look_up_u8(uint8_t *target, const uint8_t *source, ptrdiff_t n,
                              const uint8_t *table) {
    uint8_t rows[16][16];
    ptrdiff_t i = 0;
    if (n >= 4 * SIMD_LANES) nibble_rows(table, rows);
    for (; i + 4 * SIMD_LANES <= n; i += 4 * SIMD_LANES) {
        __m256i x = load_vector(source + i), found = _mm256_setzero_si256();
        __m256i y = _mm256_xor_si256(x, _mm256_set1_epi8((char)0x80));
        for (int r = 0; r < 8; ++r) {
            const __m256i low = _mm256_broadcastsi128_si256(load_16(rows[r]));
            const __m256i high = _mm256_broadcastsi128_si256(load_16(rows[r + 8]));
            found = _mm256_xor_si256(found, _mm256_shuffle_epi8(low, x));
            found = _mm256_xor_si256(found, _mm256_shuffle_epi8(high, y));
            x = _mm256_subs_epi8(x, _mm256_set1_epi8(16));
            y = _mm256_subs_epi8(y, _mm256_set1_epi8(16));
        }
        _mm256_storeu_si256((__m256i *)(target + i), found);
    }
    for (; i < n; ++i) target[i] = table[source[i]];
}

/* Products of 16 bits, two a lane, for transformed convolutions. */
#define PAIR_ROWS 6
typedef __m256i i16v;
static inline i16v set_i16(int16_t value) { return _mm256_set1_epi16(value); }
static inline i16v load_i16(const int16_t *source) {
    return _mm256_loadu_si256((const __m256i *)source);
}
static inline void store_i16(int16_t *target, i16v value) {
    _mm256_storeu_si256((__m256i *)target, value);
}
static inline i16v widen_u8(const uint8_t *source) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)source));
}
static inline i16v widen_pairs(const int8_t *source, const int second) {
    __m256i x = _mm256_loadu_si256((const __m256i *)source);
    if (second) x = _mm256_srli_epi32(x, 16);
    x = _mm256_blend_epi16(_mm256_slli_epi16(x, 8), _mm256_slli_epi32(x, 16), 0xaa);
    return _mm256_srai_epi16(x, 8);
}
static inline i16v add_i16(i16v a, i16v b) { return _mm256_add_epi16(a, b); }
static inline i16v sub_i16(i16v a, i16v b) { return _mm256_sub_epi16(a, b); }
static inline i16v shl_i16(i16v a, const int n) { return _mm256_slli_epi16(a, n); }
static inline i32v shl_i32(i32v a, const int n) { return _mm256_slli_epi32(a, n); }
static inline i32v shr_i32(i32v a, const int n) { return _mm256_srai_epi32(a, n); }
static inline i16v broadcast_pair(const int16_t *source) {
    int32_t two;
    memcpy(&two, source, 4);
    return _mm256_set1_epi32(two);
}

#ifndef SIMD_HAS_DOT4 /* avxvnni.h has its own */
#include "avx2_products.h"
#endif

#endif
