/* Elementary functions of a vector of float32: in float32, or in double and rounded once.
 *
 * Operation by operation as in numerics: exponential.py, logarithm.py and normal.py. They stand in C
 * because calls would pass vectors through memory. The header of an instruction set is included
 * first. */
#ifndef PYQREF_FUNCTIONS_H
#define PYQREF_FUNCTIONS_H

#if defined(_MSC_VER)
#define FUNCTION static __forceinline
#else
#define FUNCTION static inline __attribute__((always_inline))
#endif

#include "simd/function_tables.h"

#define LOG2_E 1.4426950408889634
#define LN_2 0.6931471805599453
/* 1.5 * 2^52 leaves no room for a fraction; then the lowest bits are n + 1023. */
#define WHOLE 6755399441056767.0
#define WHOLE_F32 12583039.0f
#define WHOLE_OF_32 393216.0f
#define MINUS_LN_2_REST (-(float)(LN_2 - (double)(float)LN_2))

/* `slope x + constant`. Polynomials are made of pairs of terms, which wait for no others. */
FUNCTION f64v pair(f64v x, double slope, double constant) {
    return add_f64(mul_f64(x, set_f64(slope)), set_f64(constant));
}

/* Horner's rule: one step, a fused multiply-add. */
FUNCTION f32v step_f32(f32v p, f32v x, float constant) {
    return fma_f32(p, x, set_f32(constant));
}

FUNCTION f32v pair_f32(f32v x, float slope, float constant) {
    return add_f32(mul_f32(x, set_f32(slope)), set_f32(constant));
}

/* How often a product that is added is rounded. Equations have ROUNDED_TWICE. ROUNDED_ONCE needs half
 * of the instructions where the set has such sums, and changes last bits of a double. It stands only
 * where the number that is rounded to float32 depends on one float32, and where all 2^32 of them were
 * found to give the same bits (tools/all_float32.py). A set that has such sums defines fma_f64 and
 * HAS_FMA_F64. */
enum { ROUNDED_TWICE, ROUNDED_ONCE };

FUNCTION f64v sum_f64(const int rounding, f64v a, f64v b, f64v c) {
#if defined(HAS_FMA_F64)
    if (rounding == ROUNDED_ONCE) return fma_f64(a, b, c);
#else
    (void)rounding;
#endif
    return add_f64(mul_f64(a, b), c);
}

/* `slope x + constant`, and `square p` more. */
FUNCTION f64v two_terms(const int rounding, f64v square, f64v p, f64v x, double slope,
                        double constant) {
    x = sum_f64(rounding, x, set_f64(slope), set_f64(constant));
    return sum_f64(rounding, square, p, x);
}

/* `e^r - 1` and `2^n`, where `x = n ln 2 + r` is between -708 and 709; nan stays. */
FUNCTION f64v reduced(const int rounding, f64v x, f64v *power) {
    f64v shifted = add_f64(mul_f64(x, set_f64(LOG2_E)), set_f64(WHOLE));
    f64v n = sub_f64(shifted, set_f64(WHOLE));
    f64v r = sub_f64(x, mul_f64(n, set_f64(LN_2)));
    f64v square = mul_f64(r, r);
    f64v p = two_terms(rounding, square, set_f64(1.0 / 40320), r, 1.0 / 5040, 1.0 / 720);
    p = two_terms(rounding, square, p, r, 1.0 / 120, 1.0 / 24);
    p = two_terms(rounding, square, p, r, 1.0 / 6, 0.5);
    power[0] = exponent_from_low_bits(shifted);
    return sum_f64(rounding, square, p, r);
}

/* `eq-exp` of numbers between -708 and 709. */
FUNCTION f64v exp_inside(const int rounding, f64v x) {
    f64v power;
    f64v e = reduced(rounding, x, &power);
    return sum_f64(rounding, power, e, power);
}

/* `eq-exp`. */
FUNCTION f64v exp_f64(f64v x) {
    return exp_inside(ROUNDED_TWICE, max_f64(set_f64(-708), min_f64(set_f64(709), x)));
}

/* `eq-expm1` before it is rounded, of numbers between -708 and 709. */
FUNCTION f64v expm1_f64(const int rounding, f64v x) {
    f64v power;
    f64v e = reduced(rounding, x, &power);
    return sum_f64(rounding, power, e, sub_f64(power, set_f64(1)));
}

/* `x 2^N` for N = n / 32, rounded down to a whole number; the result is rounded once. `shifted` is
 * N + WHOLE_OF_32. */
FUNCTION f32v scaled_f32(f32v x, f32v n, f32v shifted) {
#if defined(HAS_SCALE_F32)
    (void)shifted;
    return scale_f32(x, n);
#else
    /* The first of two products is exact. */
    i32v k = shr_i32(sub_i32(bits_of(shifted), bits_of(set_f32(WHOLE_OF_32))), 5);
    i32v first = shr_i32(k, 1);
    (void)n;
    return mul_f32(mul_f32(x, power_of_two(first)), power_of_two(sub_i32(k, first)));
#endif
}

/* `eq-exp-float`. Beyond these bounds it is 0 or infinite. */
FUNCTION f32v exp_of(f32v x) {
    f32v y = min_f32(set_f32(100), max_f32(set_f32(-105), x));
    f32v shifted = fma_f32(y, set_f32((float)LOG2_E), set_f32(WHOLE_OF_32));
    f32v n = sub_f32(shifted, set_f32(WHOLE_OF_32));
    f32v r = fma_f32(n, set_f32(MINUS_LN_2_REST), fma_f32(n, set_f32(-(float)LN_2), y));
    f32v power = look_up_32(EXP_POWERS[0], bits_of(shifted));
    f32v e = fma_f32(mul_f32(r, r), step_f32(r, set_f32((float)(1.0 / 6)), 0.5f), r);
    e = fma_f32(power, e, look_up_32(EXP_POWERS[1], bits_of(shifted)));
    return scaled_f32(add_f32(power, e), n, shifted);
}

/* C of `eq-exp-below`: `e^r` is nearly `1 + r + r^2 C(r)`. */
FUNCTION f32v fitted(f32v r, f32v square) {
    f32v p = add_f32(mul_f32(square, set_f32(0.00138146f)), pair_f32(r, 0.00836874f, 0.04166839f));
    return add_f32(mul_f32(square, p), pair_f32(r, 0.1666652f, 0.49999993f));
}

/* `eq-exp-below` of numbers that are not positive, in float32 throughout; nan stays. */
FUNCTION f32v exp_below(f32v x) {
    f32v y = max_f32(set_f32(-88), x);
    f32v shifted = add_f32(mul_f32(y, set_f32((float)LOG2_E)), set_f32(WHOLE_F32));
    f32v n = sub_f32(shifted, set_f32(WHOLE_F32));
    f32v r = sub_f32(y, mul_f32(n, set_f32(355.0f / 512)));
    r = sub_f32(r, mul_f32(n, set_f32((float)(LN_2 - 355.0 / 512))));
    f32v square = mul_f32(r, r);
    r = add_f32(r, mul_f32(square, fitted(r, square)));
    y = exponent_f32(shifted);
    return add_f32(y, mul_f32(y, r));
}

/* `eq-one-plus-exp`; nan stays. */
FUNCTION f32v one_plus_power(f32v x) {
    f32v one = set_f32(1), infinity = div_f32(one, set_f32(0));
    f32v y = min_f32(set_f32(88.37f), max_f32(set_f32(-88), sub_f32(set_f32(0), x)));
    f32v shifted = fma_f32(y, set_f32((float)LOG2_E), set_f32(WHOLE_F32));
    f32v n = sub_f32(shifted, set_f32(WHOLE_F32)), power = exponent_f32(shifted);
    f32v r = fma_f32(n, set_f32(-(float)LN_2), y), rest = mul_f32(n, set_f32(MINUS_LN_2_REST));
    f32v d = step_f32(set_f32(0.0001974563f), r, 0.0013935462f), start = add_f32(one, power);
    d = step_f32(step_f32(d, r, 0.008333565f), r, 0.04166646f);
    d = step_f32(d, r, 0.16666666f);
    d = fma_f32(mul_f32(mul_f32(r, r), r), d, fma_f32(rest, r, rest));
    d = fma_f32(mul_f32(set_f32(0.5f), r), r, d);
    d = fma_f32(power, d, sub_f32(one, sub_f32(start, power)));
    d = fma_f32(power, r, d);
    return if_less(x, set_f32(-88.37f), infinity, add_f32(start, d));
}

/* `eq-sigmoid`. */
FUNCTION f32v sigmoid_of(f32v x) {
    return div_f32(set_f32(1), one_plus_power(x));
}

/* A number times the sigmoid of x. */
FUNCTION f32v gated(f32v a, f32v x) {
    return div_f32(a, one_plus_power(x));
}

/* `eq-bell` of a square up to 176.1, where the result is 0. */
FUNCTION f32v bell_of(f32v square) {
    f32v rate = set_f32((float)(-0.5 * LOG2_E)), whole = set_f32(WHOLE_F32);
    f32v shifted = fma_f32(square, rate, whole);
    f32v r = fma_f32(square, rate, sub_f32(whole, shifted)), power = exponent_f32(shifted);
    f32v p = step_f32(set_f32(1.5353458e-4f), r, 1.3398883e-3f);
    p = step_f32(step_f32(p, r, 9.618437e-3f), r, 5.5503324e-2f);
    p = step_f32(step_f32(p, r, 0.24022648f), r, 0.6931472f);
    return fma_f32(power, mul_f32(r, p), power);
}

/* `eq-normal-tail` of a magnitude, and `eq-bell`. The magnitude is held to where both are 0, and
 * stands here with a minus: so GELU has it at once, and each odd coefficient has another sign. */
FUNCTION f32v tail_of(f32v x, f32v *minus, f32v *bell) {
    f32v y = max_f32(set_f32(-13.27f), copy_sign_f32(abs_f32(x), set_f32(-1)));
    f32v e = bell_of(mul_f32(y, y));
    f32v above = step_f32(set_f32(0.0040201591f), y, -0.03998397f);
    f32v below = step_f32(set_f32(-0.0100769f), y, 0.10023233f);
    above = step_f32(above, y, 0.18130618f);
    below = step_f32(below, y, -0.4643788f);
    above = step_f32(above, y, -0.43568558f);
    below = step_f32(below, y, 1.1944818f);
    above = step_f32(above, y, 0.5f);
    below = step_f32(step_f32(below, y, -1.6692561f), y, 1);
    *minus = y;
    *bell = e;
    return div_f32(mul_f32(e, above), below);
}

/* `eq-normal`, and `eq-bell`. */
FUNCTION f32v normal_of(f32v x, f32v *bell) {
    f32v minus, tail = tail_of(x, &minus, bell);
    return if_less(x, set_f32(0), tail, sub_f32(set_f32(1), tail));
}

/* `eq-piecewise`; nan stays. */
FUNCTION f32v piecewise(f32v x, const float (*columns)[32], const float (*rows)[12], float end) {
    f32v a = min_f32(set_f32(end), abs_f32(x)), c[12], u, p;
    i32v place = shr_i32(bits_of(max_f32(set_f32(7.0f / 128), a)), 21);
    place = sub_i32(place, set_i32(491));
#if defined(HAS_LOOK_UP_ROWS)
    (void)columns;
    look_up_rows(rows, place, c);
#else
    (void)rows;
    for (int k = 0; k < 10; ++k) c[k] = look_up_32(columns[k], place);
#endif
    u = sub_f32(a, c[0]);
    p = c[9];
    for (int k = 8; k > 4; --k) p = fma_f32(p, u, c[k]);
    p = fma_f32(mul_f32(u, u), p, fma_f32(u, c[4], c[2]));
    return copy_sign_f32(add_f32(c[1], fma_f32(u, c[3], p)), x);
}

FUNCTION f32v tanh_of(f32v x) {
    return piecewise(x, TANH_PIECES, TANH_ROWS, 9.5f);
}

FUNCTION f32v erf_of(f32v x) {
    return piecewise(x, ERF_PIECES, ERF_ROWS, 3.95f);
}

/* `eq-log-series`: twice the inverse hyperbolic tangent of at most a third. */
FUNCTION f64v inverse_tanh_series(const int rounding, f64v s) {
    f64v z = mul_f64(s, s);
    f64v square = mul_f64(z, z);
    f64v p = two_terms(rounding, square, set_f64(2.0 / 17), z, 2.0 / 15, 2.0 / 13);
    p = two_terms(rounding, square, p, z, 2.0 / 11, 2.0 / 9);
    p = two_terms(rounding, square, p, z, 2.0 / 7, 2.0 / 5);
    p = two_terms(rounding, square, p, z, 2.0 / 3, 2);
    return mul_f64(s, p);
}

/* `eq-log` of `x 2^-exponent`; x is positive, finite and not subnormal. */
FUNCTION f32v log_of_normal(f32v x, float exponent) {
    i32v bits = bits_of(x), k = shr_i32(sub_i32(bits, set_i32(0x3f2c0000)), 23);
    i32v place = shr_i32(bits, 18);
    f32v n = sub_f32(to_f32(k), set_f32(exponent));
    f32v m = with_bits(sub_i32(bits, shl_i32(k, 23)));
    f32v f = fma_f32(m, look_up_32(LOGARITHMS[0], place), set_f32(-1));
    f32v start = fma_f32(n, set_f32(355.0f / 512), look_up_32(LOGARITHMS[1], place));
    f32v small = look_up_32(LOGARITHMS[2], place), high = add_f32(start, f);
    f32v rest = fma_f32(n, set_f32((float)(LN_2 - 355.0 / 512)), small);
    f32v d = step_f32(set_f32(0.19697316f), f, -0.25009179f);
    d = step_f32(step_f32(d, f, 0.3333345f), f, -0.5f);
    rest = add_f32(rest, sub_f32(f, sub_f32(high, start)));
    return add_f32(high, fma_f32(mul_f32(f, f), d, rest));
}

/* `eq-log`: -inf at 0, nan below, inf and nan as they are. */
FUNCTION f32v log_of(f32v x) {
    const f32v zero = set_f32(0), least = set_f32(1.17549435e-38f);
    f32v y = log_of_normal(x, 0), infinity, outside;
    if (lanes_inside(x, least, set_f32(3.40282347e38f)) == (1u << SIMD_LANES) - 1) return y;
    infinity = div_f32(set_f32(1), zero);
    outside = if_less(x, zero, sub_f32(infinity, infinity), sub_f32(zero, infinity));
    y = if_less(x, least, log_of_normal(mul_f32(x, set_f32(8388608)), 23), y);
    return if_less(x, infinity, if_less(zero, x, y, outside), x);
}

/* `eq-softplus` of a number before it is rounded, from `u = e^-|x|`. */
FUNCTION f64v softplus_f64(const int rounding, f64v x, f64v u) {
    f64v tail = inverse_tanh_series(rounding, div_f64(u, add_f64(u, set_f64(2))));
    return add_f64(max_f64(set_f64(0), x), tail);
}

/* `eq-softplus`. From 120 on, u is nothing beside x, and 0 in float32. */
FUNCTION f32v softplus_of(f32v x) {
    f32v size = min_f32(set_f32(120), abs_f32(x));
    f64v u = exp_inside(ROUNDED_ONCE, widen_f32(sub_f32(set_f32(0), size)));
    return narrow_f64(softplus_f64(ROUNDED_ONCE, widen_f32(x), u));
}

#endif
