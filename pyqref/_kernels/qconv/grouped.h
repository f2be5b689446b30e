/* The inner loop of a convolution whose groups have 4, 8 or 16 channels in and out: VECTOR_BYTES
 * outputs of a pixel look at as many inputs for each tap, and no product is with a zero.
 *
 * A part of a vector, four lanes, finishes four outputs; what it multiplies are the quads of their
 * group, which lie in the same 16 bytes as these outputs do. It stands in C because the compiler
 * must see its sizes as constants. */
#ifndef PYQREF_GROUPED_H
#define PYQREF_GROUPED_H

#include "quads.h"

typedef struct {
    const uint8_t *const *taps; /* where the bytes of the first pixel are for each tap */
    ptrdiff_t n_taps;
    const int8_t *weights;      /* for each tap and each quad of a group, VECTOR_BYTES quads */
    Factors factors;
    Finish finish;
    ptrdiff_t at;               /* where their bytes are in a pixel */
    ptrdiff_t count;            /* pixels */
    ptrdiff_t x_step, out_step; /* bytes from one to the next */
} GroupedVectors;

/* Sums of `pixels` pixels that are side by side: weights are loaded once for all. */
ALWAYS_INLINE void grouped_pixels(const int pixels, const int quads_a_group,
                                  const GroupedVectors *g, ptrdiff_t at, uint8_t *out) {
    i32v sum[2][4];
    const int8_t *weights = g->weights;
    UNROLL_VECTORS for (int p = 0; p < pixels; ++p) {
        UNROLL_VECTORS for (int v = 0; v < 4; ++v) {
            sum[p][v] = load_i32(g->factors.offset + v * SIMD_LANES);
        }
    }
    for (ptrdiff_t tap = 0; tap < g->n_taps; ++tap) {
        quads_v quads[2][4];
        UNROLL_VECTORS for (int p = 0; p < pixels; ++p) {
            broadcast_quads(quads[p], g->taps[tap] + at + p * g->x_step);
        }
        UNROLL_VECTORS for (int q = 0; q < quads_a_group; ++q) {
            UNROLL_VECTORS for (int v = 0; v < 4; ++v) {
                const weights_v w = load_weights(weights + (4 * q + v) * VECTOR_BYTES);
                UNROLL_VECTORS for (int p = 0; p < pixels; ++p) {
                    sum[p][v] =
                        dot4_quads(sum[p][v], quads[p][v / quads_a_group * quads_a_group + q], w);
                }
            }
        }
        weights += 4 * quads_a_group * VECTOR_BYTES;
    }
    UNROLL_VECTORS for (int p = 0; p < pixels; ++p) {
        store_sums(&g->finish, &g->factors, sum[p], out + p * g->out_step);
    }
}

ALWAYS_INLINE void grouped_line(const int quads_a_group, const GroupedVectors *all, uint8_t *out) {
    const GroupedVectors own = *all; /* which no store into bytes can change */
    ptrdiff_t i = 0;
    for (; i + 2 <= own.count; i += 2) {
        grouped_pixels(2, quads_a_group, &own, own.at + i * own.x_step, out + i * own.out_step);
    }
    if (i < own.count) {
        grouped_pixels(1, quads_a_group, &own, own.at + i * own.x_step, out + i * own.out_step);
    }
}

/* Outputs of pixels that are side by side, for groups of 4, 8 or 16 channels. */
static void grouped_vectors(const GroupedVectors *g, ptrdiff_t channels, uint8_t *out) {
    switch (channels) {
        case 4: grouped_line(1, g, out); return;
        case 8: grouped_line(2, g, out); return;
        default: grouped_line(4, g, out);
    }
}

#endif
