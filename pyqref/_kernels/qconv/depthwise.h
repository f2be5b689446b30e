/* The inner loop of a depthwise convolution: vectors of channels of two lines of outputs.
 *
 * It stands in C because the compiler must see its sizes as constants; it is written once over
 * the primitives of simd/, whose header is included first. */
#ifndef PYQREF_DEPTHWISE_H
#define PYQREF_DEPTHWISE_H

#include "quads.h"

#define MOST_THREES 5

/* Where quads take two registers each, of few, sums would have to leave theirs. */
#ifndef QUADS_FILL_REGISTERS
#define QUADS_FILL_REGISTERS 0
#endif

/* Four streams of bytes are a quad; the sums of the upper line take the quads of `upper` and of
 * `both`, those of the lower line the quads of `both` and of `lower`. */
typedef struct {
    const uint8_t *const *streams; /* four a quad */
    ptrdiff_t threes;              /* lines, where streams are the same three taps of each; or 0 */
    ptrdiff_t upper, both, lower;  /* quads */
    const int8_t *weights;         /* VECTOR_BYTES quads; for `both` the upper line's first */
    Factors factors;
    Finish finish;
    ptrdiff_t at;                  /* where the first vector is in a stream */
    ptrdiff_t count;               /* vectors of a line */
    ptrdiff_t x_step, x_last;      /* bytes from one to the next; the last may overlap */
    ptrdiff_t out_step, out_last;
    int finished; /* or sums are stored as they are */
} DepthwiseVectors;

ALWAYS_INLINE void finish_vector(const int finished, const DepthwiseVectors *d, const i32v *sum,
                                 uint8_t *out) {
    if (finished) {
        store_sums(&d->finish, &d->factors, sum, out);
    } else {
        keep_sums(&d->finish, sum, out);
    }
}

/* What four streams add to the sums of either line, or of both. */
ALWAYS_INLINE const int8_t *add_streams(const uint8_t *const *x, const ptrdiff_t at, i32v *first,
                                        i32v *second, const int8_t *weights) {
    quads_v quads[4];
    interleave_quads(quads, x[0] + at, x[1] + at, x[2] + at, x[3] + at);
    if (first) weights = add_products(first, quads, weights);
    if (second) weights = add_products(second, quads, weights);
    return weights;
}

ALWAYS_INLINE void begin_sums(const DepthwiseVectors *d, i32v *first, i32v *second) {
    UNROLL_VECTORS for (int v = 0; v < 4; ++v) {
        first[v] = second[v] = load_i32(d->factors.offset + v * SIMD_LANES);
    }
}

/* Where all of a vector is stored, no call to copy a part of it stands in the loop: compilers would
 * keep in memory what it may change. */
ALWAYS_INLINE void depthwise_lines(const int lines, const int finished, const int are_whole,
                                   const DepthwiseVectors *all, uint8_t *upper, uint8_t *lower) {
    DepthwiseVectors own = *all; /* which no store into bytes can change */
    const DepthwiseVectors *d = &own;
    ptrdiff_t at = d->at, to = 0;
    if (are_whole) own.finish.bytes = VECTOR_BYTES;
    for (ptrdiff_t i = 0; i < d->count; ++i, at += d->x_step, to += d->out_step) {
        const uint8_t *const *x = d->streams;
        const int8_t *weights = d->weights;
        i32v first[4], second[4];
        if (i == d->count - 1) at = d->at + d->x_last, to = d->out_last;
        begin_sums(d, first, second);
        for (ptrdiff_t q = 0; q < d->upper; ++q, x += 4) {
            weights = add_streams(x, at, first, NULL, weights);
        }
        for (ptrdiff_t q = 0; q < d->both; ++q, x += 4) {
            add_streams(x, at, first, lines == 2 ? second : NULL, weights);
            weights += 8 * VECTOR_BYTES;
        }
        finish_vector(finished, d, first, upper + to);
        if (lines == 1) continue;
        for (ptrdiff_t q = 0; q < d->lower; ++q, x += 4) {
            weights = add_streams(x, at, NULL, second, weights);
        }
        finish_vector(finished, d, second, lower + to);
    }
}

/* Two lines of outputs where three taps follow each other on each of a few lines of the image: where
 * these are, and how far the taps lie apart, stays in registers. */
ALWAYS_INLINE void some_by_threes(const int threes, const int n_upper, const int n_both,
                                  const int n_lower, const DepthwiseVectors *d, const ptrdiff_t at,
                                  const ptrdiff_t count, uint8_t *upper, uint8_t *lower) {
    const ptrdiff_t tap[3] = {0, d->streams[1] - d->streams[0], d->streams[2] - d->streams[0]};
    const uint8_t *line[MOST_THREES];
    UNROLL_VECTORS for (int t = 0; t < threes; ++t) line[t] = d->streams[3 * t] + at;
    for (ptrdiff_t i = 0; i < count; ++i, upper += d->out_step, lower += d->out_step) {
        const int8_t *weights = d->weights;
        i32v first[4], second[4];
        begin_sums(d, first, second);
        UNROLL_VECTORS for (int q = 0; q < n_upper + n_both + n_lower; ++q) {
            const uint8_t *x[4];
            UNROLL_VECTORS for (int k = 0; k < 4; ++k) {
                const int stream = 4 * q + k < 3 * threes ? 4 * q + k : 3 * threes - 1;
                x[k] = line[stream / 3] + tap[stream % 3];
            }
            weights = add_streams(x, 0, q < n_upper + n_both ? first : NULL,
                                  q < n_upper ? NULL : second, weights);
            if (q == n_upper + n_both - 1) finish_vector(1, d, first, upper);
        }
        finish_vector(1, d, second, lower);
        UNROLL_VECTORS for (int t = 0; t < threes; ++t) line[t] += d->x_step;
    }
}

ALWAYS_INLINE void depthwise_by_threes(const int threes, const int n_upper, const int n_both,
                                       const int n_lower, const DepthwiseVectors *all,
                                       uint8_t *upper, uint8_t *lower) {
    DepthwiseVectors own = *all; /* which no store into bytes can change */
    const ptrdiff_t last = own.count - 1;
    own.finish.bytes = VECTOR_BYTES;
    if (own.x_last == last * own.x_step) {
        some_by_threes(threes, n_upper, n_both, n_lower, &own, own.at, own.count, upper, lower);
        return;
    }
    some_by_threes(threes, n_upper, n_both, n_lower, &own, own.at, last, upper, lower);
    some_by_threes(threes, n_upper, n_both, n_lower, &own, own.at + own.x_last, 1,
                   upper + own.out_last, lower + own.out_last);
}

/* One line of outputs where `lower` is NULL, else two; or their sums. */
static void depthwise_vectors(const DepthwiseVectors *d, uint8_t *upper, uint8_t *lower) {
    const int is_first_of_three = d->upper == 1 && d->both == 2 && d->lower == 1;
    const int is_all_both = d->upper == 0 && d->both == 3 && d->lower == 0;
    const int are_whole = lower && d->finished && d->finish.bytes == VECTOR_BYTES;
    const int threes = are_whole && !QUADS_FILL_REGISTERS ? (int)d->threes : 0;
    if (threes == 5 && is_first_of_three) {
        depthwise_by_threes(5, 1, 2, 1, d, upper, lower); /* 3 x 3, every other line */
    } else if (threes == 4 && is_all_both) {
        depthwise_by_threes(4, 0, 3, 0, d, upper, lower); /* 3 x 3 */
    } else if (are_whole) {
        depthwise_lines(2, 1, 1, d, upper, lower);
    } else if (lower && d->finished) {
        depthwise_lines(2, 1, 0, d, upper, lower);
    } else if (lower) {
        depthwise_lines(2, 0, 0, d, upper, lower);
    } else if (d->finished) {
        depthwise_lines(1, 1, 0, d, upper, upper);
    } else {
        depthwise_lines(1, 0, 0, d, upper, upper);
    }
}

#endif
