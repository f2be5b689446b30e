/* The tile of a matrix product: a few rows times a few vectors of columns, kept in registers from
 * the first product to the finished byte.
 *
 * It stands in C because the compiler must see its sizes as constants; it is written once over
 * the primitives of simd/, whose header is included first. */
#ifndef PYQREF_TILE_H
#define PYQREF_TILE_H

#include "product/tile_finish.h"

/* Real results are many stores, which take longer than products: the last quads are multiplied for
 * some rows at a time, which are finished while the products of the next are made. (Bytes are fewer
 * stores, but so many operations before them that products waited behind them.) */
ALWAYS_INLINE ptrdiff_t last_quads(const Tile *tile) {
    if (tile->segments > 1) return 0;
    return tile->quads < LAST_QUADS ? tile->quads : LAST_QUADS;
}

ALWAYS_INLINE void begin_tile(const int rows, const int vectors,
                              i32v sum[MOST_TILE_ROWS][WIDE_VECTORS], const Tile *tile) {
    UNROLL for (int r = 0; r < rows; ++r) {
        UNROLL for (int v = 0; v < vectors; ++v) {
            sum[r][v] = load_i32(tile->start + v * SIMD_LANES);
        }
    }
}

/* Where a tile has come to: what it reads next, and what it fetches beside. */
typedef struct {
    const int8_t *panel, *ahead;
} Place;

#if HAS_FEW_LARGE
/* Adds the products of the low seven bits of inputs, of quads from `quad` to before `last`; where
 * they are `small` there are no other bits. */
ALWAYS_INLINE Place multiply_low_bits(const int small, const int rows, const int vectors,
                                      const int lines_ahead, i32v sum[MOST_TILE_ROWS][WIDE_VECTORS],
                                      const uint8_t *const *x, ptrdiff_t quad, const ptrdiff_t last,
                                      Place at, const ptrdiff_t step, const ptrdiff_t ahead_step) {
    for (; quad < last; ++quad, at.panel += step) {
        UNROLL for (int v = 0; v < lines_ahead; ++v) WILL_BE_STREAMED(at.ahead + v * 64);
        at.ahead += ahead_step;
        UNROLL for (int v = 0; v < vectors; v += TILE_VECTORS) {
            bytes_v weights[TILE_VECTORS];
            UNROLL for (int i = 0; i < TILE_VECTORS; ++i) {
                weights[i] = load_quad_weights(at.panel + (v + i) * 4 * SIMD_LANES);
            }
            UNROLL for (int r = 0; r < rows; ++r) {
                bytes_v inputs = broadcast_quad(x[r] + 4 * quad);
                if (!small) inputs = low_bits(inputs);
                UNROLL for (int i = 0; i < TILE_VECTORS; ++i) {
                    sum[r][v + i] = dot4_small(sum[r][v + i], inputs, weights[i]);
                }
            }
        }
    }
    return at;
}

/* And those of the top bits, wherever there are any. */
ALWAYS_INLINE void multiply_top_bits(const int rows, const int vectors,
                                     i32v sum[MOST_TILE_ROWS][WIDE_VECTORS],
                                     const uint8_t *const *x, ptrdiff_t quad, const ptrdiff_t last,
                                     const int8_t *panel, const ptrdiff_t step) {
    for (; quad < last; ++quad, panel += step) {
        uint32_t four, all = 0;
        UNROLL for (int r = 0; r < rows; ++r) {
            memcpy(&four, x[r] + 4 * quad, 4);
            all |= four;
        }
        if (!(all & 0x80808080u)) continue;
        UNROLL for (int v = 0; v < vectors; ++v) {
            const bytes_v weights = load_quad_weights(panel + v * 4 * SIMD_LANES);
            UNROLL for (int r = 0; r < rows; ++r) {
                sum[r][v] = dot4_top_bits(sum[r][v], broadcast_quad(x[r] + 4 * quad), weights);
            }
        }
    }
}

/* The same products as multiply_quads adds, where few inputs are above 127. */
ALWAYS_INLINE Place multiply_bytes(const int rows, const int vectors, const int lines_ahead,
                                   i32v sum[MOST_TILE_ROWS][WIDE_VECTORS],
                                   const uint8_t *const *given, const ptrdiff_t quads, Place at,
                                   const Tile *tile) {
    const ptrdiff_t step = tile->step, ahead_step = tile->ahead_step;
    const uint8_t *x[MOST_TILE_ROWS];
    UNROLL for (int r = 0; r < rows; ++r) x[r] = given[r];
    for (ptrdiff_t quad = 0, last; quad < quads; quad = last) {
        last = quad + SIMD_LANES;
        if (last <= quads) {
            bytes_v all = load_quads_of(x[0] + 4 * quad);
            UNROLL for (int r = 1; r < rows; ++r) {
                all = or_i32(all, load_quads_of(x[r] + 4 * quad));
            }
            if (!has_top_bits(all)) {
                at = multiply_low_bits(1, rows, vectors, lines_ahead, sum, x, quad, last, at, step,
                                       ahead_step);
                continue;
            }
        } else {
            last = quads;
        }
        multiply_top_bits(rows, vectors, sum, x, quad, last, at.panel, step);
        at = multiply_low_bits(0, rows, vectors, lines_ahead, sum, x, quad, last, at, step,
                               ahead_step);
    }
    return at;
}
#endif

/* Adds the products of rows from `first` to before `end`, of quads from `quad` to before `last`. */
ALWAYS_INLINE Place multiply_quads(const int first, const int end, const int vectors,
                                   const int is_part, const int lines_ahead, const int streamed,
                                   i32v sum[MOST_TILE_ROWS][WIDE_VECTORS],
                                   const uint8_t *const *rows, ptrdiff_t quad, const ptrdiff_t last,
                                   Place at, const Tile *tile) {
    const ptrdiff_t step = tile->step, ahead_step = tile->ahead_step;
    const uint8_t *x[MOST_TILE_ROWS];
    UNROLL for (int r = first; r < end; ++r) x[r] = rows[r];
    for (; quad < last; ++quad, at.panel += step) {
        STAYS_COUNTED(quad);
        weights_v weights[WIDE_VECTORS];
        if (vectors <= TILE_VECTORS) {
            UNROLL for (int v = 0; v < vectors; ++v) {
                weights[v] = load_weights(at.panel + v * 4 * SIMD_LANES);
                if (is_part) STAYS_LOADED(weights[v]);
            }
        }
        UNROLL for (int v = 0; v < lines_ahead; ++v) {
            if (streamed) {
                WILL_BE_STREAMED(at.ahead + v * 64);
            } else {
                WILL_BE_READ(at.ahead + v * 64);
            }
        }
        at.ahead += ahead_step;
        if (vectors > TILE_VECTORS) {
            /* Registers hold the inputs of all rows, and weights one after the other. */
            inputs_v inputs[TILE_ROWS];
            UNROLL for (int r = first; r < end; ++r) inputs[r] = broadcast_inputs(x[r] + 4 * quad);
            UNROLL for (int v = 0; v < vectors; ++v) {
                const weights_v one = load_weights(at.panel + v * 4 * SIMD_LANES);
                UNROLL for (int r = first; r < end; ++r) {
                    sum[r][v] = dot4(sum[r][v], inputs[r], one);
                }
            }
            continue;
        }
        UNROLL for (int r = first; r < end; ++r) {
            const inputs_v inputs = broadcast_inputs(x[r] + 4 * quad);
            UNROLL for (int v = 0; v < vectors; ++v) {
                sum[r][v] = dot4(sum[r][v], inputs, weights[v]);
            }
        }
    }
    return at;
}

/* start + sum over k of x[r][k] * w[k][c] (eq-linear-accumulator, uncentred), for one tile after
 * another: where products are few, what is done once for all of them counts. */
ALWAYS_INLINE void multiply_into(const int reals, const int few, const int rows, const int vectors,
                                 Tile *tile) {
    const int lines_ahead = rows == 1 || vectors < 2 ? 1 : rows <= FEW_ROWS ? vectors : 2;
    const int streamed = rows != TILE_ROWS || vectors < TILE_VECTORS;
    const int some = LAST_SUMS / vectors, in_parts = reals && LAST_QUADS && rows > FEW_ROWS;
    /* What only the outer loops want is read there from memory: the inner one needs registers. */
    Tile *volatile kept = tile;
    for (; tile->tiles > 0; tile = kept) {
        i32v sum[MOST_TILE_ROWS][WIDE_VECTORS];
        Place at = {tile->panel, tile->ahead};
        begin_tile(rows, vectors, sum, tile);
        expect_results(rows, vectors, tile);
        for (ptrdiff_t segment = 0; tile = kept, segment < tile->segments; ++segment) {
#if HAS_FEW_LARGE
            if (few) {
                at = multiply_bytes(rows, vectors, lines_ahead, sum,
                                    tile->x + segment * tile->pitch, tile->quads, at, tile);
                continue;
            }
#endif
            at = multiply_quads(0, rows, vectors, 0, lines_ahead, streamed, sum,
                                tile->x + segment * tile->pitch, 0,
                                tile->quads - (in_parts ? last_quads(tile) : 0), at, tile);
        }
        if (reals) {
            const ptrdiff_t quads = tile->quads, last = in_parts ? last_quads(tile) : 0;
            const Place before = at;
            UNROLL for (int r = 0; r < rows; r += some) {
                const int end = r + some < rows ? r + some : rows;
                at = multiply_quads(r, end, vectors, 1, r ? 0 : lines_ahead, streamed, sum,
                                    tile->x, quads - last, quads, before, tile);
                finish_reals_of(r, end, vectors, sum, tile);
            }
        } else if (tile->store != BYTES) {
            UNROLL for (int r = 0; r < rows; ++r) {
                UNROLL for (int v = 0; v < vectors; ++v) {
                    store_i32(tile->sums + r * PANEL_COLUMNS + v * SIMD_LANES, sum[r][v]);
                }
            }
        } else {
            finish_bytes_of_all(rows, vectors, sum, tile);
        }
        tile->x += rows;
        tile->ahead = at.ahead;
        tile->out += rows * tile->out_stride;
        --tile->tiles;
    }
}

/* The same for bytes of short rows, or of short segments of rows as first layers have them, by all
 * columns of a narrow panel. Products are few there: nothing is fetched beside them, neither
 * at `ahead` nor where results go, and what all tiles have in common is read from memory once. */
#define SHORT_QUADS 16
ALWAYS_INLINE void multiply_short(const int rows, const int vectors, Tile *given) {
    Tile tile = *given;
    tile.step = vectors * 4 * SIMD_LANES;
    for (; tile.tiles > 0; --tile.tiles) {
        i32v sum[MOST_TILE_ROWS][WIDE_VECTORS];
        const uint8_t *const *x = tile.x;
        Place at = {tile.panel, tile.ahead};
        begin_tile(rows, vectors, sum, &tile);
        for (ptrdiff_t left = tile.segments; left > 0; --left) {
            at = multiply_quads(0, rows, vectors, 0, 0, 0, sum, x, 0, tile.quads, at, &tile);
            x += tile.pitch;
        }
        finish_bytes_of_all(rows, vectors, sum, &tile);
        tile.x += rows;
        tile.out += rows * tile.out_stride;
    }
    *given = tile;
}

/* Real results have code of their own: what becomes bytes took longer where both shared it. */
ALWAYS_INLINE void multiply_tile(const int rows, const int vectors, Tile *tile) {
    const int is_narrow = vectors <= 2 && vectors < TILE_VECTORS && rows == NARROW_TILE_ROWS;
    if (is_narrow && tile->step == vectors * 4 * SIMD_LANES && tile->quads < SHORT_QUADS &&
        tile->store == BYTES) {
        multiply_short(rows, vectors, tile);
    } else if (tile->store == FUSED || tile->store == SEPARATE) {
        if (HAS_FEW_LARGE && tile->few_large) {
            multiply_into(1, 1, rows, vectors, tile);
        } else {
            multiply_into(1, 0, rows, vectors, tile);
        }
    } else if (HAS_FEW_LARGE && tile->few_large) {
        multiply_into(0, 1, rows, vectors, tile);
    } else {
        multiply_into(0, 0, rows, vectors, tile);
    }
}

/* The same with sizes that are known at run time only: each tile is a function of its own, which a
 * compiler is done with sooner than with all of them in one. */
typedef void MultiplyTile(Tile *tile);

#define TILE_OF(rows, name, vectors) \
    static NEVER_INLINE void tile_##rows##_by_##name(Tile *tile) { multiply_tile(rows, vectors, tile); }
#if TILE_ROWS >= 6
#define FOR_ROWS(each, name, vectors)                                                     \
    each(1, name, vectors) each(2, name, vectors) each(3, name, vectors)                  \
    each(4, name, vectors) each(5, name, vectors) each(6, name, vectors)
#elif TILE_ROWS >= 4
#define FOR_ROWS(each, name, vectors)                                                     \
    each(1, name, vectors) each(2, name, vectors) each(3, name, vectors)                  \
    each(4, name, vectors)
#else
#define FOR_ROWS(each, name, vectors) each(1, name, vectors) each(2, name, vectors)
#endif
#if NARROW_TILE_ROWS >= 8
#define FOR_NARROW_ROWS(each, name, vectors) \
    FOR_ROWS(each, name, vectors) each(7, name, vectors) each(8, name, vectors)
#else
#define FOR_NARROW_ROWS FOR_ROWS
#endif

FOR_ROWS(TILE_OF, all, TILE_VECTORS)
/* Panels are a multiple of 16 columns wide: only vectors of 16 lanes leave a remainder. */
#if SIMD_LANES == 16
FOR_NARROW_ROWS(TILE_OF, one, 1)
FOR_NARROW_ROWS(TILE_OF, two, 2)
FOR_NARROW_ROWS(TILE_OF, three, 3)
#endif
#if WIDE_VECTORS > TILE_VECTORS
TILE_OF(1, panel, WIDE_VECTORS)
#endif
#if WIDE_VECTORS > 2 * TILE_VECTORS
TILE_OF(1, half, 2 * TILE_VECTORS)
TILE_OF(2, half, 2 * TILE_VECTORS)
#endif

#define TILE_NAMED(rows, name, vectors) tile_##rows##_by_##name,
static void multiply_alike(int rows, int vectors, Tile *tile) {
    static MultiplyTile *const all[] = {FOR_ROWS(TILE_NAMED, all, TILE_VECTORS)};
#if SIMD_LANES == 16
    static MultiplyTile *const narrow[][NARROW_TILE_ROWS] = {
        {FOR_NARROW_ROWS(TILE_NAMED, one, 1)},
        {FOR_NARROW_ROWS(TILE_NAMED, two, 2)},
        {FOR_NARROW_ROWS(TILE_NAMED, three, 3)},
    };
    if (vectors < TILE_VECTORS) { narrow[vectors - 1][rows - 1](tile); return; }
#endif
#if WIDE_VECTORS > TILE_VECTORS
    if (vectors == WIDE_VECTORS) { tile_1_by_panel(tile); return; }
#endif
#if WIDE_VECTORS > 2 * TILE_VECTORS
    if (vectors == 2 * TILE_VECTORS) { (rows == 1 ? tile_1_by_half : tile_2_by_half)(tile); return; }
#endif
    all[rows - 1](tile);
}

#endif
