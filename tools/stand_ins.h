/* Instructions that few processors have, in C: included before everything by tools/x86-tests.
 *
 * AVX512 with VNNI in a header of its own, AVX-VNNI, and AMX-INT8 with its registers of up to 16
 * rows of 64 bytes, one set a thread. What a processor would refuse (shapes that do not fit,
 * registers that are not configured) ends the process. Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2. */
#ifndef STAND_INS_H
#define STAND_INS_H
#if defined(__AVX2__)

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void stand_in_refuses(const char *why) {
    fprintf(stderr, "a processor would refuse this: %s\n", why);
    abort();
}

#if !defined(__AVX512F__)
#include "stand_ins_avx512.h"
#endif

/* --- AVX-VNNI ------------------------------------------------------------------------- */

typedef union {
    __m256i vector;
    int32_t sums[8];
    int16_t pairs[16];
    uint8_t inputs[32];
    int8_t weights[32];
} StandInVector;

static inline __m256i stand_in_dpbusd(__m256i c, __m256i a, __m256i b) {
    StandInVector sum, x, w;
    sum.vector = c, x.vector = a, w.vector = b;
    for (int i = 0; i < 32; ++i)
        sum.sums[i / 4] = (int32_t)((uint32_t)sum.sums[i / 4]
                                    + (uint32_t)(x.inputs[i] * w.weights[i]));
    return sum.vector;
}
static inline __m256i stand_in_dpwssd(__m256i c, __m256i a, __m256i b) {
    StandInVector sum, x, w;
    sum.vector = c, x.vector = a, w.vector = b;
    for (int i = 0; i < 16; ++i)
        sum.sums[i / 2] = (int32_t)((uint32_t)sum.sums[i / 2]
                                    + (uint32_t)(x.pairs[i] * w.pairs[i]));
    return sum.vector;
}
#undef _mm256_dpbusd_avx_epi32
#undef _mm256_dpwssd_avx_epi32
#define _mm256_dpbusd_avx_epi32 stand_in_dpbusd
#define _mm256_dpwssd_avx_epi32 stand_in_dpwssd

/* --- AMX-INT8 --------------------------------------------------------------------------- */

typedef struct {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} StandInShapes;

static __thread StandInShapes stand_in_shapes;
static __thread union {
    uint8_t bytes[16][64];
    int32_t sums[16][16];
} stand_in_tiles[8];

static inline void stand_in_loadconfig(const void *source) {
    memcpy(&stand_in_shapes, source, sizeof stand_in_shapes);
    memset(stand_in_tiles, 0, sizeof stand_in_tiles);
    if (stand_in_shapes.palette != 1) stand_in_refuses("palette");
    for (int i = 0; i < 16; ++i)
        if (stand_in_shapes.rows[i] > 16 * (i < 8) || stand_in_shapes.row_bytes[i] > 64 * (i < 8)
            || !stand_in_shapes.rows[i] != !stand_in_shapes.row_bytes[i])
            stand_in_refuses("shapes");
}
static inline void stand_in_release(void) { memset(&stand_in_shapes, 0, sizeof stand_in_shapes); }
static inline void stand_in_require(int tile) {
    if (!stand_in_shapes.rows[tile]) stand_in_refuses("a tile that is not configured");
}
static inline void stand_in_zero(int tile) {
    stand_in_require(tile);
    memset(&stand_in_tiles[tile], 0, sizeof stand_in_tiles[tile]);
}
static inline void stand_in_loadd(int tile, const void *source, ptrdiff_t stride) {
    stand_in_zero(tile);
    for (int row = 0; row < stand_in_shapes.rows[tile]; ++row)
        memcpy(stand_in_tiles[tile].bytes[row], (const char *)source + row * stride,
               stand_in_shapes.row_bytes[tile]);
}
static inline void stand_in_stored(int tile, void *target, ptrdiff_t stride) {
    stand_in_require(tile);
    for (int row = 0; row < stand_in_shapes.rows[tile]; ++row)
        memcpy((char *)target + row * stride, stand_in_tiles[tile].bytes[row],
               stand_in_shapes.row_bytes[tile]);
}
static inline void stand_in_tile_dpbusd(int sums, int inputs, int weights) {
    const StandInShapes *shape = &stand_in_shapes;
    stand_in_require(sums);
    if (shape->rows[sums] != shape->rows[inputs]
        || shape->row_bytes[inputs] != 4 * shape->rows[weights]
        || shape->row_bytes[sums] != shape->row_bytes[weights])
        stand_in_refuses("tiles that do not fit each other");
    for (int row = 0; row < shape->rows[sums]; ++row)
        for (int quad = 0; quad < shape->rows[weights]; ++quad) {
            const uint8_t *x = stand_in_tiles[inputs].bytes[row] + 4 * quad;
            const int8_t *w = (const int8_t *)stand_in_tiles[weights].bytes[quad];
            int32_t *sum = stand_in_tiles[sums].sums[row];
            for (int column = 0; column < shape->row_bytes[sums] / 4; ++column)
                for (int i = 0; i < 4; ++i)
                    sum[column] = (int32_t)((uint32_t)sum[column]
                                            + (uint32_t)(x[i] * w[4 * column + i]));
        }
}
#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbusd
#define _tile_loadconfig stand_in_loadconfig
#define _tile_release stand_in_release
#define _tile_zero stand_in_zero
#define _tile_loadd stand_in_loadd
#define _tile_stored stand_in_stored
#define _tile_dpbusd stand_in_tile_dpbusd

#endif
#endif
