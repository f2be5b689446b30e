/* The three transforms of Winograd's convolution (eq-winograd), F(4 x 4, 3 x 3), and the products
 * between them, in whole numbers.
 *
 * With the points 0, 1, -1, 2, -2 and infinity, 36 products give the 16 outputs of a tile that take
 * 144 otherwise. What is usually divided by 24 along each axis stays whole here: weights are
 * multiplied by as much, and sums divided at the end. All is exact. Inputs, 128 lower than unsigned
 * bytes, become at most 100 times, weights 144 times as large, which 16 bits hold. Sums are right
 * modulo 2^32. There they are divided by 9, by its inverse, and then by 64, by a shift, since the sum
 * that is left has 26 bits: see EXACT_CHANNELS.
 *
 * It is written once over the primitives of simd/, whose header is included first. */
#ifndef PYQREF_WINOGRAD_H
#define PYQREF_WINOGRAD_H

#include "product/tile.h"

#define TILE_OUTPUTS 4                  /* along each axis, */
#define TILE_INPUTS 6                   /* of as many inputs */
#define POSITIONS 36                    /* in a tile */
#define EXACT_CHANNELS 128              /* at a time: 9 * 128 * 128 * 128 < 2^25 */
#define CENTRE 128                      /* by which inputs are lowered */
#define INVERSE_OF_9 0x38e38e39         /* modulo 2^32 */

#if PAIR_PRICE

#if MOST_TILE_ROWS < 2
#error "finish_vectors finishes two pixels at a time, or four"
#endif
#define FINISHED (MOST_TILE_ROWS < TILE_OUTPUTS ? 2 : TILE_OUTPUTS) /* pixels in registers */

/* Sums have more units than shifts. */
ALWAYS_INLINE i16v twice_i16(i16v a) { return add_i16(a, a); }
ALWAYS_INLINE i32v twice_i32(i32v a) { return add_i32(a, a); }

ALWAYS_INLINE void transform_input_line(const i16v d[TILE_INPUTS], i16v t[TILE_INPUTS]) {
    const i16v a = sub_i16(d[4], shl_i16(d[2], 2)), b = sub_i16(d[3], shl_i16(d[1], 2));
    const i16v c = sub_i16(d[4], d[2]), e = twice_i16(sub_i16(d[3], d[1]));
    t[0] = add_i16(shl_i16(sub_i16(d[0], d[2]), 2), c);             /* 4, 0, -5, 0, 1, 0 */
    t[1] = add_i16(a, b);                                           /* 0, -4, -4, 1, 1, 0 */
    t[2] = sub_i16(a, b);                                           /* 0, 4, -4, -1, 1, 0 */
    t[3] = add_i16(c, e);                                           /* 0, -2, -1, 2, 1, 0 */
    t[4] = sub_i16(c, e);                                           /* 0, 2, -1, -2, 1, 0 */
    t[5] = sub_i16(sub_i16(d[5], d[3]), twice_i16(e));             /* 0, 4, 0, -5, 0, 1 */
}

/* Some channels of a tile, a multiple of 2 * SIMD_LANES; each position is `apart` from the last. Of
 * equal inputs only the second sum along each axis is not zero, but -6 times one of them. */
static void transform_inputs(const uint8_t *const pixels[POSITIONS], int channels,
                             int16_t *target, ptrdiff_t apart) {
    for (int c = 0; c < channels; c += 2 * SIMD_LANES) {
        i16v lines[TILE_INPUTS][TILE_INPUTS];
        UNROLL for (int x = 0; x < TILE_INPUTS; ++x) {
            i16v d[TILE_INPUTS], t[TILE_INPUTS];
            UNROLL for (int y = 0; y < TILE_INPUTS; ++y) {
                d[y] = widen_u8(pixels[y * TILE_INPUTS + x] + c);
            }
            transform_input_line(d, t);
            UNROLL for (int y = 0; y < TILE_INPUTS; ++y) lines[y][x] = t[y];
        }
        UNROLL for (int y = 0; y < TILE_INPUTS; ++y) {
            i16v t[TILE_INPUTS];
            transform_input_line(lines[y], t);
            if (y == 1) t[1] = sub_i16(t[1], set_i16(36 * CENTRE));
            UNROLL for (int x = 0; x < TILE_INPUTS; ++x) {
                store_i16(target + (y * TILE_INPUTS + x) * apart + c, t[x]);
            }
        }
    }
}

ALWAYS_INLINE void transform_weight_line(const i16v g[3], i16v u[TILE_INPUTS]) {
    const i16v outer = add_i16(g[0], g[2]);
    const i16v even = add_i16(g[0], shl_i16(g[2], 2)), odd = twice_i16(g[1]);
    u[0] = add_i16(shl_i16(g[0], 2), twice_i16(g[0]));             /* 6, 0, 0 */
    u[1] = shl_i16(sub_i16(set_i16(0), add_i16(outer, g[1])), 2);   /* -4, -4, -4 */
    u[2] = shl_i16(sub_i16(g[1], outer), 2);                        /* -4, 4, -4 */
    u[3] = add_i16(even, odd);                                      /* 1, 2, 4 */
    u[4] = sub_i16(even, odd);                                      /* 1, -2, 4 */
    u[5] = add_i16(shl_i16(g[2], 3), shl_i16(g[2], 2));             /* 0, 0, 12 */
}

/* One pair of channels of each quad, of a vector of columns. */
ALWAYS_INLINE void transform_pairs(const int second, const int8_t *panel, ptrdiff_t tap,
                                   int16_t *target, ptrdiff_t apart) {
    i16v lines[TILE_INPUTS][3];
    UNROLL for (int x = 0; x < 3; ++x) {
        i16v g[3], u[TILE_INPUTS];
        UNROLL for (int y = 0; y < 3; ++y) g[y] = widen_pairs(panel + (3 * y + x) * tap, second);
        transform_weight_line(g, u);
        UNROLL for (int y = 0; y < TILE_INPUTS; ++y) lines[y][x] = u[y];
    }
    UNROLL for (int y = 0; y < TILE_INPUTS; ++y) {
        i16v u[TILE_INPUTS];
        transform_weight_line(lines[y], u);
        UNROLL for (int x = 0; x < TILE_INPUTS; ++x) {
            store_i16(target + (y * TILE_INPUTS + x) * apart, u[x]);
        }
    }
}

/* Some quads of channels of a panel, whose taps are `tap` bytes apart; a position of the target is
 * pairs of channels by columns. */
static void transform_weights(const int8_t *panel, ptrdiff_t tap, int width, int quads,
                              int16_t *target, ptrdiff_t apart) {
    for (int quad = 0; quad < quads; ++quad, target += 4 * width, panel += 4 * width) {
        for (int column = 0; column < width; column += SIMD_LANES) {
            transform_pairs(0, panel + 4 * column, tap, target + 2 * column, apart);
            transform_pairs(1, panel + 4 * column, tap, target + 2 * (width + column), apart);
        }
    }
}

/* The products at one position: some tiles by some columns. */
ALWAYS_INLINE void multiply_pairs_of(const int rows, const int vectors, const int16_t *x,
                                     ptrdiff_t x_step, ptrdiff_t pairs, const int16_t *panel,
                                     ptrdiff_t step, const int16_t *ahead, int32_t *sums) {
    i32v sum[PAIR_ROWS][TILE_VECTORS];
    UNROLL for (int r = 0; r < rows; ++r) {
        UNROLL for (int v = 0; v < vectors; ++v) sum[r][v] = set_i32(0);
    }
    for (ptrdiff_t pair = 0; pair < pairs; ++pair, panel += step, x += 2) {
        i16v weights[TILE_VECTORS];
        UNROLL for (int v = 0; v < vectors; ++v) {
            weights[v] = load_i16(panel + 2 * v * SIMD_LANES);
        }
        UNROLL for (int v = 0; v < 2; ++v) WILL_BE_READ(ahead + 32 * v);
        ahead += step;
        UNROLL for (int r = 0; r < rows; ++r) {
            const i16v inputs = broadcast_pair(x + r * x_step);
            UNROLL for (int v = 0; v < vectors; ++v) {
                sum[r][v] = dot2(sum[r][v], inputs, weights[v]);
            }
        }
    }
    UNROLL for (int r = 0; r < rows; ++r) {
        UNROLL for (int v = 0; v < vectors; ++v) {
            store_i32(sums + r * PANEL_COLUMNS + v * SIMD_LANES, sum[r][v]);
        }
    }
}

#define PAIRS_OF(rows, vectors) \
    multiply_pairs_of(rows, vectors, x, x_step, pairs, panel, step, ahead, sums)
#define PAIRS_FOR_ROWS(vectors)                \
    switch (rows) {                            \
        case 1: PAIRS_OF(1, vectors); return;  \
        case 2: PAIRS_OF(2, vectors); return;  \
        PAIRS_3_TO_6(vectors)                  \
    }
#if PAIR_ROWS == 6
#define PAIRS_3_TO_6(vectors)                  \
    case 3: PAIRS_OF(3, vectors); return;      \
    case 4: PAIRS_OF(4, vectors); return;      \
    case 5: PAIRS_OF(5, vectors); return;      \
    case 6: PAIRS_OF(6, vectors); return;
#else
#define PAIRS_3_TO_6(vectors)
#endif

static void multiply_pairs(int rows, int vectors, const int16_t *x, ptrdiff_t x_step,
                           ptrdiff_t pairs, const int16_t *panel, ptrdiff_t step,
                           const int16_t *ahead, int32_t *sums) {
#if SIMD_LANES == 16
    switch (vectors) {
        case 1: PAIRS_FOR_ROWS(1) return;
        case 2: PAIRS_FOR_ROWS(2) return;
        case 3: PAIRS_FOR_ROWS(3) return;
    }
#endif
    PAIRS_FOR_ROWS(TILE_VECTORS)
}

ALWAYS_INLINE void transform_output_line(const i32v m[TILE_INPUTS], i32v y[TILE_OUTPUTS]) {
    const i32v p = add_i32(m[1], m[2]), q = sub_i32(m[1], m[2]);
    const i32v r = add_i32(m[3], m[4]), s = sub_i32(m[3], m[4]);
    y[0] = add_i32(m[0], add_i32(p, r));                            /* 1, 1, 1, 1, 1, 0 */
    y[1] = add_i32(q, twice_i32(s));                               /* 0, 1, -1, 2, -2, 0 */
    y[2] = add_i32(p, shl_i32(r, 2));                               /* 0, 1, 1, 4, 4, 0 */
    y[3] = add_i32(add_i32(q, twice_i32(m[5])), shl_i32(s, 3));    /* 0, 1, -1, 8, -8, 2 */
}

/* Of one vector of columns, the 16 sums of a tile. */
ALWAYS_INLINE void transform_products(const int32_t *products, ptrdiff_t apart,
                                      i32v sum[TILE_OUTPUTS][TILE_OUTPUTS]) {
    const i32v inverse = set_i32(INVERSE_OF_9);
    i32v lines[TILE_OUTPUTS][TILE_INPUTS];
    UNROLL for (int x = 0; x < TILE_INPUTS; ++x) {
        i32v m[TILE_INPUTS], y[TILE_OUTPUTS];
        UNROLL for (int i = 0; i < TILE_INPUTS; ++i) {
            m[i] = load_i32(products + (i * TILE_INPUTS + x) * apart);
        }
        transform_output_line(m, y);
        UNROLL for (int i = 0; i < TILE_OUTPUTS; ++i) lines[i][x] = y[i];
    }
    UNROLL for (int i = 0; i < TILE_OUTPUTS; ++i) {
        transform_output_line(lines[i], sum[i]);
        UNROLL for (int x = 0; x < TILE_OUTPUTS; ++x) {
            sum[i][x] = shr_i32(mul_i32(sum[i][x], inverse), 6);
        }
    }
}

/* The sums of a tile, PANEL_COLUMNS an output; with `more`, added to those that are there. */
static void transform_outputs(const int32_t *products, ptrdiff_t apart, int width, int more,
                              int32_t *sums) {
    for (int column = 0; column < width; column += SIMD_LANES) {
        i32v sum[TILE_OUTPUTS][TILE_OUTPUTS];
        int32_t *target = sums + column;
        transform_products(products + column, apart, sum);
        UNROLL for (int i = 0; i < TILE_OUTPUTS; ++i) {
            UNROLL for (int x = 0; x < TILE_OUTPUTS; ++x, target += PANEL_COLUMNS) {
                if (more) sum[i][x] = add_i32(sum[i][x], load_i32(target));
                store_i32(target, sum[i][x]);
            }
        }
    }
}

/* The same, finished in registers, `lines` by `pixels` of them. The first result of a tile is stored
 * where the columns of `tile` begin; `sums`, if any, are added. */
ALWAYS_INLINE void finish_vectors(const int vectors, const int32_t *products, ptrdiff_t apart,
                                  const int32_t *sums, Tile *tile, int lines, int pixels,
                                  ptrdiff_t line) {
    i32v sum[TILE_VECTORS][TILE_OUTPUTS][TILE_OUTPUTS];
    UNROLL for (int v = 0; v < vectors; ++v) {
        transform_products(products + v * SIMD_LANES, apart, sum[v]);
    }
    for (int i = 0; i < lines; ++i, tile->out += line) {
        i32v row[MOST_TILE_ROWS][WIDE_VECTORS];
        uint8_t *const out = tile->out;
        for (int x = 0; x < pixels; x += FINISHED, tile->out += FINISHED * tile->out_stride) {
            UNROLL for (int v = 0; v < vectors; ++v) {
                const i32v start = load_i32(tile->start + v * SIMD_LANES);
                UNROLL for (int r = 0; r < FINISHED; ++r) {
                    const int place =
                        (i * TILE_OUTPUTS + x + r) * PANEL_COLUMNS + v * SIMD_LANES;
                    row[r][v] = add_i32(sum[v][i][x + r], start);
                    if (sums != NULL) row[r][v] = add_i32(row[r][v], load_i32(sums + place));
                }
            }
            if (pixels - x >= FINISHED) {
                finish_bytes_of(FINISHED, 0, vectors, row, tile, tile->bias_multiplier == 1.0f);
            } else {
                for (int r = 0; r < pixels - x; ++r, tile->out += tile->out_stride) {
                    finish_bytes_of(1, 0, vectors, row + r, tile, tile->bias_multiplier == 1.0f);
                }
            }
        }
        tile->out = out;
    }
}

static void finish_outputs(const int32_t *products, ptrdiff_t apart, int vectors,
                           const int32_t *sums, Tile *tile, int lines, int pixels,
                           ptrdiff_t line) {
#if SIMD_LANES == 16
    switch (vectors) {
        case 1: finish_vectors(1, products, apart, sums, tile, lines, pixels, line); return;
        case 2: finish_vectors(2, products, apart, sums, tile, lines, pixels, line); return;
        case 3: finish_vectors(3, products, apart, sums, tile, lines, pixels, line); return;
    }
#endif
    finish_vectors(TILE_VECTORS, products, apart, sums, tile, lines, pixels, line);
}

#else
/* Where four products of bytes take a quarter of the time of one of 16 bits, nothing is gained:
 * nobody calls these. */
#define PAIR_ROWS 1
#define transform_inputs(...) ((void)0)
#define transform_weights(...) ((void)0)
#define multiply_pairs(...) ((void)0)
#define transform_outputs(...) ((void)0)
#define finish_outputs(...) ((void)0)
#endif
#endif
