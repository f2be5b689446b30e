/* Products of matrices of floats: `eq-float-product`, in the order of numerics/float_product.py.
 *
 * The right matrix is packed: panels of PANEL columns, row by row; what is left of the last vector
 * of columns is filled with zeros. A tile holds its sums in registers: six rows of one panel, or
 * fewer rows of more panels, so that eight sums are under way at a time. The primitives of simd/ are
 * included first. */
#ifndef PYQREF_FLOAT_TILE_H
#define PYQREF_FLOAT_TILE_H

#include <stddef.h>
#include <string.h>

#include "simd/functions.h"
#include "simd/partial.h"
#include "simd/prefetch.h"
#include "simd/transpose.h"

enum {
    PANEL_VECTORS = SIMD_LANES == 8 ? 2 : 4,
    PANEL = PANEL_VECTORS * SIMD_LANES,
    BLOCK = 128, /* products that are added up before their sum is added to those before */
    MOST_ROWS = 6,
    MOST_VECTORS = 8,
    FLOAT_ROWS = 128, /* that meet one block after the other: their sums stay in a near cache */
};

/* Panels of the transpose of `source (columns, depth)`, whose rows are so many floats apart. */
static void pack_transposed(float *panels, const float *source, ptrdiff_t row, ptrdiff_t columns,
                            ptrdiff_t depth) {
    for (; columns > 0; columns -= PANEL) {
        const ptrdiff_t count = columns < PANEL ? columns : PANEL;
        if (count % SIMD_LANES) memset(panels, 0, (size_t)(depth * PANEL) * sizeof(float));
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
                const ptrdiff_t whole = left - left % SIMD_LANES;
                for (int v = 0; v < whole; v += SIMD_LANES) store_f32(panels + v, load_f32(from + v));
                if (whole < left) store_f32(panels + whole, load_n_f32(from + whole, left - whole));
            }
        }
    }
}

/* A block of the sums of some rows, `start` + `a` @ `b`; rows and depths of `a` are `a_row` and
 * `a_step` floats apart, panels `b_panel`. What `start` has is added, unless it is NULL. Of the last
 * vector only some lanes belong to the result. */
typedef struct {
    const float *a;
    ptrdiff_t a_row, a_step;
    const float *b;
    ptrdiff_t b_panel, depth;
    const float *start;
    ptrdiff_t start_row;
    float *out;
    ptrdiff_t out_row;
    int lanes;
} FloatTile;

FUNCTION void float_tile(const FloatTile *t, const int rows, const int vectors) {
    f32v sums[MOST_ROWS * PANEL_VECTORS > MOST_VECTORS ? MOST_ROWS * PANEL_VECTORS : MOST_VECTORS];
    const float *a = t->a, *b = t->b;
    const ptrdiff_t a_row = t->a_row, a_step = t->a_step, b_panel = t->b_panel;
    for (int i = 0; i < rows * vectors; ++i) sums[i] = set_f32(0);
    for (ptrdiff_t k = t->depth; k > 0; --k) {
        f32v w[MOST_VECTORS];
        for (int v = 0; v < vectors; ++v) {
            w[v] = load_f32(b + v / PANEL_VECTORS * b_panel + v % PANEL_VECTORS * SIMD_LANES);
        }
        for (int i = 0; i < rows; ++i) {
            const f32v x = set_f32(a[i * a_row]);
            for (int v = 0; v < vectors; ++v) {
                sums[i * vectors + v] = fma_f32(x, w[v], sums[i * vectors + v]);
            }
        }
        a += a_step;
        b += PANEL;
    }
    const int whole = t->lanes < SIMD_LANES ? vectors - 1 : vectors;
    for (int i = 0; i < rows; ++i) {
        float *to = t->out + i * t->out_row;
        const float *from = t->start ? t->start + i * t->start_row : NULL;
        for (int v = 0; v < vectors; ++v) {
            f32v sum = sums[i * vectors + v];
            if (v < whole) {
                if (from) sum = add_f32(load_f32(from + v * SIMD_LANES), sum);
                store_f32(to + v * SIMD_LANES, sum);
            } else {
                if (from) sum = add_f32(load_n_f32(from + v * SIMD_LANES, t->lanes), sum);
                store_n_f32(to + v * SIMD_LANES, sum, t->lanes);
            }
        }
    }
}

static void some_tile(const FloatTile *t, int rows, int vectors) {
#define CASE(ROWS, VECTORS)                \
    case ROWS * 16 + VECTORS:              \
        float_tile(t, ROWS, VECTORS);      \
        break
#define EACH_ROWS(VECTORS)                                    \
    CASE(1, VECTORS); CASE(2, VECTORS); CASE(3, VECTORS);     \
    CASE(4, VECTORS); CASE(5, VECTORS); CASE(6, VECTORS)
    switch (rows * 16 + vectors) {
        EACH_ROWS(1); EACH_ROWS(2); CASE(1, MOST_VECTORS);
#if SIMD_LANES == 8
        CASE(2, 4); CASE(3, 4);
#else
        EACH_ROWS(3); EACH_ROWS(4);
#endif
    }
#undef EACH_ROWS
#undef CASE
}

/* Rows of a tile, where so many are left: about as many in each. */
FUNCTION int rows_of_tile(ptrdiff_t left) {
    const ptrdiff_t tiles = (left + MOST_ROWS - 1) / MOST_ROWS;
    return (int)((left + tiles - 1) / tiles);
}

/* Columns that tiles of so many rows have: those of a panel, or of several. */
FUNCTION ptrdiff_t columns_of_tiles(ptrdiff_t rows) {
    const int vectors = rows == 1 ? MOST_VECTORS : rows <= 3 ? 4 : PANEL_VECTORS;
    return (vectors < PANEL_VECTORS ? PANEL_VECTORS : vectors) * SIMD_LANES;
}

/* Lines of so many floats, and so many floats apart, that come next; or none. */
typedef struct {
    const float *first;
    ptrdiff_t apart, lines, floats;
} Ahead;

/* All tiles of some rows. The first is given, as wide as it may be for so many rows: `columns`. Each
 * fetches its share of what comes next. */
static void rows_of_tiles(FloatTile t, ptrdiff_t rows, ptrdiff_t columns, const Ahead *ahead) {
    const int vectors = (int)((columns + SIMD_LANES - 1) / SIMD_LANES);
    t.lanes = (int)(columns - (vectors - 1) * SIMD_LANES);
    for (ptrdiff_t row = 0; row < rows;) {
        const int tall = rows_of_tile(rows - row);
        for (ptrdiff_t i = ahead->lines * row / rows; i < ahead->lines * (row + tall) / rows; ++i) {
            prefetch_bytes(ahead->first + i * ahead->apart, ahead->floats * (ptrdiff_t)sizeof(float));
        }
        some_tile(&t, tall, vectors);
        t.a += tall * t.a_row;
        if (t.start) t.start += tall * t.start_row;
        t.out += tall * t.out_row;
        row += tall;
    }
}

/* As many columns of those left as tiles of so many rows have: the last ones panel by panel. */
FUNCTION ptrdiff_t columns_at_once(ptrdiff_t rows, ptrdiff_t left) {
    const ptrdiff_t most = columns_of_tiles(rows);
    return left >= most ? most : left < PANEL ? left : PANEL;
}

/* `out (rows, columns) = a (rows, depth) @ b`, or where `adds` added to it. Of `b`, panels of
 * `depth` rows. */
static void float_product(const float *a, ptrdiff_t a_row, ptrdiff_t rows, const float *b,
                          ptrdiff_t depth, ptrdiff_t columns, float *out, ptrdiff_t out_row,
                          int adds) {
    const Ahead nothing = {NULL, 0, 0, 0};
    for (ptrdiff_t first = 0; first < depth; first += BLOCK) {
        for (ptrdiff_t column = 0; column < columns;) {
            const ptrdiff_t wide = columns_at_once(rows, columns - column);
            float *to = out + column;
            const FloatTile t = {
                a + first, a_row, 1, b + column * depth + first * PANEL, depth * PANEL,
                depth - first < BLOCK ? depth - first : BLOCK, adds || first > 0 ? to : NULL,
                out_row, to, out_row, SIMD_LANES,
            };
            rows_of_tiles(t, rows, wide, &nothing);
            column += wide;
        }
    }
}

#endif
