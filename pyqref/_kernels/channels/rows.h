/* Sums, layer and RMS normalization of rows, and the gradients: as in numerics/float_normalization.py. */
#ifndef PYQREF_ROWS_H
#define PYQREF_ROWS_H

#include "channels/places.h"

#define STRIP 64 /* columns that are added up side by side */
#define SPREAD 32 /* numbers that are added side by side, in float32 */
#define BLOCK_STEPS 8
#define SIDE_BY_SIDE (SPREAD / SIMD_LANES)

/* Rows of n numbers, and what is known of each: what is taken from it, and its factor. */
typedef struct {
    const float *x, *gradient, *weight, *bias; /* weight and bias or NULL */
    float *out, *centers, *factors, *more;
    ptrdiff_t rows, n, rows_a_task;
    double eps, count; /* by count are totals divided, which have no centers */
    int has_mean; /* else centers are 0 */
} NormRows;

/* `eq-sum-of-blocks`: what is added up in float32, and what earlier blocks came to. */
typedef struct {
    f32v part[SIDE_BY_SIDE];
    f64v total[PLACE_VECTORS];
} Blocks;

FUNCTION void start_sums(Blocks *b) {
    for (int v = 0; v < SIDE_BY_SIDE; ++v) b->part[v] = set_f32(0);
    for (int v = 0; v < PLACE_VECTORS; ++v) b->total[v] = set_f64(0);
}

FUNCTION void end_block(Blocks *b) {
    for (int v = 0; v < PLACE_VECTORS; ++v) {
        add_vector(b->total + v, add_f32(b->part[v], b->part[v + PLACE_VECTORS]));
    }
    for (int v = 0; v < SIDE_BY_SIDE; ++v) b->part[v] = set_f32(0);
}

FUNCTION float mean_of_blocks(const Blocks *b, double count) {
    return (float)(sum_of_vectors(b->total) / count);
}

/* A step of numbers, or of squares of what differs from the center, of which `left` are left. */
FUNCTION void add_step(const int what, Blocks *b, const float *x, const float *center,
                       ptrdiff_t left) {
    for (int v = 0; v < SIDE_BY_SIDE; ++v) {
        const ptrdiff_t at = v * SIMD_LANES;
        if (at >= left) return;
        f32v y = some_f32(x + at, left - at);
        if (what == SQUARE) {
            y = sub_f32(y, some_f32(center, left - at));
            y = mul_f32(y, y);
        }
        b->part[v] = add_f32(b->part[v], y);
    }
}

/* What the blocks of one row come to. */
FUNCTION void add_row(const int what, Blocks *b, const float *x, float center, ptrdiff_t n) {
    float same[SIMD_LANES];
    start_sums(b);
    store_f32(same, set_f32(center));
    for (ptrdiff_t i = 0; i < n;) {
        const ptrdiff_t end = n - i < BLOCK_STEPS * SPREAD ? n : i + BLOCK_STEPS * SPREAD;
        for (; i + SPREAD <= end; i += SPREAD) add_step(what, b, x + i, same, SPREAD);
        if (i < end) add_step(what, b, x + i, same, end - i);
        i = end;
        end_block(b);
    }
}

FUNCTION float mean_over(const int what, const float *x, float center, ptrdiff_t n,
                         double count) {
    Blocks b;
    add_row(what, &b, x, center, n);
    return mean_of_blocks(&b, count);
}

/* `eq-float-norm-moments`. */
static void moments_of_row(const NormRows *r, ptrdiff_t row) {
    const float *x = r->x + row * r->n;
    const float center = r->has_mean ? mean_over(ITSELF, x, 0, r->n, (double)r->n) : 0;
    r->centers[row] = center;
    r->factors[row] = mean_over(SQUARE, x, center, r->n, (double)r->n);
}

/* `eq-float-total`. */
static void total_of_row(const NormRows *r, ptrdiff_t row) {
    r->out[row] = mean_over(ITSELF, r->x + row * r->n, 0, r->n, r->count);
}

FUNCTION void put_normal(const NormRows *r, const float *x, float *out, ptrdiff_t i, f32v c,
                         f32v factor, ptrdiff_t left) {
    f32v y = mul_f32(sub_f32(some_f32(x + i, left), c), factor);
    if (r->weight) y = mul_f32(y, some_f32(r->weight + i, left));
    if (r->bias) y = add_f32(y, some_f32(r->bias + i, left));
    put_some(out + i, y, left);
}

/* Add `rows` numbers of each of `count` columns, at most SPREAD. */
FUNCTION void add_columns(f64v *sums, const float *x, ptrdiff_t rows, ptrdiff_t step, int count) {
    for (ptrdiff_t row = 0; row < rows; ++row, x += step) {
        for (int i = 0; i < count; i += SIMD_LANES) {
            add_vector(sums + i / SIMD_LANES, some_f32(x + i, count - i));
        }
    }
}

/* `eq-float-column-total`, of some columns of one group. */
static void total_columns(const NormRows *r, ptrdiff_t index) {
    const ptrdiff_t parts = (r->n + SPREAD - 1) / SPREAD;
    const ptrdiff_t group = index / parts, start = index % parts * SPREAD;
    const int count = (int)(r->n - start < SPREAD ? r->n - start : SPREAD);
    const float *x = r->x + group * r->rows * r->n + start;
    f64v sums[SIDE_BY_SIDE];
    memset(sums, 0, sizeof sums);
    if (count == SPREAD) {
        add_columns(sums, x, r->rows, r->n, SPREAD); /* in registers */
    } else {
        add_columns(sums, x, r->rows, r->n, count);
    }
    for (int i = 0; i < count; i += SIMD_LANES) {
        put_some(r->out + group * r->n + start + i, narrow_f64(sums[i / SIMD_LANES]), count - i);
    }
}

/* `eq-float-norm-moments`, `eq-float-norm`. */
static void normalize_row(const NormRows *r, ptrdiff_t row) {
    const float *x = r->x + row * r->n;
    float *out = r->out + row * r->n;
    moments_of_row(r, row);
    r->factors[row] = (float)(1 / sqrt((double)r->factors[row] + r->eps));
    const f32v c = set_f32(r->centers[row]), factor = set_f32(r->factors[row]);
    ptrdiff_t i = 0;
    for (; i + SIMD_LANES <= r->n; i += SIMD_LANES) {
        put_normal(r, x, out, i, c, factor, SIMD_LANES);
    }
    if (i < r->n) put_normal(r, x, out, i, c, factor, r->n - i);
}

/* The gradient times the weight, and what is normalized. */
FUNCTION f32v scaled_at(const NormRows *r, const float *g, ptrdiff_t i, ptrdiff_t left) {
    const f32v x = some_f32(g + i, left);
    return r->weight ? mul_f32(x, some_f32(r->weight + i, left)) : x;
}

FUNCTION f32v normal_at(const float *x, f32v center, f32v factor, ptrdiff_t left) {
    return mul_f32(sub_f32(some_f32(x, left), center), factor);
}

FUNCTION void add_gradient_step(const NormRows *r, Blocks *sums, Blocks *products, const float *g,
                                const float *x, ptrdiff_t i, f32v center, f32v factor,
                                ptrdiff_t left) {
    for (int v = 0; v < SIDE_BY_SIDE; ++v) {
        const ptrdiff_t at = v * SIMD_LANES;
        if (at >= left) return;
        const f32v scaled = scaled_at(r, g, i + at, left - at);
        const f32v normal = normal_at(x + i + at, center, factor, left - at);
        sums->part[v] = add_f32(sums->part[v], scaled);
        products->part[v] = add_f32(products->part[v], mul_f32(scaled, normal));
    }
}

FUNCTION void put_gradient(const NormRows *r, const float *g, const float *x, float *out,
                           ptrdiff_t i, f32v center, f32v factor, f32v mean, f32v slope,
                           ptrdiff_t left) {
    const f32v normal = normal_at(x + i, center, factor, left);
    const f32v y = sub_f32(sub_f32(scaled_at(r, g, i, left), mean), mul_f32(normal, slope));
    put_some(out + i, mul_f32(factor, y), left);
}

/* `eq-float-norm-gradient`. */
static void gradient_row(const NormRows *r, ptrdiff_t row) {
    const float *x = r->x + row * r->n, *g = r->gradient + row * r->n;
    float *out = r->out + row * r->n;
    const f32v center = set_f32(r->centers[row]), factor = set_f32(r->factors[row]);
    Blocks sums, products;
    ptrdiff_t i = 0;
    start_sums(&sums);
    start_sums(&products);
    while (i < r->n) {
        const ptrdiff_t end = r->n - i < BLOCK_STEPS * SPREAD ? r->n : i + BLOCK_STEPS * SPREAD;
        for (; i + SPREAD <= end; i += SPREAD) {
            add_gradient_step(r, &sums, &products, g, x, i, center, factor, SPREAD);
        }
        if (i < end) add_gradient_step(r, &sums, &products, g, x, i, center, factor, end - i);
        i = end;
        end_block(&sums);
        end_block(&products);
    }
    const f32v mean = set_f32(r->has_mean ? mean_of_blocks(&sums, (double)r->n) : 0);
    const f32v slope = set_f32(mean_of_blocks(&products, (double)r->n));
    for (i = 0; i + SIMD_LANES <= r->n; i += SIMD_LANES) {
        put_gradient(r, g, x, out, i, center, factor, mean, slope, SIMD_LANES);
    }
    if (i < r->n) put_gradient(r, g, x, out, i, center, factor, mean, slope, r->n - i);
}

/* `eq-float-norm-weight-gradient` of columns from `start` on: `more` gets that of the bias. */
static void gradient_columns(const NormRows *r, ptrdiff_t start) {
    const ptrdiff_t count = r->n - start < STRIP ? r->n - start : STRIP;
    f64v sums[STRIP / SIMD_LANES], products[STRIP / SIMD_LANES];
    memset(sums, 0, sizeof sums);
    memset(products, 0, sizeof products);
    for (ptrdiff_t row = 0; row < r->rows; ++row) {
        const float *x = r->x + row * r->n + start, *g = r->gradient + row * r->n + start;
        const f32v center = set_f32(r->centers[row]), factor = set_f32(r->factors[row]);
        for (ptrdiff_t i = 0; i < count; i += SIMD_LANES) {
            const f32v each = some_f32(g + i, count - i);
            add_vector(sums + i / SIMD_LANES, each);
            add_product(products + i / SIMD_LANES, each,
                        normal_at(x + i, center, factor, count - i));
        }
    }
    for (ptrdiff_t i = 0; i < count; i += SIMD_LANES) {
        put_some(r->out + start + i, narrow_f64(products[i / SIMD_LANES]), count - i);
        put_some(r->more + start + i, narrow_f64(sums[i / SIMD_LANES]), count - i);
    }
}

#endif
