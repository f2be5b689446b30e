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

FUNCTION void scale_at(const float *x, f32v factor, float *out, ptrdiff_t i, ptrdiff_t left) {
    put(out + i, mul_f32(take(x + i, left), factor), left);
}

/* A row times a number. */
static void scale_row(const float *x, float factor, float *out, ptrdiff_t n) {
    const f32v by = set_f32(factor);
    ptrdiff_t i = 0;
    for (; i + SIMD_LANES <= n; i += SIMD_LANES) scale_at(x, by, out, i, SIMD_LANES);
    if (i < n) scale_at(x, by, out, i, n - i);
}

/* `eq-float-softmax`. */
static void softmax_row(const float *x, float *out, ptrdiff_t n) {
    const float largest = largest_of(x, n);
    scale_row(out, 1.0f / sum_over(POWERS, x, NULL, largest, out, n), out, n);
}

FUNCTION void subtract_at(const float *x, f32v a, f32v b, float *out, ptrdiff_t i,
                          ptrdiff_t left) {
    put(out + i, sub_f32(sub_f32(take(x + i, left), a), b), left);
}

/* `eq-float-log-softmax` of a row whose sum has this logarithm. */
static void log_softmax_row(const float *x, float largest, float log, float *out, ptrdiff_t n) {
    const f32v most = set_f32(largest), less = set_f32(log);
    ptrdiff_t i = 0;
    for (; i + SIMD_LANES <= n; i += SIMD_LANES) subtract_at(x, most, less, out, i, SIMD_LANES);
    if (i < n) subtract_at(x, most, less, out, i, n - i);
}

/* As many rows at a time as a vector has logarithms. */
static void log_softmax_rows(const float *x, float *out, ptrdiff_t rows, ptrdiff_t n) {
    float largest[SIMD_LANES], sums[SIMD_LANES];
    for (; rows > 0; rows -= SIMD_LANES, x += SIMD_LANES * n, out += SIMD_LANES * n) {
        const ptrdiff_t count = rows < SIMD_LANES ? rows : SIMD_LANES;
        store_f32(sums, set_f32(1));
        for (ptrdiff_t i = 0; i < count; ++i) {
            largest[i] = largest_of(x + i * n, n);
            sums[i] = sum_over(POWERS, x + i * n, NULL, largest[i], NULL, n);
        }
        store_f32(sums, log_of(load_f32(sums)));
        for (ptrdiff_t i = 0; i < count; ++i) {
            log_softmax_row(x + i * n, largest[i], sums[i], out + i * n, n);
        }
    }
}

FUNCTION void gradient_at(const float *g, const float *y, f32v sum, float *out, ptrdiff_t i,
                          ptrdiff_t left) {
    put(out + i, mul_f32(sub_f32(take(g + i, left), sum), take(y + i, left)), left);
}

FUNCTION void log_gradient_at(const float *g, const float *y, f32v sum, float *out, ptrdiff_t i,
                              ptrdiff_t left) {
    put(out + i, sub_f32(take(g + i, left), mul_f32(exp_below(take(y + i, left)), sum)), left);
}

/* `eq-float-softmax-gradient`. */
static void softmax_gradient_row(const float *g, const float *y, float *out, ptrdiff_t n) {
    const f32v sum = set_f32(sum_over(PRODUCTS, g, y, 0, NULL, n));
    ptrdiff_t i = 0;
    for (; i + SIMD_LANES <= n; i += SIMD_LANES) gradient_at(g, y, sum, out, i, SIMD_LANES);
    if (i < n) gradient_at(g, y, sum, out, i, n - i);
}

/* `eq-float-log-softmax-gradient`. */
static void log_softmax_gradient_row(const float *g, const float *y, float *out, ptrdiff_t n) {
    const f32v sum = set_f32(sum_over(NUMBERS, g, NULL, 0, NULL, n));
    ptrdiff_t i = 0;
    for (; i + SIMD_LANES <= n; i += SIMD_LANES) log_gradient_at(g, y, sum, out, i, SIMD_LANES);
    if (i < n) log_gradient_at(g, y, sum, out, i, n - i);
}

#endif
