/* Sums in double over pixels whose channels lie side by side: a lane for each channel, and PLACES sums
 * of each, to which pixels go in turn, as in places.h. */
#ifndef PYQREF_ACROSS_H
#define PYQREF_ACROSS_H

#include "channels/places.h"

enum {
    STRIP_CHANNELS = 32, /* whose sums stay in registers */
    STRIP_VECTORS = STRIP_CHANNELS / SIMD_LANES,
    MOST_CHANNELS = 256, /* of a task: whole lines of memory are read, one after the other */
    BLOCK_PIXELS = 64 /* after which the next place has its turn, in pages nearby */
};
typedef struct { f64v place[PLACES][MOST_CHANNELS / SIMD_LANES]; } Strips;

FUNCTION void clear_strips(Strips *sums, ptrdiff_t count) {
    for (int p = 0; p < PLACES; ++p) {
        for (ptrdiff_t v = 0; v * SIMD_LANES < count; ++v) sums->place[p][v] = set_f64(0);
    }
}

/* Every PLACES-th of n pixels, which are `step` numbers apart: `count` channels of each. */
FUNCTION void add_place(const int what, f64v *first, f64v *second, const float *a,
                        const float *b, const float *centers, ptrdiff_t step, ptrdiff_t n,
                        const ptrdiff_t count) {
    f64v one[STRIP_VECTORS], two[STRIP_VECTORS];
    f32v center[STRIP_VECTORS];
    for (ptrdiff_t c = 0; c < count; c += SIMD_LANES) {
        const ptrdiff_t v = c / SIMD_LANES;
        if (what != SQUARE) one[v] = first[v];
        if (what != ITSELF) two[v] = second[v];
        if (what != ITSELF) center[v] = some_f32(centers + c, count - c);
    }
    for (ptrdiff_t i = 0; i < n; i += PLACES) {
        for (ptrdiff_t c = 0; c < count; c += SIMD_LANES) {
            const ptrdiff_t v = c / SIMD_LANES, at = i * step + c;
            const f32v x = some_f32(a + at, count - c);
            if (what == SQUARE) {
                const f32v centered = sub_f32(x, center[v]);
                add_product(two + v, centered, centered);
            } else {
                add_vector(one + v, x);
                if (what == PRODUCT) {
                    add_product(two + v, x, sub_f32(some_f32(b + at, count - c), center[v]));
                }
            }
        }
    }
    for (ptrdiff_t c = 0; c < count; c += SIMD_LANES) {
        const ptrdiff_t v = c / SIMD_LANES;
        if (what != SQUARE) first[v] = one[v];
        if (what != ITSELF) second[v] = two[v];
    }
}

/* n pixels of one image, `count` channels of each. */
FUNCTION void add_places(const int what, Strips *first, Strips *second, const float *a,
                         const float *b, const float *centers, ptrdiff_t step, ptrdiff_t n,
                         ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < n; i += BLOCK_PIXELS) {
        const ptrdiff_t pixels = n - i < BLOCK_PIXELS ? n - i : BLOCK_PIXELS;
        for (ptrdiff_t p = 0; p < PLACES && p < pixels; ++p) {
            for (ptrdiff_t c = 0; c < count; c += STRIP_CHANNELS) {
                const ptrdiff_t at = (i + p) * step + c, v = c / SIMD_LANES;
                f64v *one = first->place[p] + v, *two = second->place[p] + v;
                if (count - c >= STRIP_CHANNELS) {
                    add_place(what, one, two, a + at, b + at, centers + c, step, pixels - p,
                              STRIP_CHANNELS);
                } else {
                    add_place(what, one, two, a + at, b + at, centers + c, step, pixels - p,
                              count - c);
                }
            }
        }
    }
}

/* The places by halves, over a number. */
FUNCTION void put_sums(Strips *sums, double divisor, float *out, ptrdiff_t count) {
    for (ptrdiff_t c = 0; c < count; c += SIMD_LANES) {
        f64v places[PLACES];
        for (int p = 0; p < PLACES; ++p) places[p] = sums->place[p][c / SIMD_LANES];
        for (int half = PLACES / 2; half; half /= 2) {
            for (int p = 0; p < half; ++p) places[p] = add_f64(places[p], places[p + half]);
        }
        put_some(out + c, narrow_f64(div_f64(places[0], set_f64(divisor))), count - c);
    }
}

#endif
