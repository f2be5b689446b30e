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

/* `e^r - 1` and `2^n`, where `x = n ln 2 + r`; nan stays. */
FUNCTION f64v reduced(f64v x, f64v* power) {
    f64v y = max_f64(set_f64(-708), min_f64(set_f64(709), x));
    f64v shifted = add_f64(mul_f64(y, set_f64(LOG2_E)), set_f64(WHOLE));
    f64v n = sub_f64(shifted, set_f64(WHOLE));
    f64v r = sub_f64(y, mul_f64(n, set_f64(LN_2)));
    f64v square = mul_f64(r, r);
    f64v p = add_f64(mul_f64(square, set_f64(1.0 / 40320)), pair(r, 1.0 / 5040, 1.0 / 720));
    p = add_f64(mul_f64(square, p), pair(r, 1.0 / 120, 1.0 / 24));
    p = add_f64(mul_f64(square, p), pair(r, 1.0 / 6, 0.5));
    power[0] = exponent_from_low_bits(shifted);
    return add_f64(r, mul_f64(square, p));
}

/* `eq-exp` before it is rounded. */
FUNCTION f64v exp_f64(f64v x) {
    f64v power;
    f64v e = reduced(x, &power);
    return add_f64(power, mul_f64(power, e));
}

/* `eq-expm1` before it is rounded. */
FUNCTION f64v expm1_f64(f64v x) {
    f64v power;
    f64v e = reduced(x, &power);
    return add_f64(mul_f64(power, e), sub_f64(power, set_f64(1)));
}

FUNCTION f32v exp_of(f32v x) {
    return narrow_f64(exp_f64(widen_f32(x)));
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
    f64v m = expm1_f64(widen_f32(twice));
    return copy_sign_f32(narrow_f64(div_f64(m, add_f64(m, set_f64(2)))), x);
}

/* `eq-log-series`: twice the inverse hyperbolic tangent of at most a third. */
FUNCTION f64v inverse_tanh_series(f64v s) {
    f64v z = mul_f64(s, s);
    f64v square = mul_f64(z, z);
    f64v p = add_f64(mul_f64(square, set_f64(2.0 / 17)), pair(z, 2.0 / 15, 2.0 / 13));
    p = add_f64(mul_f64(square, p), pair(z, 2.0 / 11, 2.0 / 9));
    p = add_f64(mul_f64(square, p), pair(z, 2.0 / 7, 2.0 / 5));
    p = add_f64(mul_f64(square, p), pair(z, 2.0 / 3, 2));
    return mul_f64(s, p);
}

/* `eq-log` of positive finite numbers before it is rounded. */
FUNCTION f64v log_f64(f64v x) {
    f64v n = sub_f64(high_bits_plus(x, 0x00095f619980c433), set_f64(4503599627371519.0));
    f64v m = mul_f64(x, exponent_from_low_bits(sub_f64(set_f64(WHOLE), n)));
    f64v s = div_f64(sub_f64(m, set_f64(1)), add_f64(m, set_f64(1)));
    return add_f64(mul_f64(n, set_f64(LN_2)), inverse_tanh_series(s));
}

/* `eq-log`: -inf at 0, nan below, inf and nan as they are. */
FUNCTION f32v log_of(f32v x) {
    f32v zero = set_f32(0);
    f32v infinity = div_f32(set_f32(1), zero);
    f32v outside = if_less(x, zero, sub_f32(infinity, infinity), sub_f32(zero, infinity));
    f32v y = if_less(zero, x, narrow_f64(log_f64(widen_f32(x))), outside);
    return if_less(x, infinity, y, x);
}

/* `eq-softplus` of a number and its magnitude before it is rounded. */
FUNCTION f64v softplus_f64(f64v x, f64v size) {
    f64v u = exp_f64(sub_f64(set_f64(0), size));
    f64v tail = inverse_tanh_series(div_f64(u, add_f64(u, set_f64(2))));
    return add_f64(max_f64(set_f64(0), x), tail);
}

/* `eq-erf`. */
FUNCTION f32v erf_of(f32v x) {
    f64v a = max_f64(set_f64(-3.93), min_f64(set_f64(3.93), widen_f32(x)));
    f64v z = mul_f64(a, a), square = mul_f64(z, z);
    f64v p = add_f64(mul_f64(square, set_f64(-1.2857767632938314e-08)),
                     pair(z, 4.6200150271145225e-06, 0.0003771662339783654));
    f64v q = pair(z, 6.250045803695876e-05, 0.0013024095455571422);
    p = add_f64(mul_f64(square, p), pair(z, 0.003840301761765399, 0.05425474426237144));
    q = add_f64(mul_f64(square, q), pair(z, 0.015434851896643257, 0.11388704344523792));
    p = add_f64(mul_f64(square, p), pair(z, 0.18514799104195107, 1.128379169176582));
    q = add_f64(mul_f64(square, q), pair(z, 0.4974165421241772, 1));
    return narrow_f64(div_f64(mul_f64(a, p), q));
}

#endif
