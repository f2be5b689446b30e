/* Primitives in C, for every processor: 4 lanes. A vector is one of GNU C, which gcc and clang turn
 * into those of their baseline. For other compilers it is a struct, and each operation a loop. */
#ifndef PYQREF_SIMD_H
#define PYQREF_SIMD_H

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SIMD_LANES 4
#define TILE_ROWS 2
#define TILE_VECTORS 4
#define INPUT_SHIFT 0
#define PAIR_PRICE 1
#define LANES_IN_LOOPS

/* `EACH(type, OF(a) + OF(b))` is an expression for all lanes of vectors, as one operation where
 * compilers have vectors. A comparison is a mask: all bits of a lane are set, or none. */
#if defined(__GNUC__)
#define VECTOR __attribute__((vector_size(16)))
typedef float f32v VECTOR;
typedef int32_t i32v VECTOR;
typedef uint32_t u32v VECTOR;
typedef int16_t i16v VECTOR;
typedef uint16_t u16v VECTOR;
#define LANE(a, i) (a)[i]
#define OF(a) (a)
#define EACH(type, expression) return (type)(expression)
#define U32(a) ((u32v)(a))
#define I32(a) ((i32v)(a))
#define U16(a) ((u16v)(a))
#define I16(a) ((i16v)(a))
#define IS(comparison) (comparison)
#else
typedef struct { float lane[4]; } f32v;
typedef struct { int32_t lane[4]; } i32v;
typedef struct { int16_t lane[8]; } i16v;
#define LANE(a, i) (a).lane[i]
#define OF(a) LANE(a, i)
#define EACH(type, expression) \
    type result;               \
    for (int i = 0; i < (int)(sizeof result / sizeof LANE(result, 0)); ++i) \
        LANE(result, i) = expression; \
    return result
#define U32(a) ((uint32_t)(a))
#define I32(a) ((int32_t)(a))
#define U16(a) ((uint16_t)(a))
#define I16(a) ((int16_t)(a))
#define IS(comparison) -(int32_t)(comparison)
#endif
/* Lane by lane: `expression` of i. */
#define EACH_LANE(type, expression)                                        \
    type result;                                                           \
    for (int i = 0; i < SIMD_LANES; ++i) LANE(result, i) = expression;     \
    return result

/* The bits of vectors as integers, and back. */
static inline i32v bits_of(f32v a) { i32v bits; memcpy(&bits, &a, sizeof a); return bits; }
static inline f32v with_bits(i32v a) { f32v real; memcpy(&real, &a, sizeof a); return real; }
/* x where the mask is set, else y. */
static inline i32v choose(i32v mask, i32v x, i32v y) {
    EACH(i32v, (OF(mask) & OF(x)) | (~OF(mask) & OF(y)));
}
static inline f32v choose_f32(i32v mask, f32v x, f32v y) {
    return with_bits(choose(mask, bits_of(x), bits_of(y)));
}

static inline f32v set_f32(float value) { EACH_LANE(f32v, value); }
static inline f32v load_f32(const float *source) { EACH_LANE(f32v, source[i]); }
static inline void store_f32(float *target, f32v value) { memcpy(target, &value, sizeof value); }
static inline void stream_f32(float *target, f32v value) { store_f32(target, value); }
static inline void finish_streams(void) {}

static inline i32v set_i32(int32_t value) { EACH_LANE(i32v, value); }
static inline i32v load_i32(const int32_t *source) { EACH_LANE(i32v, source[i]); }
static inline void store_i32(int32_t *target, i32v value) { memcpy(target, &value, sizeof value); }

#if defined(__SSE2__)
/* What x86-64 always has, and GNU C no operator for. */
static inline i32v four_bytes(const void *source) {
    int32_t four;
    memcpy(&four, source, sizeof four);
    return (i32v)_mm_cvtsi32_si128(four);
}
static inline i32v load_u8(const uint8_t *source) {
    const __m128i zero = _mm_setzero_si128();
    const __m128i halves = _mm_unpacklo_epi8((__m128i)four_bytes(source), zero);
    return (i32v)_mm_unpacklo_epi16(halves, zero);
}
static inline i32v load_s8(const int8_t *source) {
    const __m128i bytes = (__m128i)four_bytes(source), halves = _mm_unpacklo_epi8(bytes, bytes);
    return (i32v)_mm_unpacklo_epi16(halves, halves) >> 24;
}
static inline void store_low_bytes(uint8_t *target, i32v value) {
    const __m128i low = (__m128i)(value & 255), halves = _mm_packs_epi32(low, low);
    const int32_t four = _mm_cvtsi128_si32(_mm_packus_epi16(halves, halves));
    memcpy(target, &four, sizeof four);
}
static inline f32v min_f32(f32v a, f32v b) { return (f32v)_mm_min_ps((__m128)a, (__m128)b); }
static inline f32v max_f32(f32v a, f32v b) { return (f32v)_mm_max_ps((__m128)a, (__m128)b); }
static inline f32v sqrt_f32(f32v a) { return (f32v)_mm_sqrt_ps((__m128)a); }
static inline uint32_t bits_of_mask(i32v mask) { return (uint32_t)_mm_movemask_ps((__m128)mask); }
static inline i32v pair_products(i16v a, i16v b) {
    return (i32v)_mm_madd_epi16((__m128i)a, (__m128i)b);
}
#else
static inline i32v load_u8(const uint8_t *source) { EACH_LANE(i32v, source[i]); }
static inline i32v load_s8(const int8_t *source) { EACH_LANE(i32v, source[i]); }
static inline void store_low_bytes(uint8_t *target, i32v value) {
    for (int i = 0; i < SIMD_LANES; ++i) target[i] = (uint8_t)(uint32_t)LANE(value, i);
}
static inline f32v min_f32(f32v a, f32v b) {
    EACH_LANE(f32v, LANE(a, i) < LANE(b, i) ? LANE(a, i) : LANE(b, i));
}
static inline f32v max_f32(f32v a, f32v b) {
    EACH_LANE(f32v, LANE(a, i) > LANE(b, i) ? LANE(a, i) : LANE(b, i));
}
static inline f32v sqrt_f32(f32v a) { EACH_LANE(f32v, sqrtf(LANE(a, i))); }
static inline uint32_t bits_of_mask(i32v mask) {
    const int32_t low = (LANE(mask, 0) & 1) | (LANE(mask, 1) & 2);
    return (uint32_t)(low | (LANE(mask, 2) & 4) | (LANE(mask, 3) & 8));
}
static inline i32v low_half(i32v a) { EACH(i32v, I32(U32(OF(a)) << 16) >> 16); }
static inline i32v high_half(i32v a) { EACH(i32v, OF(a) >> 16); }
static inline i32v mul_i32(i32v a, i32v b);
static inline i32v pair_products(i16v a, i16v b) {
    i32v x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    const i32v low = mul_i32(low_half(x), low_half(y));
    const i32v high = mul_i32(high_half(x), high_half(y));
    EACH(i32v, U32(OF(low)) + U32(OF(high)));
}
#endif

static inline i32v and_i32(i32v a, i32v b) { EACH(i32v, OF(a) & OF(b)); }
static inline i32v is_less(f32v a, f32v b) { EACH(i32v, IS(OF(a) < OF(b))); }
static inline i32v is_equal(f32v a, f32v b) { EACH(i32v, IS(OF(a) == OF(b))); }
static inline i32v is_less_equal(f32v a, f32v b) { EACH(i32v, IS(OF(a) <= OF(b))); }
static inline i32v has_bits(i32v a, i32v b) { EACH(i32v, IS((OF(a) & OF(b)) == OF(b))); }
static inline i32v is_same(i32v a, i32v b) { EACH(i32v, IS(OF(a) == OF(b))); }

static inline f32v add_f32(f32v a, f32v b) { EACH(f32v, OF(a) + OF(b)); }
static inline f32v sub_f32(f32v a, f32v b) { EACH(f32v, OF(a) - OF(b)); }
static inline f32v mul_f32(f32v a, f32v b) { EACH(f32v, OF(a) * OF(b)); }
static inline f32v div_f32(f32v a, f32v b) { EACH(f32v, OF(a) / OF(b)); }
static inline f32v if_nan(f32v a, f32v other) { return choose_f32(is_equal(a, a), a, other); }
static inline f32v abs_f32(f32v a) { return choose_f32(set_i32(INT32_MAX), a, set_f32(0)); }
static inline f32v if_unequal(f32v a, i32v x, i32v y) {
    return choose_f32(is_same(x, y), set_f32(0), a);
}
static inline f32v copy_sign_f32(f32v a, f32v sign) {
    return choose_f32(set_i32(INT32_MAX), a, sign);
}
static inline float least_f32(f32v a) {
    float result = LANE(a, 0);
    for (int i = 1; i < SIMD_LANES; ++i) result = LANE(a, i) < result ? LANE(a, i) : result;
    return result;
}
static inline float greatest_f32(f32v a) {
    float result = LANE(a, 0);
    for (int i = 1; i < SIMD_LANES; ++i) result = LANE(a, i) > result ? LANE(a, i) : result;
    return result;
}
static inline f32v least_of_rows(const f32v *rows) { EACH_LANE(f32v, least_f32(rows[i])); }
static inline f32v greatest_of_rows(const f32v *rows) { EACH_LANE(f32v, greatest_f32(rows[i])); }
static inline int any_i32(i32v a) {
    int32_t any = 0;
    for (int i = 0; i < SIMD_LANES; ++i) any |= LANE(a, i);
    return any != 0;
}
static inline i32v is_nan(f32v a) { EACH(i32v, IS(OF(a) != OF(a)) & 1); }
static inline uint32_t lanes_inside(f32v a, f32v low, f32v high) {
    return bits_of_mask(and_i32(is_less_equal(low, a), is_less_equal(a, high)));
}
static inline f32v lanes_of(const int32_t *source, uint32_t bits) {
    static const int32_t bit[SIMD_LANES] = {1, 2, 4, 8};
    const i32v mask = has_bits(set_i32((int32_t)bits), load_i32(bit));
    return with_bits(and_i32(load_i32(source), mask));
}

static inline i32v add_i32(i32v a, i32v b) { EACH(i32v, U32(OF(a)) + U32(OF(b))); }
static inline i32v sub_i32(i32v a, i32v b) { EACH(i32v, U32(OF(a)) - U32(OF(b))); }
static inline i32v mul_i32(i32v a, i32v b) { EACH(i32v, U32(OF(a)) * U32(OF(b))); }
static inline i32v or_i32(i32v a, i32v b) { EACH(i32v, OF(a) | OF(b)); }
static inline i32v multiply_add_i16(i32v c, i32v a, i32v b) {
    EACH(i32v, U32(OF(c)) + U32(OF(a)) * U32(OF(b)));
}

#include "simd/portable_conversions.h"

static inline i32v shl_i32(i32v a, const int n) { EACH(i32v, U32(OF(a)) << n); }
static inline i32v shr_i32(i32v a, const int n) { EACH(i32v, OF(a) >> n); }
static inline f32v exponent_f32(f32v a) { return with_bits(shl_i32(bits_of(a), 23)); }
static inline f32v power_of_two(i32v n) { return with_bits(shl_i32(add_i32(n, set_i32(127)), 23)); }
static inline f32v look_up_32(const float *table, i32v index) {
    EACH_LANE(f32v, table[LANE(index, i) & 31]);
}
static inline f32v if_less(f32v a, f32v b, f32v x, f32v y) {
    return choose_f32(is_less(a, b), x, y);
}

static inline void store_rounded_u8(uint8_t *first, uint8_t *second, f32v a, f32v b, f32v c,
                                    f32v d, int zero_point, int lower) {
    const f32v low = set_f32((float)(lower - zero_point));
    const i32v zero = set_i32(zero_point);
    store_low_bytes(first, add_i32(to_i32(max_f32(a, low)), zero));
    store_low_bytes(first + SIMD_LANES, add_i32(to_i32(max_f32(b, low)), zero));
    store_low_bytes(second, add_i32(to_i32(max_f32(c, low)), zero));
    store_low_bytes(second + SIMD_LANES, add_i32(to_i32(max_f32(d, low)), zero));
}

typedef struct { uint8_t lane[4 * SIMD_LANES]; } bytes_v;
static inline bytes_v pack_rounded_u8(f32v a, f32v b, f32v c, f32v d, int zero_point) {
    const f32v low = set_f32((float)-zero_point), high = set_f32((float)(255 - zero_point));
    const i32v zero = set_i32(zero_point);
    const f32v all[4] = {a, b, c, d};
    bytes_v bytes;
    for (int v = 0; v < 4; ++v) {
        const i32v whole = to_i32(min_f32(max_f32(all[v], low), high));
        store_low_bytes(bytes.lane + v * SIMD_LANES, add_i32(whole, zero));
    }
    return bytes;
}
static inline bytes_v clamp_u8(bytes_v bytes, int lower, int upper) {
    for (int i = 0; i < 4 * SIMD_LANES; ++i) {
        if (bytes.lane[i] < lower) bytes.lane[i] = (uint8_t)lower;
        if (bytes.lane[i] > upper) bytes.lane[i] = (uint8_t)upper;
    }
    return bytes;
}
static inline void store_rounded_bytes(uint8_t *target, f32v a, f32v b, f32v c, f32v d,
                                       const int is_signed, int lower, int upper) {
    const f32v low = set_f32((float)lower), high = set_f32((float)upper);
    (void)is_signed;
    store_low_bytes(target, to_i32(min_f32(max_f32(a, low), high)));
    store_low_bytes(target + SIMD_LANES, to_i32(min_f32(max_f32(b, low), high)));
    store_low_bytes(target + 2 * SIMD_LANES, to_i32(min_f32(max_f32(c, low), high)));
    store_low_bytes(target + 3 * SIMD_LANES, to_i32(min_f32(max_f32(d, low), high)));
}
static inline int all_below(f32v a, f32v b, f32v c, f32v d, f32v bound) {
    int all = 1;
    for (int i = 0; i < SIMD_LANES; ++i)
        all &= (LANE(a, i) < LANE(bound, i)) & (LANE(b, i) < LANE(bound, i)) &
               (LANE(c, i) < LANE(bound, i)) & (LANE(d, i) < LANE(bound, i));
    return all;
}
static inline void store_quarters(uint8_t *target, bytes_v bytes, const int first,
                                  const int quarters, int count) {
    (void)quarters;
    memcpy(target, bytes.lane + first * SIMD_LANES, (size_t)count);
}

/* Products of 16 bits, two a lane, for transformed convolutions. */
#define PAIR_ROWS 2
#define EACH_HALF(expression)                                                       \
    i16v result;                                                                    \
    for (int i = 0; i < 2 * SIMD_LANES; ++i) LANE(result, i) = (int16_t)(expression); \
    return result
static inline i16v set_i16(int16_t value) { EACH_HALF(value); }
static inline i16v load_i16(const int16_t *source) {
    i16v a;
    memcpy(&a, source, sizeof a);
    return a;
}
static inline void store_i16(int16_t *target, i16v value) { memcpy(target, &value, sizeof value); }
static inline i16v widen_u8(const uint8_t *source) { EACH_HALF(source[i]); }
static inline i16v widen_pairs(const int8_t *source, const int second) {
    EACH_HALF(source[i / 2 * 4 + i % 2 + 2 * second]);
}
static inline i16v add_i16(i16v a, i16v b) { EACH(i16v, I16(U16(OF(a)) + U16(OF(b)))); }
static inline i16v sub_i16(i16v a, i16v b) { EACH(i16v, I16(U16(OF(a)) - U16(OF(b)))); }
static inline i16v shl_i16(i16v a, const int n) { EACH(i16v, I16(U16(OF(a)) << n)); }
static inline i16v broadcast_pair(const int16_t *source) {
    int32_t pair;
    i16v all;
    memcpy(&pair, source, sizeof pair);
    const i32v words = set_i32(pair);
    memcpy(&all, &words, sizeof all);
    return all;
}
static inline i32v dot2(i32v sum, i16v a, i16v b) { return add_i32(sum, pair_products(a, b)); }

/* Products of bytes, four a lane: those of each half of 16 bits first. */
typedef struct { i16v low, high; } weights_v, inputs_v; /* bytes of each half */
typedef struct { uint8_t lane[SIMD_LANES][4]; } quads_v;
static inline i16v low_byte(i16v a) { EACH(i16v, OF(a) & 255); }
static inline i16v top_byte(i16v a) { EACH(i16v, I16(U16(OF(a)) >> 8)); }
static inline i16v top_signed(i16v a) { EACH(i16v, OF(a) >> 8); }
static inline inputs_v unsigned_bytes(i16v halves) {
    const inputs_v x = {low_byte(halves), top_byte(halves)};
    return x;
}
static inline i32v dot4(i32v sum, inputs_v x, weights_v w) {
    return dot2(dot2(sum, x.low, w.low), x.high, w.high);
}
static inline inputs_v broadcast_inputs(const uint8_t *source) {
    int16_t pair[2];
    memcpy(pair, source, sizeof pair);
    return unsigned_bytes(broadcast_pair(pair));
}
static inline weights_v load_weights(const int8_t *source) {
    i16v halves;
    memcpy(&halves, source, sizeof halves);
    const weights_v w = {top_signed(shl_i16(halves, 8)), top_signed(halves)};
    return w;
}
static inline i32v dot4_quads(i32v sum, quads_v x, weights_v w) {
    i16v halves;
    memcpy(&halves, &x, sizeof halves);
    return dot4(sum, unsigned_bytes(halves), w);
}
static inline quads_v load_quads(const uint8_t *source) {
    quads_v x;
    memcpy(&x, source, sizeof x);
    return x;
}
static inline void broadcast_quads(quads_v *quads, const uint8_t *source) {
    for (int v = 0; v < 4; ++v) {
        for (int i = 0; i < SIMD_LANES; ++i) memcpy(quads[v].lane[i], source + 4 * v, 4);
    }
}
#if defined(__SSE2__)
static inline void interleave_quads(quads_v *quads, const uint8_t *a, const uint8_t *b,
                                    const uint8_t *c, const uint8_t *d) {
    const __m128i x = _mm_loadu_si128((const __m128i *)a), y = _mm_loadu_si128((const __m128i *)b);
    const __m128i z = _mm_loadu_si128((const __m128i *)c), w = _mm_loadu_si128((const __m128i *)d);
    const __m128i xy[2] = {_mm_unpacklo_epi8(x, y), _mm_unpackhi_epi8(x, y)};
    const __m128i zw[2] = {_mm_unpacklo_epi8(z, w), _mm_unpackhi_epi8(z, w)};
    const __m128i all[4] = {_mm_unpacklo_epi16(xy[0], zw[0]), _mm_unpackhi_epi16(xy[0], zw[0]),
                            _mm_unpacklo_epi16(xy[1], zw[1]), _mm_unpackhi_epi16(xy[1], zw[1])};
    memcpy(quads, all, sizeof all);
}
#else
static inline void interleave_quads(quads_v *quads, const uint8_t *a, const uint8_t *b,
                               const uint8_t *c, const uint8_t *d) {
    for (int v = 0; v < 4; ++v, a += SIMD_LANES, b += SIMD_LANES, c += SIMD_LANES, d += SIMD_LANES) {
        const quads_v quad = {{{a[0], b[0], c[0], d[0]},
                               {a[1], b[1], c[1], d[1]},
                               {a[2], b[2], c[2], d[2]},
                               {a[3], b[3], c[3], d[3]}}};
        quads[v] = quad;
    }
}
#endif
static inline void interleave_u8(uint8_t *target, const uint8_t *a, const uint8_t *b,
                                 const uint8_t *c, const uint8_t *d, int flip) {
    quads_v quads[4];
    interleave_quads(quads, a, b, c, d);
    memcpy(target, quads, sizeof quads);
    for (int i = 0; i < 16 * SIMD_LANES; ++i) target[i] ^= (uint8_t)flip;
}
static inline void store_rounded_quads(uint8_t *target, f32v a, f32v b, f32v c, f32v d,
                                       int zero_point, int lower, int flip) {
    store_rounded_u8(target, target + 2 * SIMD_LANES, a, b, c, d, zero_point, lower);
    for (int i = 0; i < 4 * SIMD_LANES; ++i) target[i] ^= (uint8_t)flip;
}

typedef struct { uint8_t at[4 * SIMD_LANES]; } u8v;
#define EACH_BYTE(expression)                                             \
    u8v result;                                                           \
    for (int i = 0; i < 4 * SIMD_LANES; ++i) result.at[i] = (expression); \
    return result
static inline u8v set_bytes(uint8_t value) { EACH_BYTE(value); }
static inline u8v load_many_bytes(const uint8_t *source) { EACH_BYTE(source[i]); }
static inline void store_many_bytes(uint8_t *target, u8v value) {
    memcpy(target, &value, sizeof value);
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
static inline u8v min_bytes(u8v a, u8v b) { EACH_BYTE(a.at[i] < b.at[i] ? a.at[i] : b.at[i]); }
static inline u8v max_bytes(u8v a, u8v b) { EACH_BYTE(a.at[i] > b.at[i] ? a.at[i] : b.at[i]); }
static inline u8v xor_bytes(u8v a, u8v b) { EACH_BYTE(a.at[i] ^ b.at[i]); }

static inline void look_up_u8(uint8_t *target, const uint8_t *source, ptrdiff_t n,
                              const uint8_t *table) {
    for (ptrdiff_t i = 0; i < n; ++i) target[i] = table[source[i]];
}

#endif
