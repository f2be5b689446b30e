/* From the sums of a tile, in registers, to the bytes or real numbers that are stored. */
#ifndef PYQREF_TILE_FINISH_H
#define PYQREF_TILE_FINISH_H

#include <string.h>

#include "product/tile_shape.h"

/* The first `count` lanes of a vector, of which there may be more or none. */
ALWAYS_INLINE void store_some_f32(float *target, f32v value, int count) {
    float rest[SIMD_LANES];
    if (count >= SIMD_LANES) {
        store_f32(target, value);
    } else if (count > 0) {
        store_f32(rest, value);
        memcpy(target, rest, count * sizeof(float));
    }
}

/* Whether bytes of one row follow those of another, and all columns of vectors are stored. */
ALWAYS_INLINE int lie_without_gaps(const int vectors, const Tile *tile) {
    const int columns = vectors * SIMD_LANES;
    return tile->used == columns && tile->out_stride == columns;
}

/* Unsigned bytes of vectors from `from`: eq-requantize-bias, then eq-requantize. No real number is
 * nan or reaches 2^31, so the packing that saturates takes the place of bounds for each. Where the
 * multiplier of the bias is 1, a `plain` sum has the same bits, and is no work of the units that
 * multiply. */
ALWAYS_INLINE void finish_bytes_of(const int rows, const int from, const int vectors,
                                   i32v sum[MOST_TILE_ROWS][WIDE_VECTORS], const Tile *tile,
                                   const int plain) {
    const int together = 4 / vectors; /* rows that are packed into one vector of bytes */
    const f32v bias_multiplier = set_f32(tile->bias_multiplier);
    const int zero_point = tile->zero_point, lower = tile->lower, upper = tile->upper;
    const int bounded = lower > 0 || upper < 255, column = from * SIMD_LANES;
    const int left = tile->used - column, columns = vectors * SIMD_LANES;
    const int used = left < columns ? left : columns;
    const float *const multiplier = tile->multiplier + column, *const bias = tile->bias + column;
    const ptrdiff_t out_stride = tile->out_stride;
    uint8_t *out = tile->out + column;
    const int gapless = 4 % vectors == 0 && lie_without_gaps(vectors, tile);
    UNROLL for (int first = 0; first < rows; first += together) {
        f32v real[4];
        UNROLL for (int i = 0; i < 4; ++i) {
            const int r = first + i / vectors, v = i % vectors;
            if (i < together * vectors && r < rows) {
                const f32v added = load_f32(bias + v * SIMD_LANES);
                real[i] = to_f32(sum[r][from + v]);
                real[i] = plain ? add_f32(real[i], added)
                                : fma_f32(added, bias_multiplier, real[i]);
                real[i] = mul_f32(real[i], load_f32(multiplier + v * SIMD_LANES));
            } else {
                real[i] = real[0];
            }
        }
        bytes_v bytes = pack_rounded_u8(real[0], real[1], real[2], real[3], zero_point);
        if (bounded) bytes = clamp_u8(bytes, lower, upper);
        if (together > 1 && first + together <= rows && gapless) {
            store_quarters(out, bytes, 0, 4, 4 * SIMD_LANES);
            out += 4 * SIMD_LANES;
            continue;
        }
        UNROLL for (int i = 0; i < together; ++i) {
            if (first + i < rows) {
                store_quarters(out, bytes, i * vectors, vectors, used);
                out += out_stride;
            }
        }
    }
}

/* The same of all vectors, with the code for each kind of bias. */
ALWAYS_INLINE void finish_bytes_of_all(const int rows, const int vectors,
                                       i32v sum[MOST_TILE_ROWS][WIDE_VECTORS],
                                       const Tile *tile) {
    const int group = vectors < TILE_VECTORS ? vectors : TILE_VECTORS;
    if (tile->bias_multiplier == 1.0f) {
        UNROLL for (int v = 0; v < vectors; v += group) {
            finish_bytes_of(rows, v, group, sum, tile, 1);
        }
    } else {
        UNROLL for (int v = 0; v < vectors; v += group) {
            finish_bytes_of(rows, v, group, sum, tile, 0);
        }
    }
}

/* eq-dynamic-output, for rows from `first` to before `end` */
ALWAYS_INLINE void finish_reals_of(const int first, const int end, const int vectors,
                                   i32v sum[MOST_TILE_ROWS][WIDE_VECTORS], const Tile *tile) {
    const int is_fused = tile->store == FUSED, streams = tile->streams, used = tile->used;
    const ptrdiff_t out_stride = tile->out_stride;
    uint8_t *out = tile->out + first * out_stride;
    UNROLL for (int r = first; r < end; ++r) {
        UNROLL for (int v = 0; v < vectors; ++v) {
            const f32v multiplier = load_f32(tile->multiplier + v * SIMD_LANES);
            const f32v bias = load_f32(tile->bias + v * SIMD_LANES);
            const f32v value = to_f32(sum[r][v]);
            const f32v real = is_fused ? fma_f32(value, multiplier, bias)
                                       : add_f32(mul_f32(value, multiplier), bias);
            float *const target = (float *)out + v * SIMD_LANES;
            if (streams) {
                stream_f32(target, real);
            } else {
                store_some_f32(target, real, used - v * SIMD_LANES);
            }
        }
        out += out_stride;
    }
}

/* Lines of results come from memory while sums are made: those that 64 bytes, or more such, begin in,
 * and where they do not begin with a line, the one that they end in. */
ALWAYS_INLINE void expect_results(const int rows, const int vectors, const Tile *tile) {
    const int columns = vectors * SIMD_LANES;
    const uint8_t *out = tile->out;
    if (tile->store == BYTES && columns < 64 && lie_without_gaps(vectors, tile)) {
        UNROLL for (int b = 0; b < rows * columns; b += 64) WILL_BE_WRITTEN(out + b);
    } else if (tile->store == BYTES) {
        UNROLL for (int r = 0; r < rows; ++r) {
            WILL_BE_WRITTEN(out);
            if (columns == PANEL_COLUMNS && (size_t)out % 64) WILL_BE_WRITTEN(out + columns - 1);
            out += tile->out_stride;
        }
    } else if (tile->store != SUMS && !tile->streams) {
        for (int r = 0; r < rows; ++r) {
            for (int b = 0; b < 4 * columns; b += 64) WILL_BE_WRITTEN(out + b);
            if ((size_t)out % 64) WILL_BE_WRITTEN(out + 4 * columns - 1);
            out += tile->out_stride;
        }
    }
}

#endif
