/* Depthwise convolution of lines of floats, and its gradients: the order of
 * numerics/float_depthwise.py. The primitives of simd/ are included first. */
#ifndef PYQREF_FLOAT_DEPTHWISE_H
#define PYQREF_FLOAT_DEPTHWISE_H

#include <stddef.h>
#include <string.h>

#include "simd/copy.h"
#include "simd/partial.h"
#include "simd/places.h"
#include "windows/inline.h"

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

#define BLOCK_VECTORS 10
/* `vectors` vectors of each of `lines` lines, the last of `left` floats, from `first` on. */
TILE void depthwise_block(const Lines *l, const int lines, const int vectors,
                          ptrdiff_t line, ptrdiff_t first, ptrdiff_t left) {
    f32v sum[BLOCK_VECTORS];
    const float *x = l->x + line * l->x_line + first;
    float *out = l->out + line * l->out_line + first;
    for (int i = 0; i < lines * vectors; ++i) sum[i] = set_f32(l->bias);
    for (ptrdiff_t t = 0; t < l->taps; ++t) {
        const f32v w = set_f32(l->weight[t]);
        const float *at = x + l->offsets[t];
        for (int i = 0; i < lines; ++i) {
            for (int v = 0; v < vectors; ++v) {
                const f32v met = load_f32(at + i * l->x_line + v * SIMD_LANES);
                sum[i * vectors + v] = fma_f32(met, w, sum[i * vectors + v]);
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

/* `lines` lines, in blocks of about as many each, `most` at the most: enough sums that none waits for
 * the one before it, and not more than registers hold. */
TILE void depthwise_vectors(const Lines *l, const int vectors, const int most, ptrdiff_t lines,
                            ptrdiff_t first, ptrdiff_t left) {
    const ptrdiff_t tiles = (lines + most - 1) / most;
    for (ptrdiff_t tile = 0; tile < tiles; ++tile) {
        const ptrdiff_t line = tile * lines / tiles;
        switch ((tile + 1) * lines / tiles - line) {
            case 1: depthwise_block(l, 1, vectors, line, first, left); break;
            case 2: depthwise_block(l, 2, vectors, line, first, left); break;
            case 3: if (most >= 3) depthwise_block(l, 3, vectors, line, first, left); break;
            case 4: if (most >= 4) depthwise_block(l, 4, vectors, line, first, left); break;
            case 5: if (most >= 5) depthwise_block(l, 5, vectors, line, first, left); break;
            case 6: if (most >= 6) depthwise_block(l, 6, vectors, line, first, left); break;
            default: if (most >= 7) depthwise_block(l, 7, vectors, line, first, left);
        }
    }
}

/* Some lines of results; SIMD_LANES floats behind each line of inputs may be read. */
static void depthwise_lines(const Lines *l, ptrdiff_t lines) {
    for (ptrdiff_t first = 0; first < l->width;) {
        const ptrdiff_t rest = l->width - first;
        const ptrdiff_t all = (rest + SIMD_LANES - 1) / SIMD_LANES;
        const ptrdiff_t vectors = all > 4 ? 4 : all;
        const ptrdiff_t most = vectors * SIMD_LANES;
        const ptrdiff_t left = (rest < most ? rest : most) - (vectors - 1) * SIMD_LANES;
        switch (vectors) {
            case 1: depthwise_vectors(l, 1, 7, lines, first, left); break;
            case 2: depthwise_vectors(l, 2, 5, lines, first, left); break;
            case 3: depthwise_vectors(l, 3, 3, lines, first, left); break;
            default: depthwise_vectors(l, 4, 2, lines, first, left);
        }
        first += most;
    }
}

/* Every step-th float; compilers shuffle vectors where the step is a constant. */
static void copy_every(float *target, const float *source, ptrdiff_t step, ptrdiff_t n) {
    if (step == 1) {
        copy_bytes((uint8_t *)target, (const uint8_t *)source, n * (ptrdiff_t)sizeof(float));
    } else if (step == 2) {
        for (ptrdiff_t i = 0; i < n; ++i) target[i] = source[2 * i];
    } else {
        for (ptrdiff_t i = 0; i < n; ++i) target[i] = source[step * i];
    }
}
/* The same the other way round. */
static void store_every(float *target, const float *source, ptrdiff_t step, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; ++i) target[step * i] = source[i];
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
                sum[v] = fma_f32(load_f32(g + at), load_f32(x + at), sum[v]);
            }
        }
        for (int v = 0; v < PLACE_VECTORS && i < n; ++v, i += SIMD_LANES) {
            const ptrdiff_t left = n - i < SIMD_LANES ? n - i : SIMD_LANES;
            sum[v] = fma_f32(load_n_f32(g + i, left), load_n_f32(x + i, left), sum[v]);
        }
    }
    for (int v = 0; v < PLACE_VECTORS; ++v) store_f32(places + v * SIMD_LANES, sum[v]);
}

#endif
