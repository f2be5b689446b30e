/* What is left of an array behind its last whole vector: n numbers, fewer than a vector has lanes.
 *
 * A loop over whole vectors is followed by one of these loads and one of these stores, which touch
 * no more memory than that. Lanes that are not loaded are 0. Headers whose instruction set loads and
 * stores by a mask define load_n_f32 and HAS_LOAD_N, store_n_f32 and HAS_STORE_N. The primitives of simd/ are included first. */
#ifndef PYQREF_PARTIAL_H
#define PYQREF_PARTIAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef HAS_LOAD_N
static inline f32v load_n_f32(const float *source, ptrdiff_t n) {
    float lanes[SIMD_LANES] = {0};
    memcpy(lanes, source, (size_t)n * sizeof(float));
    return load_f32(lanes);
}
#endif

#ifndef HAS_STORE_N
static inline void store_n_f32(float *target, f32v value, ptrdiff_t n) {
    float lanes[SIMD_LANES];
    store_f32(lanes, value);
    memcpy(target, lanes, (size_t)n * sizeof(float));
}
#endif

/* Bytes, widened to 32 bits; the lowest byte of each lane, stored. */
static inline i32v load_n_bytes(const uint8_t *source, int is_signed, ptrdiff_t n) {
    uint8_t lanes[SIMD_LANES] = {0};
    memcpy(lanes, source, (size_t)n);
    return is_signed ? load_s8((const int8_t *)lanes) : load_u8(lanes);
}
static inline void store_n_low_bytes(uint8_t *target, i32v value, ptrdiff_t n) {
    uint8_t lanes[SIMD_LANES];
    store_low_bytes(lanes, value);
    memcpy(target, lanes, (size_t)n);
}

#endif
