/* Depthwise convolution of lines of floats, and its gradients: the order of
 * numerics/float_depthwise.py. The primitives of simd/ are included first. */
#ifndef PYQREF_FLOAT_DEPTHWISE_H
#define PYQREF_FLOAT_DEPTHWISE_H

#include <stddef.h>
#include <string.h>

#include "simd/partial.h"
#include "simd/places.h"

/* Lines of inputs and of results, and how many floats from one to the next. What tap t meets begins
 * offsets[t] floats behind. */
typedef struct {
    const float *x;
    float *out;
    ptrdiff_t x_line, out_line, width, taps;
    const ptrdiff_t *offsets;
    const float *weight;
    float bias;
} Lines;

/* `vectors` vectors of each of `lines` lines, the last of `left` floats, from `first` on. */
static inline void depthwise_block(const Lines *l, const int lines, const int vectors,
                                   ptrdiff_t line, ptrdiff_t first, ptrdiff_t left) {
    f32v sum[4];
    const float *x = l->x + line * l->x_line + first;
    float *out = l->out + line * l->out_line + first;
    for (int i = 0; i < lines * vectors; ++i) sum[i] = set_f32(l->bias);
    for (ptrdiff_t t = 0; t < l->taps; ++t) {
        const f32v w = set_f32(l->weight[t]);
        const float *at = x + l->offsets[t];
        for (int i = 0; i < lines; ++i) {
            for (int v = 0; v < vectors; ++v) {
                const f32v product = mul_f32(load_f32(at + i * l->x_line + v * SIMD_LANES), w);
                sum[i * vectors + v] = add_f32(sum[i * vectors + v], product);
            }
        }
    }
    for (int i = 0; i < lines; ++i) {
        for (int v = 0; v < vectors - 1; ++v) {
            store_f32(out + i * l->out_line + v * SIMD_LANES, sum[i * vectors + v]);
        }
        store_n_f32(out + i * l->out_line + (vectors - 1) * SIMD_LANES,
                    sum[i * vectors + vectors - 1], left);
    }
}

/* Some lines of results; SIMD_LANES floats behind each line of inputs may be read. */
static void depthwise_lines(const Lines *l, ptrdiff_t lines) {
    for (ptrdiff_t first = 0; first < l->width;) {
        const ptrdiff_t rest = l->width - first;
        const int vectors = rest > 3 * SIMD_LANES ? 4 : rest > SIMD_LANES ? 2 : 1;
        const ptrdiff_t most = vectors * SIMD_LANES;
        const ptrdiff_t left = (rest < most ? rest : most) - (vectors - 1) * SIMD_LANES;
        ptrdiff_t line = 0;
        if (vectors == 4) {
            for (; line < lines; ++line) depthwise_block(l, 1, 4, line, first, left);
        } else if (vectors == 2) {
            for (; line + 2 <= lines; line += 2) depthwise_block(l, 2, 2, line, first, left);
            for (; line < lines; ++line) depthwise_block(l, 1, 2, line, first, left);
        } else {
            for (; line + 4 <= lines; line += 4) depthwise_block(l, 4, 1, line, first, left);
            for (; line < lines; ++line) depthwise_block(l, 1, 1, line, first, left);
        }
        first += most;
    }
}

/* Every step-th float; compilers shuffle vectors where the step is a constant. */
static void copy_every(float *target, const float *source, ptrdiff_t step, ptrdiff_t n) {
    if (step == 1) {
        memcpy(target, source, (size_t)n * sizeof(float));
    } else if (step == 2) {
        for (ptrdiff_t i = 0; i < n; ++i) target[i] = source[2 * i];
    } else {
        for (ptrdiff_t i = 0; i < n; ++i) target[i] = source[step * i];
    }
}
/* The same the other way round. */
static void spread_every(float *target, const float *source, ptrdiff_t step, ptrdiff_t n) {
    if (step == 1) {
        memcpy(target, source, (size_t)n * sizeof(float));
    } else {
        for (ptrdiff_t i = 0; i < n; ++i) target[step * i] = source[i];
    }
}

/* target += w * x */
static void add_multiple(float *target, const float *x, float weight, ptrdiff_t n) {
    const f32v w = set_f32(weight);
    ptrdiff_t i = 0;
    for (; i + SIMD_LANES <= n; i += SIMD_LANES) {
        store_f32(target + i, add_f32(load_f32(target + i), mul_f32(load_f32(x + i), w)));
    }
    if (i < n) {
        const f32v product = mul_f32(load_n_f32(x + i, n - i), w);
        store_n_f32(target + i, add_f32(load_n_f32(target + i, n - i), product), n - i);
    }
}

/* Add the products of lines of x and of gradients to PLACES sums, each of one column modulo 16. */
static void add_products(float *places, const float *x, ptrdiff_t x_line, const float *g,
                         ptrdiff_t g_line, ptrdiff_t lines, ptrdiff_t n) {
    f32v sum[PLACE_VECTORS];
    for (int v = 0; v < PLACE_VECTORS; ++v) sum[v] = load_f32(places + v * SIMD_LANES);
    for (; lines > 0; --lines, x += x_line, g += g_line) {
        ptrdiff_t i = 0;
        for (; i + PLACES <= n; i += PLACES) {
            for (int v = 0; v < PLACE_VECTORS; ++v) {
                const ptrdiff_t at = i + v * SIMD_LANES;
                sum[v] = add_f32(sum[v], mul_f32(load_f32(g + at), load_f32(x + at)));
            }
        }
        for (int v = 0; v < PLACE_VECTORS && i < n; ++v, i += SIMD_LANES) {
            const ptrdiff_t left = n - i < SIMD_LANES ? n - i : SIMD_LANES;
            sum[v] = add_f32(sum[v], mul_f32(load_n_f32(g + i, left), load_n_f32(x + i, left)));
        }
    }
    for (int v = 0; v < PLACE_VECTORS; ++v) store_f32(places + v * SIMD_LANES, sum[v]);
}

#endif
