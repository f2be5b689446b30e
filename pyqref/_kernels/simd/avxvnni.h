/* Primitives for AVX-VNNI: those of AVX2, and four products of bytes added in one instruction. */
#ifndef PYQREF_SIMD_AVXVNNI_H
#define PYQREF_SIMD_AVXVNNI_H

#define SIMD_HAS_DOT4
#include "avx2.h"

#define TILE_ROWS 6
#define TILE_VECTORS 2
#define INPUT_SHIFT 0
#define PAIR_PRICE 2

typedef __m256i inputs_v;  /* four activations, in every lane */
typedef __m256i weights_v; /* four weights of each of 8 columns */

static inline i32v dot2(i32v sum, i16v a, i16v b) { return _mm256_dpwssd_avx_epi32(sum, a, b); }
static inline i32v multiply_add_i16(i32v c, i32v a, i32v b) { return dot2(c, a, b); }
static inline inputs_v broadcast_inputs(const uint8_t *source) {
    int32_t four;
    memcpy(&four, source, 4);
    return _mm256_set1_epi32(four);
}
static inline weights_v load_weights(const int8_t *source) {
    return _mm256_loadu_si256((const __m256i *)source);
}
static inline i32v dot4(i32v sum, inputs_v x, weights_v w) {
    return _mm256_dpbusd_avx_epi32(sum, x, w);
}
typedef __m256i quads_v;
static inline quads_v load_quads(const uint8_t *source) { return load_vector(source); }
static inline void broadcast_quads(quads_v *quads, const uint8_t *source) {
    broadcast_each_quad(quads, source);
}
static inline void interleave_quads(quads_v *quads, const uint8_t *a, const uint8_t *b,
                               const uint8_t *c, const uint8_t *d) {
    interleave(quads, a, b, c, d);
}
static inline i32v dot4_quads(i32v sum, quads_v x, weights_v w) { return dot4(sum, x, w); }

#endif
