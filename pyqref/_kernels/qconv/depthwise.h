/* The inner loop of a depthwise convolution: vectors of channels of two lines of outputs.
 *
 * It stands in C because the compiler must see its sizes as constants; it is written once over
 * the primitives of simd/, whose header is included first. */
#ifndef PYQREF_DEPTHWISE_H
#define PYQREF_DEPTHWISE_H

#include "quads.h"

/* Four streams of bytes are a quad; the sums of the upper line take the quads of `upper` and of
 * `both`, those of the lower line the quads of `both` and of `lower`. */
typedef struct {
    const uint8_t *const *streams; /* four a quad */
    ptrdiff_t upper, both, lower;  /* quads */
    const int8_t *weights;         /* VECTOR_BYTES quads; for `both` the upper line's first */
    Factors factors;
    Finish finish;
    ptrdiff_t at;                  /* where the first vector is in a stream */
    ptrdiff_t count;               /* vectors of a line */
    ptrdiff_t x_step, x_last;      /* bytes from one to the next; the last may overlap */
    ptrdiff_t out_step, out_last;
    int finished; /* or sums are stored as they are */
    /* What will be wanted next, prefetched meanwhile: lines of the image, `ahead` bytes of them for
     * each byte of the outputs, and the lines of outputs that are `ahead_out` bytes further on. */
    const uint8_t *const *next;
    ptrdiff_t n_next, ahead, ahead_out;
} DepthwiseVectors;

ALWAYS_INLINE void finish_vector(const int finished, const DepthwiseVectors *d, const i32v *sum,
                                 uint8_t *out) {
    if (finished) {
        store_sums(&d->finish, &d->factors, sum, out);
    } else {
        keep_sums(&d->finish, sum, out);
    }
}

ALWAYS_INLINE void depthwise_lines(const int lines, const int finished, const DepthwiseVectors *all,
                                   uint8_t *upper, uint8_t *lower) {
    const DepthwiseVectors own = *all; /* which no store into bytes can change */
    const DepthwiseVectors *d = &own;
    for (ptrdiff_t i = 0; i < d->count; ++i) {
        const ptrdiff_t step = i * d->x_step < d->x_last ? i * d->x_step : d->x_last;
        const ptrdiff_t at = d->at + step;
        const ptrdiff_t to = i * d->out_step < d->out_last ? i * d->out_step : d->out_last;
        const uint8_t *const *x = d->streams;
        const int8_t *weights = d->weights;
        i32v first[4], second[4];
        quads_v quads[4];
        for (ptrdiff_t j = 0; j < d->n_next; ++j) {
            for (ptrdiff_t k = 0; k < d->ahead; ++k) {
                PREFETCH(d->next[j] + d->ahead * (d->at + to) + VECTOR_BYTES * k);
            }
        }
        PREFETCH(upper + to + d->ahead_out);
        if (lines == 2) PREFETCH(lower + to + d->ahead_out);
        UNROLL for (int v = 0; v < 4; ++v) {
            first[v] = second[v] = load_i32(d->factors.offset + v * SIMD_LANES);
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
        finish_vector(finished, d, first, upper + to);
        if (lines == 1) continue;
        for (ptrdiff_t q = 0; q < d->lower; ++q, x += 4) {
            weave_quads(quads, x[0] + at, x[1] + at, x[2] + at, x[3] + at);
            weights = add_products(second, quads, weights);
        }
        finish_vector(finished, d, second, lower + to);
    }
}

/* One line of outputs where `lower` is NULL, else two; or their sums. */
static void depthwise_vectors(const DepthwiseVectors *d, uint8_t *upper, uint8_t *lower) {
    if (lower && d->finished) {
        depthwise_lines(2, 1, d, upper, lower);
    } else if (lower) {
        depthwise_lines(2, 0, d, upper, lower);
    } else if (d->finished) {
        depthwise_lines(1, 1, d, upper, upper);
    } else {
        depthwise_lines(1, 0, d, upper, upper);
    }
}

#endif
