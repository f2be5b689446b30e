/* The sizes of tiles of a matrix product, and what a tile reads and stores: what tile_finish.h and
 * tile.h, which includes both, have in common. The primitives of simd/ are included first. */
#ifndef PYQREF_TILE_SHAPE_H
#define PYQREF_TILE_SHAPE_H

#include <stddef.h>

#define PANEL_COLUMNS 64

#if defined(_MSC_VER)
#define ALWAYS_INLINE static __forceinline
#define NEVER_INLINE __declspec(noinline)
#define UNROLL
#elif defined(__clang__)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define NEVER_INLINE __attribute__((noinline))
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define NEVER_INLINE __attribute__((noinline))
#define UNROLL _Pragma("GCC unroll 16")
#endif

#if defined(__GNUC__)
#define WILL_BE_READ(address) __builtin_prefetch(address, 0, 3)
#define WILL_BE_STREAMED(address) __builtin_prefetch(address, 0, 2)
#define WILL_BE_WRITTEN(address) __builtin_prefetch(address, 1, 3)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#else
#define UNLIKELY(condition) (condition)
#define WILL_BE_READ(address) ((void)(address))
#define WILL_BE_STREAMED(address) ((void)(address))
#define WILL_BE_WRITTEN(address) ((void)(address))
#endif

/* Tiles narrower than TILE_VECTORS, which only 16 lanes leave, may have more rows. So may a lone
 * tile, which then takes half of its columns at a time: two tiles of four rows would read a panel that
 * comes from memory twice. With more than FEW_ROWS it does so anyway: the two lines that it fetches
 * for each quad are then all of the next panel. */
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

/* Tiles of few rows wait for weights rather than for products, and fetch more of them ahead. But one
 * row alone is multiplied as fast as weights come: the first line of a quad makes the processor fetch
 * the others itself, and sooner than if all were asked for. With more rows two lines for each quad are
 * enough. Full tiles leave time to fetch them into the first cache; where others do so, those of half of
 * the columns among them, loads wait behind what is fetched. */
#define FEW_ROWS 4

/* Vectors of a tile of so many rows, which may be the only one, where so many are left. */
static inline int vectors_of_tile(int rows, ptrdiff_t left, int is_only) {
    const int may_have_more = TILE_ROWS < NARROW_TILE_ROWS && left >= TILE_VECTORS;
    int vectors = WIDE_VECTORS;
    while (vectors > TILE_VECTORS && (vectors > left || rows * vectors > WIDE_VECTORS)) {
        vectors /= 2;
    }
    if (may_have_more && rows > (is_only ? FEW_ROWS : TILE_ROWS)) vectors = TILE_VECTORS / 2;
    return vectors < left ? vectors : (int)left;
}

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

/* Whether a header of simd/ knows faster products for inputs of which few are above 127. */
#ifndef HAS_FEW_LARGE
#define HAS_FEW_LARGE 0
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
 * what they fetch: `tiles`, `x`, `out` and, where something is fetched, `ahead` move on. */
typedef struct {
    ptrdiff_t tiles;            /* that are left to multiply */
    const uint8_t *const *x;    /* pointers to the first segment of each row, */
    ptrdiff_t pitch;            /* so many pointers on to the second, and so forth */
    ptrdiff_t segments, quads;    /* of a row; quads of depths in a segment */
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
    int few_large;              /* whether few inputs are above 127; asked where HAS_FEW_LARGE */
    int streams;                /* whether reals go to memory past the caches, in whole vectors */
} Tile;

#endif
