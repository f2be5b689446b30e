/* Products of bytes for AVX2, which has no instruction for four of them: included by avx2.h. */
#ifndef PYQREF_SIMD_AVX2_PRODUCTS_H
#define PYQREF_SIMD_AVX2_PRODUCTS_H

#define TILE_ROWS 4
#define TILE_VECTORS 2
#define QUADS_FILL_REGISTERS 1
#define INPUT_SHIFT 0
#define PAIR_PRICE 1

typedef struct { __m256i even, odd; } inputs_v;  /* four activations, in every lane, as 16 bits */
typedef struct { __m256i even, odd; } weights_v; /* four weights of 8 columns, as 16 bits */

static inline i32v dot2(i32v sum, i16v a, i16v b) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}
static inline i32v multiply_add_i16(i32v c, i32v a, i32v b) { return dot2(c, a, b); }
typedef inputs_v quads_v;

static inline inputs_v widened(__m256i bytes) {
    inputs_v x = {_mm256_and_si256(bytes, _mm256_set1_epi16(0xff)), _mm256_srli_epi16(bytes, 8)};
    return x;
}
static inline inputs_v broadcast_inputs(const uint8_t *source) {
    int32_t four;
    memcpy(&four, source, 4);
    return widened(_mm256_set1_epi32(four));
}
static inline quads_v load_quads(const uint8_t *source) { return widened(load_vector(source)); }
static inline void broadcast_quads(quads_v *quads, const uint8_t *source) {
    __m256i copies[4];
    broadcast_each_quad(copies, source);
    for (int v = 0; v < 4; ++v) quads[v] = widened(copies[v]);
}
static inline void interleave_quads(quads_v *quads, const uint8_t *a, const uint8_t *b,
                               const uint8_t *c, const uint8_t *d) {
    __m256i woven[4];
    interleave(woven, a, b, c, d);
    for (int v = 0; v < 4; ++v) quads[v] = widened(woven[v]);
}
static inline weights_v load_weights(const int8_t *source) {
    __m256i bytes = _mm256_loadu_si256((const __m256i *)source);
    weights_v w = {_mm256_srai_epi16(_mm256_slli_epi16(bytes, 8), 8), _mm256_srai_epi16(bytes, 8)};
    return w;
}
static inline i32v dot4(i32v sum, inputs_v x, weights_v w) {
    __m256i even = _mm256_madd_epi16(x.even, w.even);
    __m256i odd = _mm256_madd_epi16(x.odd, w.odd);
    return _mm256_add_epi32(sum, _mm256_add_epi32(even, odd));
}
static inline i32v dot4_quads(i32v sum, quads_v x, weights_v w) { return dot4(sum, x, w); }

/* The instruction that adds two products of bytes in 16 bits saturates, but not for inputs below
 * 128. So where few inputs are larger, their low seven bits are multiplied by it, bytes as they lie,
 * and the top bits of those few apart. */
#define HAS_FEW_LARGE 1
static inline bytes_v broadcast_quad(const uint8_t *source) {
    int32_t four;
    memcpy(&four, source, 4);
    return _mm256_set1_epi32(four);
}
static inline bytes_v load_quads_of(const uint8_t *source) { return load_vector(source); }
static inline bytes_v load_quad_weights(const int8_t *source) {
    return _mm256_loadu_si256((const __m256i *)source);
}
static inline int has_top_bits(bytes_v x) { return _mm256_movemask_epi8(x) != 0; }
static inline bytes_v low_bits(bytes_v x) { return _mm256_and_si256(x, _mm256_set1_epi8(127)); }
static inline i32v dot4_small(i32v sum, bytes_v x, bytes_v w) {
    const __m256i pairs = _mm256_maddubs_epi16(x, w);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
static inline i32v dot4_top_bits(i32v sum, bytes_v x, bytes_v w) {
    const __m256i top = _mm256_and_si256(_mm256_srli_epi16(x, 7), _mm256_set1_epi8(1));
    const __m256i pairs = _mm256_maddubs_epi16(top, w);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(128)));
}

#endif
