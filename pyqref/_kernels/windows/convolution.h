/* The tile of a convolution of floats: the order of numerics/float_convolution.py. The primitives of
 * simd/ are included first. */
#ifndef PYQREF_FLOAT_CONVOLUTION_H
#define PYQREF_FLOAT_CONVOLUTION_H

#include <stddef.h>

#include "simd/prefetch.h"
#include "windows/inline.h"

/* Outputs of a tile, and vectors of neighbouring positions: as many sums as registers hold. */
#define OUTPUT_ROWS 6
#if SIMD_LANES == 8
#define POSITION_VECTORS 2
#else
#define POSITION_VECTORS 4
#endif
#define POSITIONS (POSITION_VECTORS * SIMD_LANES)

/* Floats that are copied at a time, in a second cache of 512 KiB, or 1 MiB and more with AVX512; and
 * at the most, where windows reach so far that smaller boxes would be copied too often. */
#define BOX (SIMD_LANES == 16 ? 128 << 10 : 64 << 10)
#define LARGEST_BOX (1 << 20)

/* Some terms of the sums of some outputs, whose weights are weight_row apart: term k is the weight
 * weights[k] floats behind the first, times what lies offsets[k] floats behind a position. They are
 * terms of some blocks, each of which goes to one of the ends. */
typedef struct {
    const float *weight;
    const float *bias; /* or NULL */
    const ptrdiff_t *weights, *offsets, *ends;
    ptrdiff_t weight_row, blocks;
    int is_first; /* block: its sums are added to the bias, or to 0 */
} Terms;

/* Add the products of each block, added up in their order, to the sums. */
TILE void add_tile(const Terms *t, const int rows, const int vectors, const float *x,
                   float *sums, ptrdiff_t sums_row) {
    f32v sum[OUTPUT_ROWS][POSITION_VECTORS];
    const ptrdiff_t row = t->weight_row;
    int is_first = t->is_first;
    for (ptrdiff_t block = 0, k = 0; block < t->blocks; ++block, is_first = 0) {
        for (int r = 0; r < rows; ++r) {
            for (int v = 0; v < vectors; ++v) sum[r][v] = set_f32(0);
        }
        for (; k < t->ends[block]; ++k) {
            const float *at = x + t->offsets[k], *weight = t->weight + t->weights[k];
            f32v given[POSITION_VECTORS];
            for (int v = 0; v < vectors; ++v) given[v] = load_f32(at + v * SIMD_LANES);
            for (int r = 0; r < rows; ++r) {
                const f32v w = set_f32(weight[r * row]);
                for (int v = 0; v < vectors; ++v) sum[r][v] = fma_f32(given[v], w, sum[r][v]);
            }
        }
        for (int r = 0; r < rows; ++r) {
            float *to = sums + r * sums_row;
            const f32v first = set_f32(is_first && t->bias ? t->bias[r] : 0);
            for (int v = 0; v < vectors; ++v, to += SIMD_LANES) {
                store_f32(to, add_f32(is_first ? first : load_f32(to), sum[r][v]));
            }
        }
    }
}

/* Tiles of POSITIONS positions: where each begins, how many vectors it has, and where its sums are,
 * those of outputs so many floats apart. */
typedef struct {
    ptrdiff_t at;
    int vectors;
    float *sums;
    ptrdiff_t row;
} Place;

TILE void add_rows(const Terms *t, const int rows, const float *x, int vectors, float *sums,
                   ptrdiff_t sums_row) {
    switch (vectors) {
        case 1: add_tile(t, rows, 1, x, sums, sums_row); break;
#if POSITION_VECTORS > 2
        case 2: add_tile(t, rows, 2, x, sums, sums_row); break;
        case 3: add_tile(t, rows, 3, x, sums, sums_row); break;
#endif
        default: add_tile(t, rows, POSITION_VECTORS, x, sums, sums_row);
    }
}

/* The weights of the outputs behind some rows, from a cache farther away, line by line. */
static inline void prefetch_weights(const Terms *t, int rows) {
    const ptrdiff_t terms = t->ends[t->blocks - 1], line = 64 / (ptrdiff_t)sizeof(float);
    ptrdiff_t from = 0;
    for (ptrdiff_t k = 0; k < terms; ++k) {
        const ptrdiff_t apart = t->weights[k] - from;
        if (k > 0 && apart > -line && apart < line) continue;
        from = t->weights[k];
        prefetch_apart(t->weight + from + rows * t->weight_row,
                       t->weight_row * (ptrdiff_t)sizeof(float), rows);
    }
}

/* All outputs of each tile: what it meets stays in the first cache, the weights in the second. */
static void add_tiles(const Terms *terms, ptrdiff_t outputs, const float *x, const Place *places,
                      ptrdiff_t count) {
    const ptrdiff_t tiles = (outputs + OUTPUT_ROWS - 1) / OUTPUT_ROWS;
    const ptrdiff_t least = outputs / tiles, more = outputs % tiles;
    Terms t = *terms;
    for (ptrdiff_t i = 0; i < count; ++i) {
        const float *at = x + places[i].at;
        const int vectors = places[i].vectors;
        const ptrdiff_t row = places[i].row;
        float *to = places[i].sums;
        t.weight = terms->weight;
        t.bias = terms->bias;
        for (ptrdiff_t tile = 0; tile < tiles; ++tile) {  /* of about as many rows each */
            const int rows = (int)(least + (tile < more));
            if (i == 0 && tile + 1 < tiles) prefetch_weights(&t, rows);
            switch (rows) {
                case 1: add_rows(&t, 1, at, vectors, to, row); break;
                case 2: add_rows(&t, 2, at, vectors, to, row); break;
                case 3: add_rows(&t, 3, at, vectors, to, row); break;
                case 4: add_rows(&t, 4, at, vectors, to, row); break;
                case 5: add_rows(&t, 5, at, vectors, to, row); break;
                default: add_rows(&t, OUTPUT_ROWS, at, vectors, to, row);
            }
            t.weight += rows * t.weight_row;
            if (t.bias) t.bias += rows;
            to += rows * row;
        }
    }
}

/* Neighbouring positions: where inputs are that they meet, how many, and where in a panel the first
 * is. */
typedef struct {
    ptrdiff_t at, count, first;
} Span;

/* Add to sums of some terms, for `vectors` vectors of outputs, the products at all positions, added up
 * in their order. Terms are `step` apart. A panel has the gradients of POSITIONS outputs for each
 * position. */
TILE void add_weight_tile(const float *panel, const Span *spans, ptrdiff_t count, const int rows,
                          const int vectors, const float *x, const ptrdiff_t *offsets, float *sums,
                          ptrdiff_t step) {
    f32v sum[OUTPUT_ROWS][POSITION_VECTORS];
    for (int r = 0; r < rows; ++r) {
        for (int v = 0; v < vectors; ++v) sum[r][v] = set_f32(0);
    }
    for (; count > 0; --count, ++spans) {
        const float *at[OUTPUT_ROWS];
        const float *grad = panel + spans->first * POSITIONS;
        for (int r = 0; r < rows; ++r) at[r] = x + spans->at + offsets[r * step];
        for (ptrdiff_t i = 0; i < spans->count; ++i, grad += POSITIONS) {
            f32v given[POSITION_VECTORS];
            for (int v = 0; v < vectors; ++v) given[v] = load_f32(grad + v * SIMD_LANES);
            for (int r = 0; r < rows; ++r) {
                const f32v met = set_f32(at[r][i]);
                for (int v = 0; v < vectors; ++v) sum[r][v] = fma_f32(given[v], met, sum[r][v]);
            }
        }
    }
    for (int r = 0; r < rows; ++r) {
        for (int v = 0; v < vectors; ++v) {
            float *to = sums + r * step * POSITIONS + v * SIMD_LANES;
            store_f32(to, add_f32(load_f32(to), sum[r][v]));
        }
    }
}

TILE void add_weight_rows(const float *panel, const Span *spans, ptrdiff_t count, const int rows,
                          int vectors, const float *x, const ptrdiff_t *offsets, float *sums,
                          ptrdiff_t step) {
    switch (vectors) {
        case 1: add_weight_tile(panel, spans, count, rows, 1, x, offsets, sums, step); break;
#if POSITION_VECTORS > 2
        case 2: add_weight_tile(panel, spans, count, rows, 2, x, offsets, sums, step); break;
        case 3: add_weight_tile(panel, spans, count, rows, 3, x, offsets, sums, step); break;
#endif
        default: add_weight_tile(panel, spans, count, rows, POSITION_VECTORS, x, offsets, sums, step);
    }
}

/* All terms of one panel. */
static void add_weight_tiles(const float *panel, const Span *spans, ptrdiff_t count, ptrdiff_t terms,
                             int vectors, const float *x, const ptrdiff_t *offsets, float *sums,
                          ptrdiff_t step) {
    const ptrdiff_t tiles = (terms + OUTPUT_ROWS - 1) / OUTPUT_ROWS;
    const ptrdiff_t least = terms / tiles, more = terms % tiles;
    for (ptrdiff_t tile = 0; tile < tiles; ++tile) {
        const int rows = (int)(least + (tile < more));
        switch (rows) {
            case 1: add_weight_rows(panel, spans, count, 1, vectors, x, offsets, sums, step); break;
            case 2: add_weight_rows(panel, spans, count, 2, vectors, x, offsets, sums, step); break;
            case 3: add_weight_rows(panel, spans, count, 3, vectors, x, offsets, sums, step); break;
            case 4: add_weight_rows(panel, spans, count, 4, vectors, x, offsets, sums, step); break;
            case 5: add_weight_rows(panel, spans, count, 5, vectors, x, offsets, sums, step); break;
            default:
                add_weight_rows(panel, spans, count, OUTPUT_ROWS, vectors, x, offsets, sums, step);
        }
        offsets += rows * step;
        sums += rows * step * POSITIONS;
    }
}

#endif
