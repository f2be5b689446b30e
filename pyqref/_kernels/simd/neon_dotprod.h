/* Primitives for NEON with dotprod, which adds four products of bytes of the same sign: inputs
 * are taken as signed, 128 lower, as INPUT_SHIFT tells. */
#ifndef PYQREF_SIMD_NEON_DOTPROD_H
#define PYQREF_SIMD_NEON_DOTPROD_H

#include "neon.h"

#define INPUT_SHIFT 128

typedef int8x16_t inputs_v; /* four activations, in every lane */

static inline inputs_v broadcast_inputs(const uint8_t *source) {
    return vreinterpretq_s8_u32(vdupq_n_u32(four_bytes(source) ^ 0x80808080u));
}
static inline i32v dot4(i32v sum, inputs_v x, weights_v w) { return vdotq_s32(sum, x, w); }

typedef int8x16_t quads_v;
static inline quads_v load_quads(const uint8_t *source) {
    return vreinterpretq_s8_u8(veorq_u8(vld1q_u8(source), vdupq_n_u8(0x80)));
}
static inline void broadcast_quads(quads_v *quads, const uint8_t *source) {
    uint8x16_t copies[4];
    broadcast_each_quad(copies, source);
    for (int v = 0; v < 4; ++v) {
        quads[v] = vreinterpretq_s8_u8(veorq_u8(copies[v], vdupq_n_u8(0x80)));
    }
}
static inline void interleave_quads(quads_v *quads, const uint8_t *a, const uint8_t *b,
                               const uint8_t *c, const uint8_t *d) {
    uint8x16_t woven[4];
    interleave(woven, a, b, c, d);
    for (int v = 0; v < 4; ++v) {
        quads[v] = vreinterpretq_s8_u8(veorq_u8(woven[v], vdupq_n_u8(0x80)));
    }
}
static inline i32v dot4_quads(i32v sum, quads_v x, weights_v w) { return dot4(sum, x, w); }

#endif
