/* Primitives in plain C, for every processor: 4 lanes in a struct, which compilers turn into
 * the vectors of their baseline where they can. */
#ifndef PYQREF_SIMD_H
#define PYQREF_SIMD_H

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

typedef struct { float lane[SIMD_LANES]; } f32v;
typedef struct { int32_t lane[SIMD_LANES]; } i32v;
typedef struct { int16_t k[4]; } inputs_v;              /* four activations */
typedef struct { int8_t lane[SIMD_LANES][4]; } weights_v; /* four weights of each of 4 columns */

/* One loop over the lanes: `result.lane[i] = expression` for a result of the given type. */
#define EACH_LANE(type, expression)                                  \
    type result;                                                     \
    for (int i = 0; i < SIMD_LANES; ++i) result.lane[i] = expression; \
    return result

static inline f32v set_f32(float value) { EACH_LANE(f32v, value); }
static inline f32v load_f32(const float *source) { EACH_LANE(f32v, source[i]); }
static inline void store_f32(float *target, f32v value) { memcpy(target, &value, sizeof value); }
static inline void stream_f32(float *target, f32v value) { store_f32(target, value); }
static inline void finish_streams(void) {}

static inline i32v set_i32(int32_t value) { EACH_LANE(i32v, value); }
static inline i32v load_i32(const int32_t *source) { EACH_LANE(i32v, source[i]); }
static inline void store_i32(int32_t *target, i32v value) { memcpy(target, &value, sizeof value); }

static inline i32v load_u8(const uint8_t *source) { EACH_LANE(i32v, source[i]); }
static inline i32v load_s8(const int8_t *source) { EACH_LANE(i32v, source[i]); }
static inline void store_low_bytes(uint8_t *target, i32v value) {
    for (int i = 0; i < SIMD_LANES; ++i) target[i] = (uint8_t)(uint32_t)value.lane[i];
}

/* The double holds the product exactly; the sum is rounded to odd (its exact error, by Knuth's
 * two-sum, tells when and which way), so that rounding it to float cannot meet a false tie. */
static inline float fma_once(float a, float b, float c) {
    double product = (double)a * b, addend = c, total = product + addend;
    double back = total - product;
    double error = (product - (total - back)) + (addend - back);
    int64_t bits;
    memcpy(&bits, &total, sizeof bits);
    if (error != 0 && !(bits & 1) && total - total == 0) {
        bits += (error > 0) == (total > 0) ? 1 : -1;
        memcpy(&total, &bits, sizeof bits);
    }
    return (float)total;
}
static inline float power_once(int32_t n) {
    uint32_t bits = ((uint32_t)n + 127u) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return power;
}
static inline float round_once(float a) {
    /* Adding 1.5 * 2^52 leaves no room for a fraction: the sum is rounded, ties to even. */
    const double buffer = 6755399441055744.0;
    return a > -4503599627370496.0f && a < 4503599627370496.0f
               ? copysignf((float)(((double)a + buffer) - buffer), a)
               : a;
}

static inline f32v add_f32(f32v a, f32v b) { EACH_LANE(f32v, a.lane[i] + b.lane[i]); }
static inline f32v sub_f32(f32v a, f32v b) { EACH_LANE(f32v, a.lane[i] - b.lane[i]); }
static inline f32v mul_f32(f32v a, f32v b) { EACH_LANE(f32v, a.lane[i] * b.lane[i]); }
static inline f32v div_f32(f32v a, f32v b) { EACH_LANE(f32v, a.lane[i] / b.lane[i]); }
static inline f32v sqrt_f32(f32v a) { EACH_LANE(f32v, sqrtf(a.lane[i])); }
static inline f32v fma_f32(f32v a, f32v b, f32v c) {
    EACH_LANE(f32v, fma_once(a.lane[i], b.lane[i], c.lane[i]));
}
static inline f32v min_f32(f32v a, f32v b) {
    EACH_LANE(f32v, a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]);
}
static inline f32v max_f32(f32v a, f32v b) {
    EACH_LANE(f32v, a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]);
}
static inline f32v round_f32(f32v a) { EACH_LANE(f32v, round_once(a.lane[i])); }
static inline f32v if_nan(f32v a, f32v other) {
    EACH_LANE(f32v, a.lane[i] == a.lane[i] ? a.lane[i] : other.lane[i]);
}
static inline f32v abs_f32(f32v a) { EACH_LANE(f32v, fabsf(a.lane[i])); }
static inline f32v if_unequal(f32v a, i32v x, i32v y) {
    EACH_LANE(f32v, x.lane[i] != y.lane[i] ? a.lane[i] : 0.0f);
}
static inline f32v copy_sign_f32(f32v a, f32v sign) {
    EACH_LANE(f32v, copysignf(a.lane[i], sign.lane[i]));
}
static inline f32v power_of_two(i32v n) { EACH_LANE(f32v, power_once(n.lane[i])); }
static inline float least_f32(f32v a) {
    float result = a.lane[0];
    for (int i = 1; i < SIMD_LANES; ++i) result = a.lane[i] < result ? a.lane[i] : result;
    return result;
}
static inline float greatest_f32(f32v a) {
    float result = a.lane[0];
    for (int i = 1; i < SIMD_LANES; ++i) result = a.lane[i] > result ? a.lane[i] : result;
    return result;
}
static inline f32v least_of_rows(const f32v *rows) { EACH_LANE(f32v, least_f32(rows[i])); }
static inline f32v greatest_of_rows(const f32v *rows) { EACH_LANE(f32v, greatest_f32(rows[i])); }
static inline int any_i32(i32v a) {
    int32_t any = 0;
    for (int i = 0; i < SIMD_LANES; ++i) any |= a.lane[i];
    return any != 0;
}
static inline i32v is_nan(f32v a) { EACH_LANE(i32v, a.lane[i] != a.lane[i]); }
static inline uint32_t lanes_inside(f32v a, f32v low, f32v high) {
    uint32_t bits = 0;
    for (int i = 0; i < SIMD_LANES; ++i)
        bits |= (uint32_t)((a.lane[i] >= low.lane[i]) & (a.lane[i] <= high.lane[i])) << i;
    return bits;
}
static inline f32v lanes_of(const int32_t *source, uint32_t bits) {
    int32_t lane[SIMD_LANES];
    f32v result;
    for (int i = 0; i < SIMD_LANES; ++i) lane[i] = source[i] & -(int32_t)(bits >> i & 1);
    memcpy(&result, lane, sizeof lane);
    return result;
}

static inline i32v add_i32(i32v a, i32v b) {
    EACH_LANE(i32v, (int32_t)((uint32_t)a.lane[i] + (uint32_t)b.lane[i]));
}
static inline i32v sub_i32(i32v a, i32v b) {
    EACH_LANE(i32v, (int32_t)((uint32_t)a.lane[i] - (uint32_t)b.lane[i]));
}
static inline i32v mul_i32(i32v a, i32v b) {
    EACH_LANE(i32v, (int32_t)((uint32_t)a.lane[i] * (uint32_t)b.lane[i]));
}
static inline i32v or_i32(i32v a, i32v b) { EACH_LANE(i32v, a.lane[i] | b.lane[i]); }
static inline i32v multiply_add_i16(i32v c, i32v a, i32v b) {
    EACH_LANE(i32v, (int32_t)((uint32_t)c.lane[i] + (uint32_t)(a.lane[i] * b.lane[i])));
}

static inline f32v to_f32(i32v a) { EACH_LANE(f32v, (float)a.lane[i]); }
static inline i32v to_i32(f32v a) { EACH_LANE(i32v, (int32_t)round_once(a.lane[i])); }
static inline i32v truncate_i32(f32v a) {
    EACH_LANE(i32v, a.lane[i] >= -2147483648.0f && a.lane[i] < 2147483648.0f ? (int32_t)a.lane[i]
                                                                             : INT32_MIN);
}

/* Doubles, one for each lane. */
typedef struct { double lane[SIMD_LANES]; } f64v;
static inline double low_bits_up(double a) {
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    bits <<= 52;
    memcpy(&a, &bits, sizeof bits);
    return a;
}
static inline double bits_plus_shifted(double a, int64_t added) {
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    bits = ((bits + (uint64_t)added) >> 52) | 0x4330000000000000u;
    memcpy(&a, &bits, sizeof bits);
    return a;
}
static inline f64v set_f64(double value) { EACH_LANE(f64v, value); }
static inline f64v widen_f32(f32v a) { EACH_LANE(f64v, (double)a.lane[i]); }
static inline f32v narrow_f64(f64v a) { EACH_LANE(f32v, (float)a.lane[i]); }
static inline f64v add_f64(f64v a, f64v b) { EACH_LANE(f64v, a.lane[i] + b.lane[i]); }
static inline f64v sub_f64(f64v a, f64v b) { EACH_LANE(f64v, a.lane[i] - b.lane[i]); }
static inline f64v mul_f64(f64v a, f64v b) { EACH_LANE(f64v, a.lane[i] * b.lane[i]); }
static inline f64v div_f64(f64v a, f64v b) { EACH_LANE(f64v, a.lane[i] / b.lane[i]); }
static inline f64v min_f64(f64v a, f64v b) {
    EACH_LANE(f64v, a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]);
}
static inline f64v max_f64(f64v a, f64v b) {
    EACH_LANE(f64v, a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]);
}
static inline f64v exponent_from_low_bits(f64v a) { EACH_LANE(f64v, low_bits_up(a.lane[i])); }
static inline f64v high_bits_plus(f64v a, int64_t added) {
    EACH_LANE(f64v, bits_plus_shifted(a.lane[i], added));
}
static inline float low_bits_up_f32(float a) {
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    bits <<= 23;
    memcpy(&a, &bits, sizeof bits);
    return a;
}
static inline f32v exponent_f32(f32v a) { EACH_LANE(f32v, low_bits_up_f32(a.lane[i])); }
static inline f32v if_less(f32v a, f32v b, f32v x, f32v y) {
    EACH_LANE(f32v, a.lane[i] < b.lane[i] ? x.lane[i] : y.lane[i]);
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
    const f32v all[4] = {a, b, c, d};
    bytes_v bytes;
    for (int i = 0; i < 4 * SIMD_LANES; ++i) {
        float real = round_once(all[i / SIMD_LANES].lane[i % SIMD_LANES]) + (float)zero_point;
        bytes.lane[i] = (uint8_t)(real < 0 ? 0 : real > 255 ? 255 : real);
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
        all &= (a.lane[i] < bound.lane[i]) & (b.lane[i] < bound.lane[i]) &
               (c.lane[i] < bound.lane[i]) & (d.lane[i] < bound.lane[i]);
    return all;
}
static inline void store_quarters(uint8_t *target, bytes_v bytes, const int first,
                                  const int quarters, int count) {
    (void)quarters;
    memcpy(target, bytes.lane + first * SIMD_LANES, (size_t)count);
}

static inline inputs_v broadcast_inputs(const uint8_t *source) {
    inputs_v x = {{source[0], source[1], source[2], source[3]}};
    return x;
}
static inline weights_v load_weights(const int8_t *source) {
    weights_v w;
    memcpy(&w, source, sizeof w);
    return w;
}
static inline i32v dot4(i32v sum, inputs_v x, weights_v w) {
    EACH_LANE(i32v, (int32_t)((uint32_t)sum.lane[i] +
                              (uint32_t)(x.k[0] * w.lane[i][0] + x.k[1] * w.lane[i][1] +
                                         x.k[2] * w.lane[i][2] + x.k[3] * w.lane[i][3])));
}

/* Products of 16 bits, two a lane, for transformed convolutions. */
#define PAIR_ROWS 2
typedef struct { int16_t half[2 * SIMD_LANES]; } i16v;
#define EACH_HALF(expression)                                                              \
    i16v result;                                                                           \
    for (int i = 0; i < 2 * SIMD_LANES; ++i) result.half[i] = (int16_t)(expression);       \
    return result
static inline i16v set_i16(int16_t value) { EACH_HALF(value); }
static inline i16v load_i16(const int16_t *source) { EACH_HALF(source[i]); }
static inline void store_i16(int16_t *target, i16v value) { memcpy(target, &value, sizeof value); }
static inline i16v widen_u8(const uint8_t *source) { EACH_HALF(source[i]); }
static inline i16v widen_pairs(const int8_t *source, const int second) {
    EACH_HALF(source[i / 2 * 4 + i % 2 + 2 * second]);
}
static inline i16v add_i16(i16v a, i16v b) { EACH_HALF(a.half[i] + b.half[i]); }
static inline i16v sub_i16(i16v a, i16v b) { EACH_HALF(a.half[i] - b.half[i]); }
static inline i16v shl_i16(i16v a, const int n) { EACH_HALF(a.half[i] * (1 << n)); }
static inline i32v shl_i32(i32v a, const int n) {
    EACH_LANE(i32v, (int32_t)((uint32_t)a.lane[i] << n));
}
static inline i32v shr_i32(i32v a, const int n) {
    /* Rounded down, also where compilers shift negative numbers otherwise. */
    EACH_LANE(i32v, a.lane[i] < 0 ? ~(~a.lane[i] >> n) : a.lane[i] >> n);
}
static inline i16v broadcast_pair(const int16_t *source) { EACH_HALF(source[i % 2]); }
static inline i32v dot2(i32v sum, i16v a, i16v b) {
    EACH_LANE(i32v, (int32_t)((uint32_t)sum.lane[i] + (uint32_t)(a.half[2 * i] * b.half[2 * i]) +
                              (uint32_t)(a.half[2 * i + 1] * b.half[2 * i + 1])));
}

typedef struct { uint8_t lane[SIMD_LANES][4]; } quads_v;
static inline i32v dot4_quads(i32v sum, quads_v x, weights_v w) {
    EACH_LANE(i32v, (int32_t)((uint32_t)sum.lane[i] +
                              (uint32_t)(x.lane[i][0] * w.lane[i][0] + x.lane[i][1] * w.lane[i][1] +
                                         x.lane[i][2] * w.lane[i][2] + x.lane[i][3] * w.lane[i][3])));
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
