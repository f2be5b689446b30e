/* Sums in the order of `eq-sum-of-blocks` of channels that lie side by side: a lane for each channel; and
 * the moments of groups of channels. */
#ifndef PYQREF_GROUPS_H
#define PYQREF_GROUPS_H

#include "channels/rows.h"

/* Images whose channels are last in memory or, where not `across`, lie one after the other. */
typedef struct {
    const float *x;
    float *means, *variances; /* of each group of each image */
    double *scratch; /* sums of an image, for as many images as are at work: see places_of */
    ptrdiff_t images, pixels, channels, groups;
    int across;
} Groups;

/* SPREAD channels, and the PLACES of each: place by place, a vector of doubles for some channels. */
typedef struct { f64v place[PLACES][SIDE_BY_SIDE]; } Lanes;

/* A number, or the square of what differs from the center. */
FUNCTION f32v term_of(const int what, const float *x, f32v center, ptrdiff_t left) {
    f32v y = some_f32(x, left);
    if (what == SQUARE) {
        y = sub_f32(y, center);
        y = mul_f32(y, y);
    }
    return y;
}

/* Every SPREAD-th of n pixels, which are `step` numbers apart. */
FUNCTION f32v sum_of_place(const int what, const float *x, f32v center, ptrdiff_t step,
                           ptrdiff_t n, ptrdiff_t left) {
    f32v sum = set_f32(0);
    for (ptrdiff_t i = 0; i < n; i += SPREAD) {
        sum = add_f32(sum, term_of(what, x + i * step, center, left));
    }
    return sum;
}

/* One block of at most BLOCK_STEPS * SPREAD pixels, `count` channels of each. */
FUNCTION void add_block(const int what, Lanes *sums, const float *x, const float *centers,
                        ptrdiff_t step, ptrdiff_t n, const ptrdiff_t count) {
    for (ptrdiff_t p = 0; p < PLACES && p < n; ++p) {
        for (ptrdiff_t c = 0; c < count; c += SIMD_LANES) {
            const float *at = x + p * step + c, *behind = at + PLACES * step;
            const ptrdiff_t left = count - c;
            const f32v center = what == SQUARE ? some_f32(centers + c, left) : set_f32(0);
            const f32v one = sum_of_place(what, at, center, step, n - p, left);
            const f32v other = sum_of_place(what, behind, center, step, n - p - PLACES, left);
            add_vector(sums->place[p] + c / SIMD_LANES, add_f32(one, other));
        }
    }
}

FUNCTION void add_blocks(const int what, Lanes *sums, const float *x, const float *centers,
                         ptrdiff_t step, ptrdiff_t pixels, ptrdiff_t count) {
    memset(sums, 0, sizeof *sums);
    for (ptrdiff_t i = 0; i < pixels; i += BLOCK_STEPS * SPREAD) {
        const ptrdiff_t rest = pixels - i;
        const ptrdiff_t n = rest < BLOCK_STEPS * SPREAD ? rest : BLOCK_STEPS * SPREAD;
        if (count == SPREAD) {
            add_block(what, sums, x + i * step, centers, step, n, SPREAD);
        } else {
            add_block(what, sums, x + i * step, centers, step, n, count);
        }
    }
}

/* `eq-float-total` of SPREAD channels that lie side by side. */
static void total_across(const NormRows *r, ptrdiff_t index) {
    const ptrdiff_t parts = (r->n + SPREAD - 1) / SPREAD;
    const ptrdiff_t image = index / parts, start = index % parts * SPREAD;
    const ptrdiff_t count = r->n - start < SPREAD ? r->n - start : SPREAD;
    float *out = r->out + image * r->n + start;
    Lanes sums;
    add_blocks(ITSELF, &sums, r->x + image * r->rows * r->n + start, NULL, r->n, r->rows, count);
    for (ptrdiff_t c = 0; c < count; c += SIMD_LANES) {
        f64v places[PLACES];
        for (int p = 0; p < PLACES; ++p) places[p] = sums.place[p][c / SIMD_LANES];
        for (int half = PLACES / 2; half; half /= 2) {
            for (int p = 0; p < half; ++p) places[p] = add_f64(places[p], places[p + half]);
        }
        put_some(out + c, narrow_f64(div_f64(places[0], set_f64(r->count))), count - c);
    }
}

/* Sums of an image: of each SPREAD channels PLACES lines of them, or of each channel PLACES. */
FUNCTION ptrdiff_t parts_of(const Groups *g) { return (g->channels + SPREAD - 1) / SPREAD; }

FUNCTION double *places_of(const Groups *g, ptrdiff_t slot) {
    return g->scratch + slot * parts_of(g) * PLACES * SPREAD;
}

/* What channels are centered on, which is the mean of their group. */
FUNCTION void put_centers(const Groups *g, ptrdiff_t image, ptrdiff_t start, ptrdiff_t count,
                          float *centers) {
    const ptrdiff_t each = g->channels / g->groups;
    ptrdiff_t group = start / each, left = (group + 1) * each - start;
    for (ptrdiff_t c = 0; c < count; ++c, --left) {
        if (!left) left = each, ++group;
        centers[c] = g->means[image * g->groups + group];
    }
}

/* The places of SPREAD channels of an image, or of as many as there are. */
FUNCTION void sum_part(const int what, const Groups *g, ptrdiff_t image, ptrdiff_t part,
                       ptrdiff_t slot) {
    const ptrdiff_t start = part * SPREAD;
    const ptrdiff_t count = g->channels - start < SPREAD ? g->channels - start : SPREAD;
    const float *x = g->x + image * g->pixels * g->channels;
    double *places = places_of(g, slot) + start * PLACES;
    float centers[SPREAD] = {0};
    if (what == SQUARE) put_centers(g, image, start, count, centers);
    if (g->across) {
        Lanes sums;
        add_blocks(what, &sums, x + start, centers, g->channels, g->pixels, count);
        memcpy(places, &sums, sizeof sums);
        return;
    }
    for (ptrdiff_t c = 0; c < count; ++c, places += PLACES) {
        Blocks b;
        add_row(what, &b, x + (start + c) * g->pixels, centers[c], g->pixels);
        memcpy(places, b.total, sizeof b.total);
    }
}

/* `eq-float-group-moments`: what the places of an image come to, channel by channel. */
FUNCTION void put_moments(const int what, const Groups *g, ptrdiff_t image, ptrdiff_t slot) {
    const ptrdiff_t each = g->channels / g->groups;
    const ptrdiff_t step = g->across ? SPREAD : 1; /* from place to place */
    const double *places = places_of(g, slot);
    float *out = (what == SQUARE ? g->variances : g->means) + image * g->groups;
    for (ptrdiff_t c = 0, group = 0; group < g->groups; ++group) {
        double total[PLACES] = {0};
        for (const ptrdiff_t end = c + each; c < end; ++c) {
            const double *of = places + c * PLACES;
            if (g->across) of = places + c / SPREAD * SPREAD * PLACES + c % SPREAD;
            for (int p = 0; p < PLACES; ++p) total[p] += of[p * step];
        }
        out[group] = (float)(sum_of_doubles(total) / (double)(each * g->pixels));
    }
}

#endif
