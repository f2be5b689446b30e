/* Functions of one number or a few, element by element, and the loops over them.
 *
 * The order of operations is that of numerics/float_activation.py. They stand in C, as
 * simd/functions.h does: each loop is compiled for its function. */
#ifndef PYQREF_POINTWISE_H
#define PYQREF_POINTWISE_H

#include "simd/functions.h"

/* Of a number; and of a gradient and what it belongs to, or of two or three numbers. In the order in
 * which pointwise.py numbers them. */
#define OF_ONE(X) \
    X(EXP) X(LOG) X(ERF) X(RSQRT) X(SIGMOID) X(TANH) X(GELU) X(GELU_TANH) X(SILU) X(MISH) \
    X(SOFTPLUS) X(ELU) X(LEAKY_RELU) X(HARDSWISH) X(HARDSIGMOID) X(HARDTANH)
#define OF_MORE(X) \
    X(GLU) X(LOG_GRADIENT) X(ERF_GRADIENT) X(SIGMOID_GRADIENT) X(TANH_GRADIENT) \
    X(GELU_GRADIENT) X(GELU_TANH_GRADIENT) X(SILU_GRADIENT) X(MISH_GRADIENT) \
    X(SOFTPLUS_GRADIENT) X(ELU_GRADIENT) X(LEAKY_RELU_GRADIENT) X(HARDSWISH_GRADIENT) \
    X(HARDSIGMOID_GRADIENT) X(HARDTANH_GRADIENT) X(GATE_GRADIENT)

#define NAME(name) name,
enum { OF_ONE(NAME) OF_MORE(NAME) FUNCTIONS };

/* Arrays of the same size, or rows of them; the result; and the constants of the function. */
typedef struct {
    int function;
    const float *a, *b, *c;
    float *out;
    ptrdiff_t rows, size, head, tasks_a_row, rows_a_task;
    ptrdiff_t step_a, step_b, step_c, step_out; /* from row to row */
    const float *slopes;                        /* of rows, the first constant; or NULL */
    ptrdiff_t period;                           /* rows after which they repeat */
    float first, second, third;
} Pointwise;

/* What twice the inner polynomial of GELU's tanh form is of x. */
FUNCTION f64v inner_factor(f64v square) {
    return pair(square, 0.07135481627260025, 1.5957691216057308);
}

/* `min(max(x + 3, 0), 6)`. */
FUNCTION f32v shifted_relu6(f32v x) {
    return min_f32(set_f32(6), max_f32(set_f32(0), add_f32(x, set_f32(3))));
}

/* `t = w (w + 2)`, of which `t / (t + 2)` is `tanh(log(1 + w))`, for `w = e^x`. */
FUNCTION f64v mish_power(f64v x, f64v *w) {
    w[0] = exp_f64(min_f64(set_f64(40), x));
    return mul_f64(w[0], add_f64(w[0], set_f64(2)));
}

/* `eq-float-activation`. */
FUNCTION f32v value_of(const int function, const Pointwise *p, f32v a) {
    f32v s, minus, tail;
    f64v x, w, t;
    switch (function) {
    case EXP:
        return exp_of(a);
    case LOG:
        return log_of(a);
    case ERF:
        return erf_of(a);
    case RSQRT:
        return div_f32(set_f32(1), sqrt_f32(a));
    case SIGMOID:
        return sigmoid_of(a);
    case TANH:
        return tanh_of(a);
    case GELU:
        tail = tail_of(a, &minus, &s);
        /* Below 0, a T + -0.0; else -|a| T + a. */
        return fma_f32(min_f32(a, minus), tail, max_f32(set_f32(-0.0f), a));
    case GELU_TANH:
        x = widen_f32(a);
        w = mul_f64(sub_f64(set_f64(0), x), inner_factor(mul_f64(x, x)));
        /* 0 x is nan where x is infinite, as x / inf would be. */
        t = add_f64(pair(x, 0, 1), exp_f64(w));
        return narrow_f64(div_f64(x, t));
    case SILU:
        return gated(a, a);
    case MISH:
        t = mish_power(widen_f32(a), &w);
        return mul_f32(a, narrow_f64(div_f64(t, add_f64(t, set_f64(2)))));
    case SOFTPLUS:
        s = mul_f32(a, set_f32(p->first));
        if (p->first == 1) {
            tail = softplus_of(s);
        } else {
            x = widen_f32(s);
            w = exp_f64(sub_f64(set_f64(0), widen_f32(abs_f32(s))));
            w = mul_f64(softplus_f64(ROUNDED_TWICE, x, w), set_f64(1 / (double)p->first));
            tail = narrow_f64(w);
        }
        /* The third constant is a zero, whose sign a result of zero may take. */
        return if_less(set_f32(p->second), s, a, add_f32(tail, set_f32(p->third)));
    case ELU:
        /* Where numbers above 0 would be infinite they are not taken. */
        s = max_f32(set_f32(-120), min_f32(set_f32(100), mul_f32(a, set_f32(p->third))));
        w = expm1_f64(ROUNDED_TWICE, widen_f32(s));
        /* Twice another sign: so -0.0 stays. */
        s = narrow_f64(mul_f64(sub_f64(set_f64(0), w), set_f64(-p->first)));
        return if_less(a, set_f32(0), s, mul_f32(a, set_f32(p->second)));
    case LEAKY_RELU:
        return if_less(set_f32(0), a, a, mul_f32(a, set_f32(p->first)));
    case HARDSWISH:
        return div_f32(mul_f32(a, shifted_relu6(a)), set_f32(6));
    case HARDSIGMOID:
        return div_f32(shifted_relu6(a), set_f32(6));
    case HARDTANH:
        return min_f32(set_f32(p->second), max_f32(set_f32(p->first), a));
    default:
        return a;
    }
}

/* `eq-float-activation-gradient`; `eq-glu` and its gradients. */
FUNCTION f32v gradient_of(const int function, const Pointwise *p, f32v g, f32v x, f32v c) {
    f32v one = set_f32(1);
    f32v zero = set_f32(0);
    f32v s;
    f64v wide, w, t, square;
    switch (function) {
    case LOG_GRADIENT:
        return div_f32(g, x);
    case ERF_GRADIENT:
        wide = widen_f32(x);
        w = exp_f64(mul_f64(sub_f64(set_f64(0), wide), wide));
        return mul_f32(g, narrow_f64(mul_f64(w, set_f64(1.1283791670955126))));
    case SIGMOID_GRADIENT:
        return mul_f32(g, mul_f32(sub_f32(one, x), x));
    case TANH_GRADIENT:
        return mul_f32(g, sub_f32(one, mul_f32(x, x)));
    case GELU_GRADIENT:
        c = normal_of(x, &s);
        return mul_f32(g, fma_f32(x, mul_f32(s, set_f32(0.3989423f)), c));
    case GELU_TANH_GRADIENT:
        wide = widen_f32(x);
        square = mul_f64(wide, wide);
        w = exp_f64(mul_f64(sub_f64(set_f64(0), wide), inner_factor(square)));
        w = div_f64(set_f64(1), add_f64(set_f64(1), w));
        t = mul_f64(wide, pair(square, 3 * 0.07135481627260025, 1.5957691216057308));
        t = add_f64(set_f64(1), mul_f64(t, sub_f64(set_f64(1), w)));
        return mul_f32(g, narrow_f64(mul_f64(w, t)));
    case SILU_GRADIENT:
        s = sigmoid_of(x);
        return mul_f32(g, mul_f32(s, add_f32(one, mul_f32(x, sub_f32(one, s)))));
    case MISH_GRADIENT:
        wide = widen_f32(x);
        t = mish_power(wide, &w);
        square = div_f64(set_f64(1), add_f64(t, set_f64(2)));
        w = mul_f64(mul_f64(mul_f64(set_f64(4), wide), w), add_f64(w, set_f64(1)));
        return mul_f32(g, narrow_f64(mul_f64(square, add_f64(t, mul_f64(w, square)))));
    case SOFTPLUS_GRADIENT:
        s = mul_f32(x, set_f32(p->first));
        return mul_f32(g, if_less(set_f32(p->second), s, one, sigmoid_of(s)));
    case ELU_GRADIENT:
        s = exp_below(mul_f32(if_less(zero, x, zero, x), set_f32(p->third)));
        s = mul_f32(s, set_f32(p->first * p->third));
        return mul_f32(g, if_less(zero, x, set_f32(p->second), s));
    case LEAKY_RELU_GRADIENT:
        return mul_f32(g, if_less(zero, x, one, set_f32(p->first)));
    case HARDSWISH_GRADIENT:
        /* nan, which is below nothing, keeps the first; -3 and 3 are on the sides beyond them. */
        s = mul_f32(g, add_f32(div_f32(x, set_f32(3)), set_f32(0.5f)));
        s = if_less(set_f32(2.9999998f), x, g, s);
        return if_less(x, set_f32(-2.9999998f), zero, s);
    case HARDSIGMOID_GRADIENT:
        s = if_less(set_f32(-3), x, mul_f32(g, set_f32((float)(1.0 / 6))), zero);
        return if_less(x, set_f32(3), s, zero);
    case HARDTANH_GRADIENT:
        return if_less(set_f32(p->first), x, if_less(x, set_f32(p->second), g, zero), zero);
    case GLU:
        return gated(g, x);
    case GATE_GRADIENT:
        s = sigmoid_of(c);
        return mul_f32(mul_f32(g, x), mul_f32(s, sub_f32(one, s)));
    default:
        return g;
    }
}

/* A vector, of which only some numbers may be left. */
FUNCTION f32v take(const float *source, ptrdiff_t left) {
    float few[SIMD_LANES] = {0};
    if (left >= SIMD_LANES) return load_f32(source);
    memcpy(few, source, (size_t)left * sizeof(float));
    return load_f32(few);
}

FUNCTION void put(float *target, f32v value, ptrdiff_t left) {
    float few[SIMD_LANES];
    if (left >= SIMD_LANES) {
        store_f32(target, value);
    } else {
        store_f32(few, value);
        memcpy(target, few, (size_t)left * sizeof(float));
    }
}

/* Vectors that are worked on side by side: while an operation waits for another one, there is one of
 * the other vector to do. */
#define ABREAST 2
#define STEP (ABREAST * SIMD_LANES)

FUNCTION void transform_step(const int function, const Pointwise *p, const float *a,
                             const float *b, const float *c, float *out) {
    f32v x[ABREAST];
    for (int v = 0; v < ABREAST; ++v) x[v] = load_f32(a + v * SIMD_LANES);
    for (int v = 0; v < ABREAST; ++v) {
        const ptrdiff_t at = v * SIMD_LANES;
        if (function < GLU) {
            x[v] = value_of(function, p, x[v]);
        } else {
            const f32v z = load_f32((function == GATE_GRADIENT ? c : b) + at);
            x[v] = gradient_of(function, p, x[v], load_f32(b + at), z);
        }
    }
    for (int v = 0; v < ABREAST; ++v) store_f32(out + v * SIMD_LANES, x[v]);
}

/* Whole steps, then those numbers that fill none, as one in between: the loop is compiled once. */
FUNCTION void transform(const int function, const Pointwise *p, const float *a, const float *b,
                   const float *c, float *out, ptrdiff_t size) {
    float few[3][STEP] = {{0}};
    ptrdiff_t whole = size / STEP * STEP;
    const size_t left = (size_t)(size - whole) * sizeof(float);
    float *end = out + whole;
    for (;;) {
        for (ptrdiff_t i = 0; i < whole; i += STEP) {
            transform_step(function, p, a + i, b + i, c + i, out + i);
        }
        if (out == few[0] || left == 0) break;
        memcpy(few[0], a + whole, left);
        if (function >= GLU) memcpy(few[1], b + whole, left);
        if (function == GATE_GRADIENT) memcpy(few[2], c + whole, left);
        a = out = few[0];
        b = few[1];
        c = few[2];
        whole = STEP;
    }
    memcpy(end, few[0], left);
}

/* Numbers side by side of a row. */
static void run_pointwise(const Pointwise *p, ptrdiff_t row, ptrdiff_t start, ptrdiff_t stop) {
    const float *a = p->a + row * p->step_a + start;
    const float *b = p->b ? p->b + row * p->step_b + start : NULL;
    const float *c = p->c ? p->c + row * p->step_c + start : NULL;
    float *out = p->out + row * p->step_out + start;
    Pointwise own = *p; /* to which no number that is written could belong */
    if (p->slopes) own.first = p->slopes[row % p->period];
#define CASE(name) \
    case name:     \
        transform(name, &own, a, b, c, out, stop - start); \
        break;
    switch (p->function) { OF_ONE(CASE) OF_MORE(CASE) }
#undef CASE
}

#endif
