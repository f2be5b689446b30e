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

FUNCTION f32v some_f32(const float *source, ptrdiff_t left) {
    return left >= SIMD_LANES ? load_f32(source) : load_n_f32(source, left);
}

FUNCTION void put_some(float *target, f32v value, ptrdiff_t left) {
    if (left >= SIMD_LANES) {
        store_f32(target, value);
    } else {
        store_n_f32(target, value, left);
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
