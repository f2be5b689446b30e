/* Attention of some queries of one head: `eq-attention`, as in numerics/attention.py.
 *
 * Their scores stay in a near cache, between a product with all keys and one with all values. */
#ifndef PYQREF_ATTENTION_ROWS_H
#define PYQREF_ATTENTION_ROWS_H

#include "activations/softmax.h"
#include "product/float_tile.h"

/* Queries (rows, depth), whose rows are so many floats apart; keys and values as panels; the bias
 * of a score, or NULL. Of causal ones, the first query looks at so many keys, the next at one more;
 * else `looks` is `keys`. */
typedef struct {
    const float *queries, *bias;
    ptrdiff_t query_row, bias_row, bias_column;
    const float *packed_keys, *packed_values;
    float *out;
    ptrdiff_t out_row, rows, keys, depth, columns, looks;
    int is_causal;
    float scale;
    float *scaled, *scores, *inverse; /* room for (rows, depth), (rows, score_row) and (rows,) */
    ptrdiff_t score_row;
} Head;

/* Powers of the scores of a query, in their place, and what is to be multiplied by the sum of their
 * products; keys at which it does not look have a power of 0. */
static float raise(const Head *h, ptrdiff_t row, float *scores) {
    const ptrdiff_t most = h->is_causal && h->looks + row < h->keys ? h->looks + row : h->keys;
    if (h->bias) {
        const float *bias = h->bias + row * h->bias_row;
        for (ptrdiff_t i = 0; i < most; ++i) scores[i] += bias[i * h->bias_column];
    }
    memset(scores + most, 0, (size_t)(h->keys - most) * sizeof(float));
    const float largest = largest_of(scores, most);
    if (h->bias && largest == -INFINITY) { /* of nan, too */
        ptrdiff_t i = 0;
        while (i < most && scores[i] == -INFINITY) ++i;
        if (i == most) {
            memset(scores, 0, (size_t)most * sizeof(float));
            return 1;
        }
    }
    return 1.0f / sum_over(POWERS, scores, NULL, largest, scores, most);
}

static void attend(const Head *h) {
    ptrdiff_t seen = h->is_causal ? h->looks + h->rows - 1 : h->keys;
    if (seen > h->keys) seen = h->keys;
    for (ptrdiff_t i = 0; i < h->rows; ++i) {
        scale_row(h->queries + i * h->query_row, h->scale, h->scaled + i * h->depth, h->depth);
    }
    /* There is room for whole vectors, which are filled with zeros. */
    float_product(h->scaled, h->depth, h->rows, h->packed_keys, h->depth,
                  (seen + SIMD_LANES - 1) / SIMD_LANES * SIMD_LANES, h->scores, h->score_row, 0);
    for (ptrdiff_t i = 0; i < h->rows; ++i) {
        h->inverse[i] = raise(h, i, h->scores + i * h->score_row);
    }
    float_product(h->scores, h->score_row, h->rows, h->packed_values, h->keys, h->columns, h->out,
                  h->out_row, 0);
    for (ptrdiff_t i = 0; i < h->rows; ++i) {
        scale_row(h->out + i * h->out_row, h->inverse[i], h->out + i * h->out_row, h->columns);
    }
}

#endif
