/* Elementary functions of a vector of float32: in double, and rounded once.
 *
 * Operation by operation as in numerics: exponential.py, logarithm.py and error_function.py. They
 * stand in C because calls would pass vectors through memory. The header of an instruction set is
 * included first. */
#ifndef PYQREF_FUNCTIONS_H
#define PYQREF_FUNCTIONS_H

#if defined(_MSC_VER)
#define FUNCTION static __forceinline
#else
#define FUNCTION static inline __attribute__((always_inline))
#endif

#define LOG2_E 1.4426950408889634
#define LN_2 0.6931471805599453
/* 1.5 * 2^52 leaves no room for a fraction; then the lowest bits are n + 1023. */
#define WHOLE 6755399441056767.0
#define WHOLE_F32 12583039.0f

/* `slope x + constant`. Polynomials are made of pairs of terms, which wait for no others. */
FUNCTION f64v pair(f64v x, double slope, double constant) {
    return add_f64(mul_f64(x, set_f64(slope)), set_f64(constant));
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

/* `eq-exp` before it is rounded, of numbers between -708 and 709. */
FUNCTION f64v exp_inside(const int rounding, f64v x) {
    f64v power;
    f64v e = reduced(rounding, x, &power);
    return sum_f64(rounding, power, e, power);
}

/* `eq-exp` before it is rounded. */
FUNCTION f64v exp_f64(f64v x) {
    return exp_inside(ROUNDED_TWICE, max_f64(set_f64(-708), min_f64(set_f64(709), x)));
}

/* `eq-expm1` before it is rounded, of numbers between -708 and 709. */
FUNCTION f64v expm1_f64(const int rounding, f64v x) {
    f64v power;
    f64v e = reduced(rounding, x, &power);
    return sum_f64(rounding, power, e, sub_f64(power, set_f64(1)));
}

/* `eq-exp`. Beyond these bounds float32 is 0 or infinite. */
FUNCTION f32v exp_of(f32v x) {
    x = max_f32(set_f32(-120), min_f32(set_f32(100), x));
    return narrow_f64(exp_inside(ROUNDED_ONCE, widen_f32(x)));
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
    f32v shifted = add_f32(mul_f32(y, set_f32((float)LOG2_E)), set_f32(WHOLE_F32));
    f32v n = sub_f32(shifted, set_f32(WHOLE_F32)), power = exponent_f32(shifted);
    f32v rough = sub_f32(y, mul_f32(n, set_f32(355.0f / 512)));
    f32v rest = mul_f32(n, set_f32((float)(LN_2 - 355.0 / 512)));
    f32v r = sub_f32(rough, rest), square = mul_f32(r, r), start = add_f32(one, power);
    f32v p = mul_f32(square, fitted(r, square));
    p = add_f32(p, sub_f32(sub_f32(rough, r), rest));
    p = mul_f32(power, add_f32(r, p));
    p = add_f32(p, sub_f32(one, sub_f32(start, power)));
    return if_less(x, set_f32(-88.37f), infinity, add_f32(start, p));
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
    f32v y = mul_f32(square, set_f32((float)(-0.5 * LOG2_E)));
    f32v shifted = add_f32(y, set_f32(WHOLE_F32));
    f32v r = sub_f32(y, sub_f32(shifted, set_f32(WHOLE_F32)));
    f32v rest = mul_f32(r, r), power = exponent_f32(shifted);
    f32v p = pair_f32(r, 1.5353458e-4f, 1.3398883e-3f);
    p = add_f32(mul_f32(rest, p), pair_f32(r, 9.618437e-3f, 5.5503324e-2f));
    p = add_f32(mul_f32(rest, p), pair_f32(r, 0.24022648f, 0.6931472f));
    return add_f32(power, mul_f32(power, mul_f32(r, p)));
}

/* `eq-normal-tail` of a magnitude, and `eq-bell`; the magnitude is held to where both are 0. */
FUNCTION f32v tail_of(f32v x, f32v *size_, f32v *bell) {
    f32v size = min_f32(set_f32(13.27f), abs_f32(x)), square = mul_f32(size, size);
    f32v e = bell_of(square);
    f32v above = pair_f32(size, 0.03998397f, 0.18130618f);
    f32v below = pair_f32(size, 0.0100769f, 0.10023233f);
    above = add_f32(mul_f32(square, set_f32(0.0040201591f)), above);
    below = add_f32(mul_f32(square, below), pair_f32(size, 0.4643788f, 1.1944818f));
    above = add_f32(mul_f32(square, above), pair_f32(size, 0.43568558f, 0.5f));
    below = add_f32(mul_f32(square, below), pair_f32(size, 1.6692561f, 1));
    *size_ = size;
    *bell = e;
    return div_f32(mul_f32(e, above), below);
}

/* `eq-normal`, and `eq-bell`. */
FUNCTION f32v normal_of(f32v x, f32v *bell) {
    f32v size, tail = tail_of(x, &size, bell);
    return if_less(x, set_f32(0), tail, sub_f32(set_f32(1), tail));
}

/* `eq-tanh-expm1`. */
FUNCTION f32v tanh_of(f32v x) {
    f32v twice = mul_f32(set_f32(2), min_f32(set_f32(10), abs_f32(x)));
    f64v m = expm1_f64(ROUNDED_ONCE, widen_f32(twice));
    return copy_sign_f32(narrow_f64(div_f64(m, add_f64(m, set_f64(2)))), x);
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

/* `eq-log` of positive finite numbers before it is rounded. */
FUNCTION f64v log_f64(f64v x) {
    f64v n = sub_f64(high_bits_plus(x, 0x00095f619980c433), set_f64(4503599627371519.0));
    f64v m = mul_f64(x, exponent_from_low_bits(sub_f64(set_f64(WHOLE), n)));
    f64v s = div_f64(sub_f64(m, set_f64(1)), add_f64(m, set_f64(1)));
    return add_f64(mul_f64(n, set_f64(LN_2)), inverse_tanh_series(ROUNDED_ONCE, s));
}

/* `eq-log`: -inf at 0, nan below, inf and nan as they are. */
FUNCTION f32v log_of(f32v x) {
    f32v zero = set_f32(0);
    f32v infinity = div_f32(set_f32(1), zero);
    f32v outside = if_less(x, zero, sub_f32(infinity, infinity), sub_f32(zero, infinity));
    f32v y = if_less(zero, x, narrow_f64(log_f64(widen_f32(x))), outside);
    return if_less(x, infinity, y, x);
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

/* `eq-erf`. The bound in float32 is a little further out, where the result is 1 as well. */
FUNCTION f32v erf_of(f32v x) {
    f64v a = widen_f32(max_f32(set_f32(-3.93f), min_f32(set_f32(3.93f), x)));
    f64v z = mul_f64(a, a), square = mul_f64(z, z), q, p = set_f64(-1.2857767632938314e-08);
    p = two_terms(ROUNDED_ONCE, square, p, z, 4.6200150271145225e-06, 0.0003771662339783654);
    q = sum_f64(ROUNDED_ONCE, z, set_f64(6.250045803695876e-05), set_f64(0.0013024095455571422));
    p = two_terms(ROUNDED_ONCE, square, p, z, 0.003840301761765399, 0.05425474426237144);
    q = two_terms(ROUNDED_ONCE, square, q, z, 0.015434851896643257, 0.11388704344523792);
    p = two_terms(ROUNDED_ONCE, square, p, z, 0.18514799104195107, 1.128379169176582);
    q = two_terms(ROUNDED_ONCE, square, q, z, 0.4974165421241772, 1);
    return narrow_f64(div_f64(mul_f64(a, p), q));
}

#endif
