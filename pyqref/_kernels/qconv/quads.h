/* Sums of quads, in the order of interleave_quads, and how they are finished. */
#ifndef PYQREF_QUADS_H
#define PYQREF_QUADS_H

#include <stddef.h>

#include "product/tile.h" /* ALWAYS_INLINE, UNROLL */
#include "simd/prefetch.h"

/* Loops over vectors. Where vectors are loops over lanes in C, unrolled ones are no faster and
 * twice as large. */
#ifdef LANES_IN_LOOPS
#define UNROLL_VECTORS
#else
#define UNROLL_VECTORS UNROLL
#endif

#define VECTOR_BYTES (4 * SIMD_LANES) /* channels that are computed together */

/* What finishes sums, the same for all channels. */
typedef struct {
    float bias_multiplier, high;
    int zero_point, lowest, flip; /* as unsigned bytes, 128 higher where outputs are signed */
    ptrdiff_t bytes;              /* of VECTOR_BYTES that are stored, fewer where there are fewer */
} Finish;

/* And for each, as in Columns, in the order of quads. */
typedef struct {
    const int32_t *offset;
    const float *multiplier, *bias;
} Factors;

ALWAYS_INLINE const int8_t *add_products(i32v *sum, const quads_v *quads, const int8_t *weights) {
    UNROLL_VECTORS for (int v = 0; v < 4; ++v) {
        sum[v] = dot4_quads(sum[v], quads[v], load_weights(weights + v * VECTOR_BYTES));
    }
    return weights + 4 * VECTOR_BYTES;
}

/* eq-requantize-bias, clamped from above, as `scaled` of epilogue.pxd; then eq-requantize. */
ALWAYS_INLINE void store_sums(const Finish *f, const Factors *by, const i32v *sum, uint8_t *out) {
    const f32v bias_multiplier = set_f32(f->bias_multiplier), high = set_f32(f->high);
    uint8_t stored[VECTOR_BYTES];
    f32v real[4];
    UNROLL_VECTORS for (int v = 0; v < 4; ++v) {
        const f32v bias = load_f32(by->bias + v * SIMD_LANES);
        real[v] = fma_f32(bias, bias_multiplier, to_f32(sum[v]));
        real[v] = min_f32(mul_f32(real[v], load_f32(by->multiplier + v * SIMD_LANES)), high);
    }
    store_rounded_quads(f->bytes == VECTOR_BYTES ? out : stored, real[0], real[1], real[2], real[3],
                        f->zero_point, f->lowest, f->flip);
    if (f->bytes != VECTOR_BYTES) memcpy(out, stored, (size_t)f->bytes);
}

/* The sums as they are, in the order of the outputs. */
ALWAYS_INLINE void keep_sums(const Finish *f, const i32v *sum, uint8_t *out) {
    int32_t in_quads[VECTOR_BYTES], ordered[VECTOR_BYTES];
    UNROLL_VECTORS for (int v = 0; v < 4; ++v) store_i32(in_quads + v * SIMD_LANES, sum[v]);
    for (int i = 0; i < VECTOR_BYTES; i += 4) { /* place_in_quads of line_buffer.pxd */
        memcpy(ordered + i, in_quads + i % 16 / 4 * SIMD_LANES + i / 16 * 4, 16);
    }
    memcpy(out, ordered, 4 * (size_t)f->bytes);
}

#endif
