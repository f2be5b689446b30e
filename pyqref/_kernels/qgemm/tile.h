/* The tile of a matrix product: a few rows times a few vectors of columns, kept in registers from
 * the first product to the finished byte.
 *
 * It stands in C because the compiler must see its sizes as constants; it is written once over
 * the primitives of simd/, whose header is included first. */
#ifndef PYQREF_TILE_H
#define PYQREF_TILE_H

#include <stddef.h>
#include <string.h>

#define PANEL_COLUMNS 64

#if defined(_MSC_VER)
#define ALWAYS_INLINE static __forceinline
#define UNROLL
#elif defined(__clang__)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")
#endif

#if defined(__GNUC__)
#define WILL_BE_READ(address) __builtin_prefetch(address, 0, 3)
#define WILL_BE_STREAMED(address) __builtin_prefetch(address, 0, 2)
#define WILL_BE_WRITTEN(address) __builtin_prefetch(address, 1, 3)
#else
#define WILL_BE_READ(address) ((void)(address))
#define WILL_BE_STREAMED(address) ((void)(address))
#define WILL_BE_WRITTEN(address) ((void)(address))
#endif

/* Tiles narrower than TILE_VECTORS, which only 16 lanes leave, may have more rows. So may a lone
 * tile, which then takes half of its columns at a time: two tiles of four rows would read a panel that
 * comes from memory twice. */
#ifndef NARROW_TILE_ROWS
#define NARROW_TILE_ROWS TILE_ROWS
#endif
#define MOST_TILE_ROWS (NARROW_TILE_ROWS > TILE_ROWS ? NARROW_TILE_ROWS : TILE_ROWS)
#if TILE_ROWS > 6 || NARROW_TILE_ROWS > 8
#error "multiply_alike knows tiles of at most 6 rows, narrow ones of at most 8"
#endif

/* One row takes a whole panel where registers hold the sums, and two take half of one: they read
 * weights in the order in which these lie. Each of four passes over a panel that comes from memory
 * read one line of four, and all together took several times as long. */
#define TILE_SUMS (TILE_ROWS * TILE_VECTORS)
#if PANEL_COLUMNS / SIMD_LANES < TILE_SUMS
#define WIDE_VECTORS (PANEL_COLUMNS / SIMD_LANES)
#else
#define WIDE_VECTORS TILE_SUMS
#endif

/* Vectors of a tile of so many rows, where so many are left. */
static inline int vectors_of_tile(int rows, ptrdiff_t left) {
    int vectors = WIDE_VECTORS;
    while (vectors > TILE_VECTORS && (vectors > left || rows * vectors > WIDE_VECTORS)) {
        vectors /= 2;
    }
    if (rows > TILE_ROWS && left >= TILE_VECTORS) vectors = TILE_VECTORS / 2;
    return vectors < left ? vectors : (int)left;
}

/* Tiles of few rows wait for weights rather than for products, and fetch more of them ahead. But one
 * row alone is multiplied as fast as weights come: the first line of a quad makes the processor fetch
 * the others itself, and sooner than if all were asked for. With more rows two lines for each quad are
 * enough. Full tiles leave time to fetch them into the first cache; where others do so, loads wait
 * behind what is fetched. */
#define FEW_ROWS 4

/* Quads that are multiplied for some rows at a time, see last_quads, and sums of these rows. */
#ifndef LAST_QUADS
#define LAST_QUADS 0
#define LAST_SUMS (TILE_ROWS * TILE_VECTORS)
#endif

/* Compilers would read what only two rows share from memory for each of them. */
#ifndef STAYS_LOADED
#define STAYS_LOADED(vector) ((void)0)
#endif

/* And move pointers to all rows on rather than one number. */
#ifndef STAYS_COUNTED
#define STAYS_COUNTED(number) ((void)0)
#endif

/* What is stored of the exact sums. */
typedef enum {
    BYTES,    /* eq-requantize */
    SUMS,     /* int32, as they are */
    FUSED,    /* eq-dynamic-output of fbgemm: float32, fma(sum, multiplier, bias) */
    SEPARATE, /* eq-dynamic-output of qnnpack: float32, sum * multiplier + bias, rounded twice */
    ADDED,    /* eq-requantize-function: bytes, of SEPARATE plus what the bytes that are there mean */
} Store;

/* What a tile reads and where it goes. Arrays named by columns begin with the first of the tile.
 * Where several are multiplied, the rows of one follow those of another, as do their results and
 * what they fetch: `tiles`, `x`, `ahead` and `out` move on. */
typedef struct {
    ptrdiff_t tiles;            /* that are left to multiply */
    const uint8_t *const *x;    /* pointers to the first piece of each row, */
    ptrdiff_t pitch;            /* so many pointers on to the second, and so forth */
    ptrdiff_t pieces, quads;    /* of a row; quads of depths in a piece */
    const int8_t *panel;        /* for each quad, `step` bytes that begin with 4 weights a column */
    ptrdiff_t step;
    const int8_t *ahead;        /* what will be read soon, one or more lines for each quad */
    ptrdiff_t ahead_step;       /* so far on for the next quad */
    const int32_t *start;       /* what sums begin with, one a column */
    Store store;                /* how they are finished */
    int32_t *sums;              /* where SUMS are stored, PANEL_COLUMNS a row */
    const float *multiplier;
    const float *bias;
    float bias_multiplier;
    int zero_point, lower, upper;
    uint8_t *out;
    ptrdiff_t out_stride;       /* bytes from a row to the next */
    int used;                   /* columns that are stored */
    int streams;                /* whether reals go to memory past the caches, in whole vectors */
} Tile;

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

/* Real results are many stores, which take longer than products: the last quads are multiplied for
 * some rows at a time, which are finished while the products of the next are made. (Bytes are fewer
 * stores, but so many operations before them that products waited behind them.) */
ALWAYS_INLINE ptrdiff_t last_quads(const Tile *tile) {
    if (tile->pieces > 1) return 0;
    return tile->quads < LAST_QUADS ? tile->quads : LAST_QUADS;
}

/* Where a tile has come to: what it reads next, and what it fetches beside. */
typedef struct {
    const int8_t *panel, *ahead;
} Place;

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
ALWAYS_INLINE void multiply_into(const int reals, const int rows, const int vectors, Tile *tile) {
    const int lines_ahead = rows == 1 || vectors < 2 ? 1 : rows <= FEW_ROWS ? vectors : 2;
    const int streamed = rows < TILE_ROWS, group = vectors < TILE_VECTORS ? vectors : TILE_VECTORS;
    const int some = LAST_SUMS / vectors, in_parts = reals && LAST_QUADS && rows > FEW_ROWS;
    /* What only the outer loops want is read there from memory: the inner one needs registers. */
    Tile *volatile kept = tile;
    for (; tile->tiles > 0; tile = kept) {
        i32v sum[MOST_TILE_ROWS][WIDE_VECTORS];
        Place at = {tile->panel, tile->ahead};
        UNROLL for (int r = 0; r < rows; ++r) {
            UNROLL for (int v = 0; v < vectors; ++v) {
                sum[r][v] = load_i32(tile->start + v * SIMD_LANES);
            }
        }
        expect_results(rows, vectors, tile);
        for (ptrdiff_t piece = 0; tile = kept, piece < tile->pieces; ++piece) {
            at = multiply_quads(0, rows, vectors, 0, lines_ahead, streamed, sum,
                                tile->x + piece * tile->pitch, 0,
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
        } else if (tile->bias_multiplier == 1.0f) {
            UNROLL for (int v = 0; v < vectors; v += group) {
                finish_bytes_of(rows, v, group, sum, tile, 1);
            }
        } else {
            UNROLL for (int v = 0; v < vectors; v += group) {
                finish_bytes_of(rows, v, group, sum, tile, 0);
            }
        }
        tile->x += rows;
        tile->ahead = at.ahead;
        tile->out += rows * tile->out_stride;
        --tile->tiles;
    }
}

/* The same for bytes of short rows, or of rows in short pieces as first layers of networks have them,
 * by all columns of a narrow panel. The products of a tile take some fifty cycles there: nothing is
 * fetched beside them, and what all tiles have in common is read from memory once. */
#define SHORT_QUADS 16
ALWAYS_INLINE void multiply_short(const int rows, const int vectors, Tile *given) {
    Tile tile = *given;
    tile.step = vectors * 4 * SIMD_LANES;
    for (; tile.tiles > 0; --tile.tiles) {
        i32v sum[MOST_TILE_ROWS][WIDE_VECTORS];
        const uint8_t *const *x = tile.x;
        Place at = {tile.panel, tile.ahead};
        UNROLL for (int r = 0; r < rows; ++r) {
            UNROLL for (int v = 0; v < vectors; ++v) {
                sum[r][v] = load_i32(tile.start + v * SIMD_LANES);
            }
        }
        for (ptrdiff_t left = tile.pieces; left > 0; --left) {
            at = multiply_quads(0, rows, vectors, 0, 0, 0, sum, x, 0, tile.quads, at, &tile);
            x += tile.pitch;
        }
        if (tile.bias_multiplier == 1.0f) {
            finish_bytes_of(rows, 0, vectors, sum, &tile, 1);
        } else {
            finish_bytes_of(rows, 0, vectors, sum, &tile, 0);
        }
        tile.x += rows;
        tile.out += rows * tile.out_stride;
    }
    *given = tile;
}

/* Real results have code of their own: what becomes bytes took longer where both shared it. */
ALWAYS_INLINE void multiply(const int rows, const int vectors, Tile *tile) {
    const int is_narrow = vectors <= 2 && vectors < TILE_VECTORS && rows == NARROW_TILE_ROWS;
    if (is_narrow && tile->step == vectors * 4 * SIMD_LANES && tile->quads < SHORT_QUADS &&
        tile->store == BYTES) {
        multiply_short(rows, vectors, tile);
    } else if (tile->store == FUSED || tile->store == SEPARATE) {
        multiply_into(1, rows, vectors, tile);
    } else {
        multiply_into(0, rows, vectors, tile);
    }
}

/* The same with sizes that are known at run time only. */
#define TILE_FOR_ROWS(vectors)                     \
    switch (rows) {                                \
        case 1: multiply(1, vectors, tile); return; \
        case 2: multiply(2, vectors, tile); return; \
        TILE_3_TO_4(vectors)                       \
        TILE_5_TO_6(vectors)                       \
    }
#define NARROW_TILE_FOR_ROWS(vectors)              \
    switch (rows) {                                \
        case 7: multiply(7, vectors, tile); return; \
        case 8: multiply(8, vectors, tile); return; \
    }                                              \
    TILE_FOR_ROWS(vectors)

#if TILE_ROWS >= 4
#define TILE_3_TO_4(vectors)                       \
    case 3: multiply(3, vectors, tile); return;    \
    case 4: multiply(4, vectors, tile); return;
#else
#define TILE_3_TO_4(vectors)
#endif
#if TILE_ROWS >= 6
#define TILE_5_TO_6(vectors)                       \
    case 5: multiply(5, vectors, tile); return;    \
    case 6: multiply(6, vectors, tile); return;
#else
#define TILE_5_TO_6(vectors)
#endif

static void multiply_alike(int rows, int vectors, Tile *tile) {
    /* Panels are a multiple of 16 columns wide: only vectors of 16 lanes leave a remainder. */
#if SIMD_LANES == 16
    switch (vectors) {
        case 1: NARROW_TILE_FOR_ROWS(1) return;
        case 2: NARROW_TILE_FOR_ROWS(2) return;
        case 3: NARROW_TILE_FOR_ROWS(3) return;
    }
#endif
#if WIDE_VECTORS > TILE_VECTORS
    if (vectors == WIDE_VECTORS) { multiply(1, WIDE_VECTORS, tile); return; }
#endif
#if WIDE_VECTORS > 2 * TILE_VECTORS
    if (vectors == 2 * TILE_VECTORS) {
        switch (rows) {
            case 1: multiply(1, 2 * TILE_VECTORS, tile); return;
            case 2: multiply(2, 2 * TILE_VECTORS, tile); return;
        }
    }
#endif
    TILE_FOR_ROWS(TILE_VECTORS)
}

#endif
