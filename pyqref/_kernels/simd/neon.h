/* Primitives for NEON on 64-bit ARM: 4 lanes. The products of bytes differ between its
 * extensions: dotprod.h and i8mm.h include this file. */
#ifndef PYQREF_SIMD_NEON_H
#define PYQREF_SIMD_NEON_H

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SIMD_LANES 4
#define PAIR_PRICE 0
#define TILE_ROWS 6
#define TILE_VECTORS 4

typedef float32x4_t f32v;
typedef int32x4_t i32v;

static inline f32v set_f32(float value) { return vdupq_n_f32(value); }
static inline f32v load_f32(const float *source) { return vld1q_f32(source); }
static inline void store_f32(float *target, f32v value) { vst1q_f32(target, value); }
static inline void stream_f32(float *target, f32v value) { vst1q_f32(target, value); }
static inline void finish_streams(void) {}

static inline i32v set_i32(int32_t value) { return vdupq_n_s32(value); }
static inline i32v load_i32(const int32_t *source) { return vld1q_s32(source); }
static inline void store_i32(int32_t *target, i32v value) { vst1q_s32(target, value); }

static inline uint32_t four_bytes(const void *source) {
    uint32_t four;
    memcpy(&four, source, 4);
    return four;
}
static inline i32v load_u8(const uint8_t *source) {
    uint8x8_t bytes = vcreate_u8(four_bytes(source));
    return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(bytes))));
}
static inline i32v load_s8(const int8_t *source) {
    int8x8_t bytes = vcreate_s8(four_bytes(source));
    return vmovl_s16(vget_low_s16(vmovl_s8(bytes)));
}
static inline void store_low_bytes(uint8_t *target, i32v value) {
    int16x4_t halves = vmovn_s32(value);
    int8x8_t bytes = vmovn_s16(vcombine_s16(halves, halves));
    uint32_t four = vget_lane_u32(vreinterpret_u32_s8(bytes), 0);
    memcpy(target, &four, 4);
}

static inline f32v add_f32(f32v a, f32v b) { return vaddq_f32(a, b); }
static inline f32v sub_f32(f32v a, f32v b) { return vsubq_f32(a, b); }
static inline f32v mul_f32(f32v a, f32v b) { return vmulq_f32(a, b); }
static inline f32v div_f32(f32v a, f32v b) { return vdivq_f32(a, b); }
static inline f32v sqrt_f32(f32v a) { return vsqrtq_f32(a); }
static inline f32v fma_f32(f32v a, f32v b, f32v c) { return vfmaq_f32(c, a, b); }
/* The instructions for minimum and maximum keep a nan; these keep b. */
static inline f32v min_f32(f32v a, f32v b) { return vbslq_f32(vcltq_f32(a, b), a, b); }
static inline f32v max_f32(f32v a, f32v b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
static inline f32v round_f32(f32v a) { return vrndnq_f32(a); }
static inline f32v if_nan(f32v a, f32v other) { return vbslq_f32(vceqq_f32(a, a), a, other); }
static inline f32v abs_f32(f32v a) { return vabsq_f32(a); }
static inline f32v if_unequal(f32v a, i32v x, i32v y) {
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(a), vceqq_s32(x, y)));
}
static inline f32v copy_sign_f32(f32v a, f32v sign) {
    return vbslq_f32(vdupq_n_u32(0x80000000u), sign, a);
}
static inline f32v power_of_two(i32v n) {
    return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(n, vdupq_n_s32(127)), 23));
}
static inline float least_f32(f32v a) { return vminvq_f32(a); }
static inline float greatest_f32(f32v a) { return vmaxvq_f32(a); }
static inline f32v least_of_rows(const f32v *rows) {
    return vpminq_f32(vpminq_f32(rows[0], rows[1]), vpminq_f32(rows[2], rows[3]));
}
static inline f32v greatest_of_rows(const f32v *rows) {
    return vpmaxq_f32(vpmaxq_f32(rows[0], rows[1]), vpmaxq_f32(rows[2], rows[3]));
}
static inline int any_i32(i32v a) { return vmaxvq_u32(vreinterpretq_u32_s32(a)) != 0; }
static inline i32v is_nan(f32v a) {
    return vreinterpretq_s32_u32(vshrq_n_u32(vmvnq_u32(vceqq_f32(a, a)), 31));
}
static inline uint32x4_t bit_of_lane(void) {
    const uint32_t bits[4] = {1, 2, 4, 8};
    return vld1q_u32(bits);
}
static inline uint32_t lanes_inside(f32v a, f32v low, f32v high) {
    uint32x4_t inside = vandq_u32(vcgeq_f32(a, low), vcleq_f32(a, high));
    return vaddvq_u32(vandq_u32(inside, bit_of_lane()));
}
static inline f32v lanes_of(const int32_t *source, uint32_t bits) {
    uint32x4_t is_set = vtstq_u32(vdupq_n_u32(bits), bit_of_lane());
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_s32(vld1q_s32(source)), is_set));
}

static inline i32v add_i32(i32v a, i32v b) { return vaddq_s32(a, b); }
static inline i32v sub_i32(i32v a, i32v b) { return vsubq_s32(a, b); }
static inline i32v mul_i32(i32v a, i32v b) { return vmulq_s32(a, b); }
static inline i32v or_i32(i32v a, i32v b) { return vorrq_s32(a, b); }
static inline i32v multiply_add_i16(i32v c, i32v a, i32v b) { return vmlaq_s32(c, a, b); }

static inline f32v to_f32(i32v a) { return vcvtq_f32_s32(a); }
static inline i32v to_i32(f32v a) { return vcvtnq_s32_f32(a); }
static inline i32v truncate_i32(f32v a) { return vcvtq_s32_f32(a); }

/* Doubles, one for each lane: halves side by side. */
typedef struct { float64x2_t low, high; } f64v;
#define EACH_HALF(operation)                                      \
    f64v result = {operation(a.low, b.low), operation(a.high, b.high)}; \
    return result
static inline f64v set_f64(double value) {
    f64v result = {vdupq_n_f64(value), vdupq_n_f64(value)};
    return result;
}
static inline f64v widen_f32(f32v a) {
    f64v result = {vcvt_f64_f32(vget_low_f32(a)), vcvt_high_f64_f32(a)};
    return result;
}
static inline f32v narrow_f64(f64v a) { return vcvt_high_f32_f64(vcvt_f32_f64(a.low), a.high); }
/* The instructions for minimum and maximum keep a nan; these keep b. */
static inline float64x2_t less_f64(float64x2_t a, float64x2_t b) {
    return vbslq_f64(vcltq_f64(a, b), a, b);
}
static inline float64x2_t more_f64(float64x2_t a, float64x2_t b) {
    return vbslq_f64(vcgtq_f64(a, b), a, b);
}
static inline f64v add_f64(f64v a, f64v b) { EACH_HALF(vaddq_f64); }
static inline f64v sub_f64(f64v a, f64v b) { EACH_HALF(vsubq_f64); }
static inline f64v mul_f64(f64v a, f64v b) { EACH_HALF(vmulq_f64); }
static inline f64v div_f64(f64v a, f64v b) { EACH_HALF(vdivq_f64); }
static inline f64v min_f64(f64v a, f64v b) { EACH_HALF(less_f64); }
static inline f64v max_f64(f64v a, f64v b) { EACH_HALF(more_f64); }
static inline float64x2_t low_bits_up(float64x2_t a) {
    return vreinterpretq_f64_u64(vshlq_n_u64(vreinterpretq_u64_f64(a), 52));
}
static inline f64v exponent_from_low_bits(f64v a) {
    f64v result = {low_bits_up(a.low), low_bits_up(a.high)};
    return result;
}
static inline f32v exponent_f32(f32v a) {
    return vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_f32(a), 23));
}
static inline i32v shl_i32(i32v a, const int n) { return vshlq_s32(a, vdupq_n_s32(n)); }
static inline i32v shr_i32(i32v a, const int n) { return vshlq_s32(a, vdupq_n_s32(-n)); }
static inline uint8x16x4_t sixteen(const float *table) {
    uint8x16x4_t bytes;
    for (int i = 0; i < 4; ++i) bytes.val[i] = vreinterpretq_u8_f32(vld1q_f32(table + 4 * i));
    return bytes;
}
static inline f32v look_up_32(const float *table, i32v index) {
    const uint32x4_t place = vandq_u32(vreinterpretq_u32_s32(index), vdupq_n_u32(31));
    const uint8x16_t at = vreinterpretq_u8_u32(
        vmlaq_u32(vdupq_n_u32(0x03020100), place, vdupq_n_u32(0x04040404)));
    const uint8x16_t low = vqtbl4q_u8(sixteen(table), at);
    const uint8x16_t above = vsubq_u8(at, vdupq_n_u8(64));
    return vreinterpretq_f32_u8(vqtbx4q_u8(low, sixteen(table + 16), above));
}
static inline i32v bits_of(f32v a) { return vreinterpretq_s32_f32(a); }
static inline f32v with_bits(i32v a) { return vreinterpretq_f32_s32(a); }
static inline f32v if_less(f32v a, f32v b, f32v x, f32v y) {
    return vbslq_f32(vcltq_f32(a, b), x, y);
}

typedef uint8x16_t bytes_v;
static inline bytes_v pack_rounded_u8(f32v a, f32v b, f32v c, f32v d, int zero_point) {
    const int16x8_t zero = vdupq_n_s16((int16_t)zero_point);
    int16x8_t ab = vcombine_s16(vqmovn_s32(to_i32(a)), vqmovn_s32(to_i32(b)));
    int16x8_t cd = vcombine_s16(vqmovn_s32(to_i32(c)), vqmovn_s32(to_i32(d)));
    return vcombine_u8(vqmovun_s16(vqaddq_s16(ab, zero)), vqmovun_s16(vqaddq_s16(cd, zero)));
}
static inline bytes_v clamp_u8(bytes_v bytes, int lower, int upper) {
    bytes = vmaxq_u8(bytes, vdupq_n_u8((uint8_t)lower));
    return vminq_u8(bytes, vdupq_n_u8((uint8_t)upper));
}
static inline void store_quarters(uint8_t *target, bytes_v bytes, const int first,
                                  const int quarters, int count) {
    uint8_t all[16];
    if (quarters == 4 && count == 16) {
        vst1q_u8(target, bytes);
        return;
    }
    vst1q_u8(all, bytes);
    memcpy(target, all + SIMD_LANES * first, (size_t)count);
}
static inline void store_rounded_bytes(uint8_t *target, f32v a, f32v b, f32v c, f32v d,
                                       const int is_signed, int lower, int upper) {
    int16x8_t ab = vcombine_s16(vqmovn_s32(to_i32(a)), vqmovn_s32(to_i32(b)));
    int16x8_t cd = vcombine_s16(vqmovn_s32(to_i32(c)), vqmovn_s32(to_i32(d)));
    if (is_signed) {
        int8x16_t bytes = vcombine_s8(vqmovn_s16(ab), vqmovn_s16(cd));
        bytes = vminq_s8(vmaxq_s8(bytes, vdupq_n_s8((int8_t)lower)), vdupq_n_s8((int8_t)upper));
        vst1q_u8(target, vreinterpretq_u8_s8(bytes));
    } else {
        vst1q_u8(target, clamp_u8(vcombine_u8(vqmovun_s16(ab), vqmovun_s16(cd)), lower, upper));
    }
}
static inline int all_below(f32v a, f32v b, f32v c, f32v d, f32v bound) {
    uint32x4_t ab = vandq_u32(vcltq_f32(a, bound), vcltq_f32(b, bound));
    uint32x4_t cd = vandq_u32(vcltq_f32(c, bound), vcltq_f32(d, bound));
    return vminvq_u32(vandq_u32(ab, cd)) != 0;
}
static inline void store_rounded_u8(uint8_t *first, uint8_t *second, f32v a, f32v b, f32v c,
                                    f32v d, int zero_point, int lower) {
    bytes_v bytes = pack_rounded_u8(a, b, c, d, zero_point);
    bytes = vmaxq_u8(bytes, vdupq_n_u8((uint8_t)lower));
    vst1_u8(first, vget_low_u8(bytes));
    vst1_u8(second, vget_high_u8(bytes));
}

static inline void interleave(uint8x16_t *woven, const uint8_t *a, const uint8_t *b, const uint8_t *c,
                         const uint8_t *d) {
    const uint8x16x2_t ab = vzipq_u8(vld1q_u8(a), vld1q_u8(b));
    const uint8x16x2_t cd = vzipq_u8(vld1q_u8(c), vld1q_u8(d));
    for (int i = 0; i < 2; ++i) {
        const uint16x8x2_t four =
            vzipq_u16(vreinterpretq_u16_u8(ab.val[i]), vreinterpretq_u16_u8(cd.val[i]));
        woven[2 * i] = vreinterpretq_u8_u16(four.val[0]);
        woven[2 * i + 1] = vreinterpretq_u8_u16(four.val[1]);
    }
}
static inline void broadcast_each_quad(uint8x16_t *quads, const uint8_t *source) {
    const uint32x4_t x = vreinterpretq_u32_u8(vld1q_u8(source));
    quads[0] = vreinterpretq_u8_u32(vdupq_laneq_u32(x, 0));
    quads[1] = vreinterpretq_u8_u32(vdupq_laneq_u32(x, 1));
    quads[2] = vreinterpretq_u8_u32(vdupq_laneq_u32(x, 2));
    quads[3] = vreinterpretq_u8_u32(vdupq_laneq_u32(x, 3));
}
static inline void interleave_u8(uint8_t *target, const uint8_t *a, const uint8_t *b,
                                 const uint8_t *c, const uint8_t *d, int flip) {
    const uint8x16_t top = vdupq_n_u8((uint8_t)flip);
    uint8x16_t woven[4];
    interleave(woven, a, b, c, d);
    for (int v = 0; v < 4; ++v) vst1q_u8(target + v * 16, veorq_u8(woven[v], top));
}
static inline void store_rounded_quads(uint8_t *target, f32v a, f32v b, f32v c, f32v d,
                                       int zero_point, int lower, int flip) {
    store_rounded_u8(target, target + 2 * SIMD_LANES, a, b, c, d, zero_point, lower);
    vst1q_u8(target, veorq_u8(vld1q_u8(target), vdupq_n_u8((uint8_t)flip)));
}

typedef int8x16_t weights_v; /* four weights of each of 4 columns */
static inline weights_v load_weights(const int8_t *source) { return vld1q_s8(source); }

typedef uint8x16_t u8v;
static inline u8v set_bytes(uint8_t value) { return vdupq_n_u8(value); }
static inline u8v load_many_bytes(const uint8_t *source) { return vld1q_u8(source); }
static inline void store_many_bytes(uint8_t *target, u8v value) { vst1q_u8(target, value); }
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
static inline u8v min_bytes(u8v a, u8v b) { return vminq_u8(a, b); }
static inline u8v max_bytes(u8v a, u8v b) { return vmaxq_u8(a, b); }
static inline u8v xor_bytes(u8v a, u8v b) { return veorq_u8(a, b); }

static inline void look_up_u8(uint8_t *target, const uint8_t *source, ptrdiff_t n,
                              const uint8_t *table) {
    const uint8x16x4_t a = vld1q_u8_x4(table), b = vld1q_u8_x4(table + 64);
    const uint8x16x4_t c = vld1q_u8_x4(table + 128), d = vld1q_u8_x4(table + 192);
    const uint8x16_t step = vdupq_n_u8(64);
    ptrdiff_t i = 0;
    for (; i + 16 <= n; i += 16) {
        uint8x16_t x = vld1q_u8(source + i);
        uint8x16_t found = vqtbl4q_u8(a, x);
        found = vqtbx4q_u8(found, b, x = vsubq_u8(x, step));
        found = vqtbx4q_u8(found, c, x = vsubq_u8(x, step));
        found = vqtbx4q_u8(found, d, vsubq_u8(x, step));
        vst1q_u8(target + i, found);
    }
    for (; i < n; ++i) target[i] = table[source[i]];
}

#endif
