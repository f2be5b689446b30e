/* Primitives for NEON with i8mm, which adds four products of unsigned and signed bytes. */
#ifndef PYQREF_SIMD_NEON_I8MM_H
#define PYQREF_SIMD_NEON_I8MM_H

#include "neon.h"

#define INPUT_SHIFT 0

typedef uint8x16_t inputs_v; /* four activations, in every lane */

static inline inputs_v broadcast_inputs(const uint8_t *source) {
    return vreinterpretq_u8_u32(vdupq_n_u32(four_bytes(source)));
}
static inline i32v dot4(i32v sum, inputs_v x, weights_v w) { return vusdotq_s32(sum, x, w); }

typedef uint8x16_t quads_v;
static inline quads_v load_quads(const uint8_t *source) { return vld1q_u8(source); }
static inline void broadcast_quads(quads_v *quads, const uint8_t *source) {
    broadcast_each_quad(quads, source);
}
static inline void interleave_quads(quads_v *quads, const uint8_t *a, const uint8_t *b,
                               const uint8_t *c, const uint8_t *d) {
    interleave(quads, a, b, c, d);
}
static inline i32v dot4_quads(i32v sum, quads_v x, weights_v w) { return dot4(sum, x, w); }

#endif
