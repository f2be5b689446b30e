/* Conversions and doubles for portable.h, which includes this file. */
#ifndef PYQREF_PORTABLE_CONVERSIONS_H
#define PYQREF_PORTABLE_CONVERSIONS_H

/* Where a fraction has room, adding 2^23 to the magnitude rounds it, ties to even. */
static inline f32v round_f32(f32v a) {
    const f32v size = abs_f32(a), whole = set_f32(8388608.0f);
    const f32v rounded = copy_sign_f32(sub_f32(add_f32(size, whole), whole), a);
    return choose_f32(is_less(size, whole), rounded, a);
}
#if defined(__GNUC__)
static inline f32v to_f32(i32v a) { return __builtin_convertvector(a, f32v); }
static inline i32v whole_i32(f32v a) { return __builtin_convertvector(a, i32v); }
#else
static inline f32v to_f32(i32v a) { EACH_LANE(f32v, (float)LANE(a, i)); }
static inline i32v whole_i32(f32v a) { EACH_LANE(i32v, (int32_t)LANE(a, i)); }
#endif
static inline i32v to_i32(f32v a) { return whole_i32(round_f32(a)); }
static inline i32v truncate_i32(f32v a) {
    EACH_LANE(i32v, LANE(a, i) >= -2147483648.0f && LANE(a, i) < 2147483648.0f ? (int32_t)LANE(a, i)
                                                                               : INT32_MIN);
}

/* One double for each lane, in parts of two where a compiler has vectors, else of one. */
#if defined(__GNUC__)
typedef double part_f64 VECTOR;
typedef int64_t part_i64 VECTOR;
typedef uint64_t part_u64 VECTOR;
typedef float half_f32 __attribute__((vector_size(8)));
typedef struct { part_f64 low, high; } f64v;
#define IN_PARTS(part, a, b)                                               \
    {                                                                      \
        const f64v all = {part((a).low, (b).low), part((a).high, (b).high)}; \
        return all;                                                        \
    }
#define IS_F64(comparison) (comparison)
static inline f64v set_f64(double value) {
    const f64v all = {{value, value}, {value, value}};
    return all;
}
static inline f64v widen_f32(f32v a) {
    const half_f32 low = {a[0], a[1]}, high = {a[2], a[3]};
    const f64v all = {__builtin_convertvector(low, part_f64),
                      __builtin_convertvector(high, part_f64)};
    return all;
}
static inline f32v narrow_f64(f64v a) {
    const half_f32 low = __builtin_convertvector(a.low, half_f32);
    const half_f32 high = __builtin_convertvector(a.high, half_f32);
    const f32v all = {low[0], low[1], high[0], high[1]};
    return all;
}
#else
typedef double part_f64;
typedef int64_t part_i64;
typedef uint64_t part_u64;
typedef struct { double lane[SIMD_LANES]; } f64v;
#define IN_PARTS(part, a, b)                                                             \
    {                                                                                    \
        f64v all;                                                                        \
        for (int i = 0; i < SIMD_LANES; ++i) all.lane[i] = part(LANE(a, i), LANE(b, i)); \
        return all;                                                                      \
    }
#define IS_F64(comparison) -(int64_t)(comparison)
static inline f64v set_f64(double value) { EACH_LANE(f64v, value); }
static inline f64v widen_f32(f32v a) { EACH_LANE(f64v, (double)LANE(a, i)); }
static inline f32v narrow_f64(f64v a) { EACH_LANE(f32v, (float)LANE(a, i)); }
#endif
static inline part_u64 f64_bits(part_f64 a) {
    part_u64 bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}
static inline part_f64 with_f64_bits(part_u64 bits) {
    part_f64 a;
    memcpy(&a, &bits, sizeof bits);
    return a;
}
static inline part_f64 choose_f64(part_i64 mask, part_f64 x, part_f64 y) {
    return with_f64_bits(((part_u64)mask & f64_bits(x)) | (~(part_u64)mask & f64_bits(y)));
}
static inline part_f64 add_part(part_f64 a, part_f64 b) { return a + b; }
static inline part_f64 sub_part(part_f64 a, part_f64 b) { return a - b; }
static inline part_f64 mul_part(part_f64 a, part_f64 b) { return a * b; }
static inline part_f64 div_part(part_f64 a, part_f64 b) { return a / b; }
static inline part_f64 min_part(part_f64 a, part_f64 b) { return choose_f64(IS_F64(a < b), a, b); }
static inline part_f64 max_part(part_f64 a, part_f64 b) { return choose_f64(IS_F64(a > b), a, b); }
/* The sum rounded to odd: its exact error, by Knuth's two-sum, tells when and which way. */
static inline part_f64 add_to_odd(part_f64 a, part_f64 b) {
    const part_f64 total = a + b, back = total - a;
    const part_f64 error = (a - (total - back)) + (b - back);
    const part_u64 bits = f64_bits(total);
    const part_i64 is_even = (part_i64)((bits & 1) - 1), is_finite = IS_F64(total - total == 0);
    const part_i64 toward_zero = IS_F64(error > 0) ^ IS_F64(total > 0);
    const part_i64 changes = IS_F64(error != 0) & is_even & is_finite;
    return with_f64_bits(bits + (part_u64)(changes & (toward_zero + toward_zero + 1)));
}
static inline part_f64 shift_up(part_f64 a, part_f64 unused) {
    (void)unused;
    return with_f64_bits(f64_bits(a) << 52);
}
static inline f64v add_f64(f64v a, f64v b) IN_PARTS(add_part, a, b)
static inline f64v sub_f64(f64v a, f64v b) IN_PARTS(sub_part, a, b)
static inline f64v mul_f64(f64v a, f64v b) IN_PARTS(mul_part, a, b)
static inline f64v div_f64(f64v a, f64v b) IN_PARTS(div_part, a, b)
static inline f64v min_f64(f64v a, f64v b) IN_PARTS(min_part, a, b)
static inline f64v max_f64(f64v a, f64v b) IN_PARTS(max_part, a, b)
static inline f64v exponent_from_low_bits(f64v a) IN_PARTS(shift_up, a, a)
static inline f64v sum_to_odd(f64v a, f64v b) IN_PARTS(add_to_odd, a, b)
#if defined(__FP_FAST_FMAF) && defined(__GNUC__)
static inline f32v fma_f32(f32v a, f32v b, f32v c) {
    EACH_LANE(f32v, __builtin_fmaf(LANE(a, i), LANE(b, i), LANE(c, i)));
}
#else
/* Whether a sum in double may lie between two float: the highest of the 29 bits that float lacks is
 * set, and no other. Where float is subnormal, it lacks more. */
#if defined(__GNUC__) && defined(__SSE2__)
static inline int may_be_tie(f64v sum, f32v rounded) {
    const i32v low = (i32v)_mm_shuffle_ps((__m128)sum.low, (__m128)sum.high, 0x88);
    const i32v is_middle = (low & 0x1fffffff) == 0x10000000;
    const i32v is_normal = abs_f32(rounded) > set_f32(1.17549435e-38f);
    return _mm_movemask_ps((__m128)(is_middle | ~is_normal)) != 0;
}
#else
static inline int may_be_tie(f64v sum, f32v rounded) { (void)sum, (void)rounded; return 1; }
#endif
/* A double holds the product exactly, and rounding an odd sum to float cannot meet a false tie. */
#if defined(__GNUC__)
__attribute__((noinline)) /* it is forty instructions long */
#endif
static f32v fma_f32(f32v a, f32v b, f32v c) {
    const f64v product = mul_f64(widen_f32(a), widen_f32(b)), addend = widen_f32(c);
    const f64v sum = add_f64(product, addend);
    const f32v rounded = narrow_f64(sum);
    return may_be_tie(sum, rounded) ? narrow_f64(sum_to_odd(product, addend)) : rounded;
}
#endif

#endif
