/* The inner loop of a depthwise convolution: vectors of channels of two lines of outputs.
 *
 * It stands in C because the compiler must see its sizes as constants; it is written once over
 * the primitives of simd/, whose header is included first. */
#ifndef PYQREF_DEPTHWISE_H
#define PYQREF_DEPTHWISE_H

#include <stddef.h>

#include "qgemm/tile.h" /* ALWAYS_INLINE, UNROLL */

#define VECTOR_BYTES (4 * SIMD_LANES) /* channels that are computed together */

/* Four streams of bytes are a quad; the sums of the upper line take the quads of `upper` and of
 * `both`, those of the lower line the quads of `both` and of `lower`. */
typedef struct {
    const uint8_t *const *streams; /* four a quad */
    ptrdiff_t upper, both, lower;  /* quads */
    const int8_t *weights;         /* VECTOR_BYTES quads, for `both` those of the upper line first */
    const int32_t *offset;         /* as in Columns, in the order of quads */
    const float *multiplier, *bias;
    float bias_multiplier, high;
    int zero_point, lowest, flip;  /* as unsigned bytes, 128 higher where outputs are signed */
    ptrdiff_t at;                  /* where the first vector is in a stream */
    ptrdiff_t count;               /* vectors of a line */
    ptrdiff_t x_step, x_last;      /* bytes from one to the next; the last may overlap */
    ptrdiff_t out_step, out_last;
    ptrdiff_t bytes;               /* of a vector that are stored: fewer where a line is short */
    /* What will be wanted next, prefetched meanwhile: lines of the image, `ahead` bytes of them for
     * each byte of the outputs, and the lines of outputs that are `ahead_out` bytes further on. */
    const uint8_t *const *next;
    ptrdiff_t n_next, ahead, ahead_out;
} DepthwiseVectors;

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address, 0, 2)
#else
#define PREFETCH(address) (void)(address)
#endif

ALWAYS_INLINE const int8_t *add_products(i32v *sum, const quads_v *quads, const int8_t *weights) {
    UNROLL for (int v = 0; v < 4; ++v) {
        sum[v] = dot4_quads(sum[v], quads[v], load_weights(weights + v * VECTOR_BYTES));
    }
    return weights + 4 * VECTOR_BYTES;
}

/* eq-requantize-bias, clamped from above, as `scaled` of epilogue.pxi; then eq-requantize. */
ALWAYS_INLINE void store_sums(const DepthwiseVectors *d, const i32v *sum, uint8_t *out) {
    const f32v bias_multiplier = set_f32(d->bias_multiplier), high = set_f32(d->high);
    uint8_t stored[VECTOR_BYTES];
    f32v real[4];
    UNROLL for (int v = 0; v < 4; ++v) {
        const f32v bias = load_f32(d->bias + v * SIMD_LANES);
        real[v] = fma_f32(bias, bias_multiplier, to_f32(sum[v]));
        real[v] = min_f32(mul_f32(real[v], load_f32(d->multiplier + v * SIMD_LANES)), high);
    }
    store_rounded_quads(d->bytes == VECTOR_BYTES ? out : stored, real[0], real[1], real[2], real[3],
                        d->zero_point, d->lowest, d->flip);
    if (d->bytes != VECTOR_BYTES) memcpy(out, stored, (size_t)d->bytes);
}

ALWAYS_INLINE void depthwise_lines(const int lines, const DepthwiseVectors *all, uint8_t *upper,
                                   uint8_t *lower) {
    const DepthwiseVectors own = *all; /* which no store into bytes can change */
    const DepthwiseVectors *d = &own;
    for (ptrdiff_t i = 0; i < d->count; ++i) {
        const ptrdiff_t step = i * d->x_step < d->x_last ? i * d->x_step : d->x_last;
        const ptrdiff_t at = d->at + step;
        const ptrdiff_t to = i * d->out_step < d->out_last ? i * d->out_step : d->out_last;
        const uint8_t *const *x = d->streams;
        const int8_t *weights = d->weights;
        for (ptrdiff_t j = 0; j < d->n_next; ++j) {
            for (ptrdiff_t k = 0; k < d->ahead; ++k) {
                PREFETCH(d->next[j] + d->ahead * (d->at + to) + VECTOR_BYTES * k);
            }
        }
        PREFETCH(upper + to + d->ahead_out);
        if (lines == 2) PREFETCH(lower + to + d->ahead_out);
        i32v first[4], second[4];
        quads_v quads[4];
        UNROLL for (int v = 0; v < 4; ++v) {
            first[v] = second[v] = load_i32(d->offset + v * SIMD_LANES);
        }
        for (ptrdiff_t q = 0; q < d->upper; ++q, x += 4) {
            weave_quads(quads, x[0] + at, x[1] + at, x[2] + at, x[3] + at);
            weights = add_products(first, quads, weights);
        }
        for (ptrdiff_t q = 0; q < d->both; ++q, x += 4) {
            weave_quads(quads, x[0] + at, x[1] + at, x[2] + at, x[3] + at);
            weights = add_products(first, quads, weights);
            if (lines == 2) add_products(second, quads, weights);
            weights += 4 * VECTOR_BYTES;
        }
        store_sums(d, first, upper + to);
        if (lines == 1) continue;
        for (ptrdiff_t q = 0; q < d->lower; ++q, x += 4) {
            weave_quads(quads, x[0] + at, x[1] + at, x[2] + at, x[3] + at);
            weights = add_products(second, quads, weights);
        }
        store_sums(d, second, lower + to);
    }
}

/* One line of outputs where `lower` is NULL, else two. */
static void depthwise_vectors(const DepthwiseVectors *d, uint8_t *upper, uint8_t *lower) {
    if (lower) {
        depthwise_lines(2, d, upper, lower);
    } else {
        depthwise_lines(1, d, upper, upper);
    }
}

#endif
