/* Sums are made in PLACES places side by side, whatever the lanes of a vector, and are then added by
 * halves: sum_by_halves of numerics/float_softmax.py. */
#ifndef PYQREF_SUM_PLACES_H
#define PYQREF_SUM_PLACES_H

#define PLACES 16
#define PLACE_VECTORS (PLACES / SIMD_LANES)

static inline float sum_by_halves(float *places) {
    for (int half = PLACES / 2; half; half /= 2) {
        for (int i = 0; i < half; ++i) places[i] += places[i + half];
    }
    return places[0];
}

#endif
