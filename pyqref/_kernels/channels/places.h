/* Sums in double, made in PLACES places side by side whatever the lanes of a vector, which are then
 * added by halves: the order of numerics/moments.py and numerics/float_normalization.py.
 *
 * The header of an instruction set is included first. */
#ifndef PYQREF_PLACES_H
#define PYQREF_PLACES_H

#include <math.h>

#include "simd/functions.h"
#include "simd/partial.h"
#include "simd/places.h"

typedef struct { f64v part[PLACE_VECTORS]; } Places;

/* What is added up: a; the square of a - center; or a, and a * (b - center). */
enum Term { ITSELF, SQUARE, PRODUCT };

FUNCTION void add_vector(f64v *sum, f32v x) {
    *sum = add_f64(*sum, widen_f32(x));
}

FUNCTION void add_product(f64v *sum, f32v x, f32v y) {
    *sum = add_f64(*sum, mul_f64(widen_f32(x), widen_f32(y)));
}

static void add_number(const int what, double *first, double *second, const float *a,
                       const float *b, float center) {
    if (what == SQUARE) {
        const float centered = *a - center;
        *second += (double)centered * centered;
    } else {
        *first += *a;
        if (what == PRODUCT) *second += *a * (double)(*b - center);
    }
}

/* n numbers side by side. */
FUNCTION void add_line(const int what, Places *first, Places *second, const float *a,
                       const float *b, float center, ptrdiff_t n) {
    const f32v c = set_f32(center);
    Places one = *first, two = *second;
    ptrdiff_t i = 0;
    for (; i + PLACES <= n; i += PLACES) {
        for (int v = 0; v < PLACE_VECTORS; ++v) {
            const f32v x = load_f32(a + i + v * SIMD_LANES);
            if (what == SQUARE) {
                const f32v centered = sub_f32(x, c);
                add_product(two.part + v, centered, centered);
            } else {
                add_vector(one.part + v, x);
                if (what == PRODUCT) {
                    add_product(two.part + v, x, sub_f32(load_f32(b + i + v * SIMD_LANES), c));
                }
            }
        }
    }
    *first = one;
    *second = two;
    for (ptrdiff_t j = 0; i + j < n; ++j) {
        add_number(what, (double *)first + j, (double *)second + j, a + i + j, b + i + j, center);
    }
}

/* One place of STRIP_CHANNELS channels that lie side by side. */
enum { STRIP_CHANNELS = 32 };
typedef struct { f64v part[STRIP_CHANNELS / SIMD_LANES]; } Strip;

/* One pixel: a number for each of n channels. */
FUNCTION void add_pixel(const int what, Strip *first, Strip *second, const float *a,
                        const float *b, const float *centers, ptrdiff_t n) {
    ptrdiff_t i = 0;
    for (; i + SIMD_LANES <= n; i += SIMD_LANES) {
        const f32v x = load_f32(a + i);
        f64v *one = first->part + i / SIMD_LANES, *two = second->part + i / SIMD_LANES;
        if (what == SQUARE) {
            const f32v centered = sub_f32(x, load_f32(centers + i));
            add_product(two, centered, centered);
        } else {
            add_vector(one, x);
            if (what == PRODUCT) {
                add_product(two, x, sub_f32(load_f32(b + i), load_f32(centers + i)));
            }
        }
    }
    for (; i < n; ++i) {
        add_number(what, (double *)first + i, (double *)second + i, a + i, b + i,
                   what == ITSELF ? 0 : centers[i]);
    }
}

FUNCTION double sum_of_vectors(const f64v *sums) {
    f64v parts[PLACE_VECTORS];
    double places[SIMD_LANES];
    memcpy(parts, sums, sizeof parts);
    for (int half = PLACE_VECTORS / 2; half; half /= 2) {
        for (int i = 0; i < half; ++i) parts[i] = add_f64(parts[i], parts[i + half]);
    }
    memcpy(places, parts, sizeof places);
    for (int half = SIMD_LANES / 2; half; half /= 2) {
        for (int i = 0; i < half; ++i) places[i] += places[i + half];
    }
    return places[0];
}

static double sum_of_doubles(const double *sums) {
    return sum_of_vectors((const f64v *)sums);
}

#endif
