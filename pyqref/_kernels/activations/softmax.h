/* Softmax of rows, its logarithm, and the gradients of both.
 *
 * Sums are made in PLACES places side by side, whatever the lanes of a vector, which are then added
 * by halves: the order of numerics/float_softmax.py. */
#ifndef PYQREF_SOFTMAX_H
#define PYQREF_SOFTMAX_H

#include <math.h>

#include "activations/pointwise.h"
#include "simd/places.h"

/* A vector, of which `fill` stands for the numbers behind the end. */
FUNCTION f32v take_or(const float *source, ptrdiff_t left, float fill) {
    float few[SIMD_LANES];
    if (left >= SIMD_LANES) return load_f32(source);
    store_f32(few, set_f32(fill));
    memcpy(few, source, (size_t)left * sizeof(float));
    return load_f32(few);
}

FUNCTION float sum_of_places(const f32v sums[PLACE_VECTORS]) {
    float places[PLACES];
    for (int v = 0; v < PLACE_VECTORS; ++v) store_f32(places + v * SIMD_LANES, sums[v]);
    return sum_by_halves(places);
}

FUNCTION void most_of_places(const float *x, f32v most[PLACE_VECTORS], ptrdiff_t left) {
    for (int v = 0; v < PLACE_VECTORS; ++v) {
        const ptrdiff_t at = v * SIMD_LANES;
        if (at < left) most[v] = max_f32(take_or(x + at, left - at, -INFINITY), most[v]);
    }
}

/* The largest number that is no nan. */
static float largest_of(const float *x, ptrdiff_t n) {
    f32v most[PLACE_VECTORS];
    ptrdiff_t i = 0;
    for (int v = 0; v < PLACE_VECTORS; ++v) most[v] = set_f32(-INFINITY);
    for (; i + PLACES <= n; i += PLACES) most_of_places(x + i, most, PLACES);
    most_of_places(x + i, most, n - i);
    for (int v = 1; v < PLACE_VECTORS; ++v) most[0] = max_f32(most[v], most[0]);
    return greatest_f32(most[0]);
}

/* What is summed: powers of x - largest, which `out` keeps where it is not NULL; products of a and
 * b; or a alone. */
enum { POWERS, PRODUCTS, NUMBERS };
FUNCTION void add_places(const int what, const float *a, const float *b, f32v largest, float *out,
                         f32v sums[PLACE_VECTORS], ptrdiff_t left) {
    for (int v = 0; v < PLACE_VECTORS; ++v) {
        const ptrdiff_t at = v * SIMD_LANES;
        if (at >= left) return;
        f32v x = take_or(a + at, left - at, what == POWERS ? -INFINITY : 0);
        if (what == POWERS) x = exp_below(sub_f32(x, largest));
        if (what == PRODUCTS) x = mul_f32(x, take_or(b + at, left - at, 0));
        sums[v] = add_f32(sums[v], x);
        if (out) put(out + at, x, left - at);
    }
}

FUNCTION float sum_over(const int what, const float *a, const float *b, float largest, float *out,
                        ptrdiff_t n) {
    f32v sums[PLACE_VECTORS];
    const f32v most = set_f32(largest);
    ptrdiff_t i = 0;
    for (int v = 0; v < PLACE_VECTORS; ++v) sums[v] = set_f32(0);
    for (; i + PLACES <= n; i += PLACES) {
        add_places(what, a + i, b ? b + i : NULL, most, out ? out + i : NULL, sums, PLACES);
    }
    if (i < n) add_places(what, a + i, b ? b + i : NULL, most, out ? out + i : NULL, sums, n - i);
    return sum_of_places(sums);
}

/* `eq-float-softmax`. */
static void softmax_row(const float *x, float *out, ptrdiff_t n) {
    const float largest = largest_of(x, n);
    const f32v inverse = set_f32(1.0f / sum_over(POWERS, x, NULL, largest, out, n));
    for (ptrdiff_t i = 0; i < n; i += SIMD_LANES) {
        put(out + i, mul_f32(take(out + i, n - i), inverse), n - i);
    }
}

/* `eq-float-log-softmax`. */
static void log_softmax_row(const float *x, float *out, ptrdiff_t n) {
    const float largest = largest_of(x, n);
    const f32v log_sum = log_of(set_f32(sum_over(POWERS, x, NULL, largest, NULL, n)));
    for (ptrdiff_t i = 0; i < n; i += SIMD_LANES) {
        f32v y = sub_f32(take(x + i, n - i), set_f32(largest));
        put(out + i, sub_f32(y, log_sum), n - i);
    }
}

/* `eq-float-softmax-gradient`. */
static void softmax_gradient_row(const float *g, const float *y, float *out, ptrdiff_t n) {
    const f32v sum = set_f32(sum_over(PRODUCTS, g, y, 0, NULL, n));
    for (ptrdiff_t i = 0; i < n; i += SIMD_LANES) {
        f32v x = sub_f32(take(g + i, n - i), sum);
        put(out + i, mul_f32(x, take(y + i, n - i)), n - i);
    }
}

/* `eq-float-log-softmax-gradient`. */
static void log_softmax_gradient_row(const float *g, const float *y, float *out, ptrdiff_t n) {
    const f32v sum = set_f32(sum_over(NUMBERS, g, NULL, 0, NULL, n));
    for (ptrdiff_t i = 0; i < n; i += SIMD_LANES) {
        f32v x = mul_f32(exp_below(take(y + i, n - i)), sum);
        put(out + i, sub_f32(take(g + i, n - i), x), n - i);
    }
}

#endif
