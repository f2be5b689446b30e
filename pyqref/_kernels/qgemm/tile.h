/* The tile of a matrix product: a few rows times a few vectors of columns, kept in registers.
 *
 * It stands in C because the compiler must see its sizes as constants; it is written once over
 * the primitives of simd/, whose header is included first. */
#ifndef PYQREF_TILE_H
#define PYQREF_TILE_H

#include <stddef.h>

#define PANEL_COLUMNS 64

#if defined(_MSC_VER)
#define ALWAYS_INLINE static __forceinline
#define UNROLL
#elif defined(__clang__)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")
#endif

/* sums[r][c] = sum over k < 4 * quads of x[r][k] * w[k][c] (eq-linear-accumulator, uncentred).
 *
 * x:     a pointer to 4 * quads bytes for each row
 * panel: for each quad of depths, `step` bytes that begin with the 4 weights of each column
 * sums:  PANEL_COLUMNS integers a row */
ALWAYS_INLINE void tile(const int rows, const int vectors, const uint8_t *const *x,
                        const int8_t *panel, ptrdiff_t step, ptrdiff_t quads, int32_t *sums) {
    i32v sum[TILE_ROWS][TILE_VECTORS];
    UNROLL for (int r = 0; r < rows; ++r) {
        UNROLL for (int v = 0; v < vectors; ++v) sum[r][v] = set_i32(0);
    }
    for (ptrdiff_t quad = 0; quad < quads; ++quad, panel += step) {
        weights_v weights[TILE_VECTORS];
        UNROLL for (int v = 0; v < vectors; ++v) {
            weights[v] = load_weights(panel + v * 4 * SIMD_LANES);
        }
        UNROLL for (int r = 0; r < rows; ++r) {
            const inputs_v inputs = broadcast_inputs(x[r] + 4 * quad);
            UNROLL for (int v = 0; v < vectors; ++v) {
                sum[r][v] = dot4(sum[r][v], inputs, weights[v]);
            }
        }
    }
    UNROLL for (int r = 0; r < rows; ++r) {
        UNROLL for (int v = 0; v < vectors; ++v) {
            store_i32(sums + r * PANEL_COLUMNS + v * SIMD_LANES, sum[r][v]);
        }
    }
}

#define TILE_ARGUMENTS x, panel, step, quads, sums
#if TILE_ROWS > 6
#error "multiply_tile knows tiles of at most 6 rows"
#endif

/* The same with sizes that are known at run time only. */
#define TILE_FOR_ROWS(vectors)                                \
    switch (rows) {                                           \
        case 1: tile(1, vectors, TILE_ARGUMENTS); return;     \
        case 2: tile(2, vectors, TILE_ARGUMENTS); return;     \
        TILE_3_TO_4(vectors)                                  \
        TILE_5_TO_6(vectors)                                  \
    }

#if TILE_ROWS >= 4
#define TILE_3_TO_4(vectors)                              \
    case 3: tile(3, vectors, TILE_ARGUMENTS); return;     \
    case 4: tile(4, vectors, TILE_ARGUMENTS); return;
#else
#define TILE_3_TO_4(vectors)
#endif
#if TILE_ROWS >= 6
#define TILE_5_TO_6(vectors)                              \
    case 5: tile(5, vectors, TILE_ARGUMENTS); return;     \
    case 6: tile(6, vectors, TILE_ARGUMENTS); return;
#else
#define TILE_5_TO_6(vectors)
#endif

static void multiply_tile(int rows, int vectors, const uint8_t *const *x, const int8_t *panel,
                          ptrdiff_t step, ptrdiff_t quads, int32_t *sums) {
    /* Panels are a multiple of 16 columns wide: only vectors of 16 lanes leave a remainder. */
#if SIMD_LANES == 16
    switch (vectors) {
        case 1: TILE_FOR_ROWS(1) return;
        case 2: TILE_FOR_ROWS(2) return;
        case 3: TILE_FOR_ROWS(3) return;
    }
#endif
    TILE_FOR_ROWS(TILE_VECTORS)
}

#endif
