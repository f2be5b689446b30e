/* Products of matrices of floats: `eq-float-product`, in the order of numerics/float_product.py.
 *
 * The right matrix is packed: panels of PANEL columns, row by row, the last one filled with zeros.
 * A tile holds its sums in registers: six rows of one panel, or fewer rows of more panels, so that
 * eight sums are under way at a time. The primitives of simd/ are included first. */
#ifndef PYQREF_FLOAT_TILE_H
#define PYQREF_FLOAT_TILE_H

#include <stddef.h>
#include <string.h>

#include "simd/functions.h"
#include "simd/transpose.h"

enum { PANEL_VECTORS = 2, PANEL = PANEL_VECTORS * SIMD_LANES, BLOCK = 256, MOST_ROWS = 6 };

/* Panels of the transpose of `source (columns, depth)`, whose rows are so many floats apart. */
static void pack_transposed(float *panels, const float *source, ptrdiff_t row, ptrdiff_t columns,
                            ptrdiff_t depth) {
    for (; columns > 0; columns -= PANEL) {
        const ptrdiff_t count = columns < PANEL ? columns : PANEL;
        if (count < PANEL) memset(panels, 0, (size_t)(depth * PANEL) * sizeof(float));
        transpose_f32(panels, PANEL, source, row, count, depth);
        panels += depth * PANEL;
        source += PANEL * row;
    }
}

/* Panels of `source (depth, columns)`. */
static void pack_rows(float *panels, const float *source, ptrdiff_t row, ptrdiff_t columns,
                      ptrdiff_t depth) {
    for (ptrdiff_t first = 0; first < columns; first += PANEL) {
        const ptrdiff_t left = columns - first;
        for (ptrdiff_t k = 0; k < depth; ++k, panels += PANEL) {
            const float *from = source + k * row + first;
            if (left >= PANEL) {
                for (int v = 0; v < PANEL; v += SIMD_LANES) store_f32(panels + v, load_f32(from + v));
            } else {
                memset(panels, 0, PANEL * sizeof(float));
                memcpy(panels, from, (size_t)left * sizeof(float));
            }
        }
    }
}

/* A block of the sums of some rows and panels: added to `out`, or in its place. */
FUNCTION void float_tile(const int rows, const int panels, const float *a, ptrdiff_t a_row,
                         const float *b, ptrdiff_t b_panel, ptrdiff_t depth, float *out,
                         ptrdiff_t out_row, int adds) {
    f32v sums[MOST_ROWS * PANEL_VECTORS];
    const int vectors = panels * PANEL_VECTORS;
    for (int i = 0; i < rows * vectors; ++i) sums[i] = set_f32(0);
    for (ptrdiff_t k = 0; k < depth; ++k) {
        f32v w[4 * PANEL_VECTORS];
        for (int v = 0; v < vectors; ++v) {
            w[v] = load_f32(b + v / PANEL_VECTORS * b_panel + v % PANEL_VECTORS * SIMD_LANES);
        }
        for (int i = 0; i < rows; ++i) {
            const f32v x = set_f32(a[i * a_row + k]);
            for (int v = 0; v < vectors; ++v) {
                sums[i * vectors + v] = fma_f32(x, w[v], sums[i * vectors + v]);
            }
        }
        b += PANEL;
    }
    for (int i = 0; i < rows; ++i) {
        for (int v = 0; v < vectors; ++v) {
            float *at = out + i * out_row + v * SIMD_LANES;
            const f32v sum = sums[i * vectors + v];
            store_f32(at, adds ? add_f32(load_f32(at), sum) : sum);
        }
    }
}

static void some_tile(int rows, int panels, const float *a, ptrdiff_t a_row, const float *b,
                      ptrdiff_t b_panel, ptrdiff_t depth, float *out, ptrdiff_t out_row, int adds) {
#define CASE(ROWS, PANELS)                                                                  \
    case ROWS * 8 + PANELS:                                                                 \
        float_tile(ROWS, PANELS, a, a_row, b, b_panel, depth, out, out_row, adds);          \
        break
    switch (rows * 8 + panels) {
        CASE(1, 4); CASE(1, 1); CASE(2, 2); CASE(2, 1);
        CASE(3, 2); CASE(3, 1); CASE(4, 1); CASE(5, 1); CASE(6, 1);
    }
#undef CASE
}

/* Rows of a tile, where so many are left: about as many in each. */
FUNCTION int rows_of_tile(ptrdiff_t left) {
    const ptrdiff_t tiles = (left + MOST_ROWS - 1) / MOST_ROWS;
    return (int)((left + tiles - 1) / tiles);
}

/* `out (rows, columns) = a (rows, depth) @ b`, or where `adds` added to it. Of `b`, panels of
 * `depth` rows. */
static void float_product(const float *a, ptrdiff_t a_row, ptrdiff_t rows, const float *b,
                          ptrdiff_t depth, ptrdiff_t columns, float *out, ptrdiff_t out_row,
                          int adds) {
    float few[MOST_ROWS * PANEL];
    for (ptrdiff_t first = 0; first < depth; first += BLOCK) {
        const ptrdiff_t count = depth - first < BLOCK ? depth - first : BLOCK;
        const int joins = adds || first > 0;
        const int most = rows == 1 ? 4 : rows <= 3 ? 2 : 1;
        for (ptrdiff_t column = 0; column < columns;) {
            const ptrdiff_t left = columns - column;
            const int panels = left >= most * PANEL ? most : 1;
            const float *panel = b + column * depth + first * PANEL;
            for (ptrdiff_t row = 0; row < rows;) {
                const int tall = rows_of_tile(rows - row);
                const float *from = a + row * a_row + first;
                float *to = out + row * out_row + column;
                if (left >= PANEL) {
                    some_tile(tall, panels, from, a_row, panel, depth * PANEL, count, to, out_row,
                              joins);
                } else {
                    some_tile(tall, 1, from, a_row, panel, 0, count, few, PANEL, 0);
                    for (int i = 0; i < tall; ++i) {
                        for (ptrdiff_t c = 0; c < left; ++c) {
                            float *at = to + i * out_row + c;
                            *at = joins ? *at + few[i * PANEL + c] : few[i * PANEL + c];
                        }
                    }
                }
                row += tall;
            }
            column += panels * PANEL;
        }
    }
}

#endif
