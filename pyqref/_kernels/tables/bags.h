/* Rows of a table, looked up or joined bag by bag: as in numerics/float_embedding.py, and for rows
 * of bytes numerics/embedding.py.
 *
 * The header of an instruction set is included first. */
#ifndef PYQREF_BAGS_H
#define PYQREF_BAGS_H

#include <math.h>

#include "simd/functions.h"
#include "simd/partial.h"
#include "simd/prefetch.h"

#define ROWS 16 /* from a row to the one that is fetched meanwhile */
/* Vectors of a result that are in registers while all rows are added: 64 columns, as tables have. */
#define AT_ONCE (SIMD_LANES == 16 ? 4 : 8)
#define FETCHED 1024 /* columns of a row that are fetched ahead where rows are copied */

/* What becomes of the rows of a bag; COPY: each row is a result. */
enum Mode { COPY, SUM, MEAN, LARGEST };

/* A table of floats, or where there are scales of bytes; bag b has the indices from starts[b] on. */
typedef struct {
    const char *table;
    const float *scales, *offsets, *weights; /* or NULL */
    const int64_t *indices, *starts, *ends;
    float *out;
    ptrdiff_t row_bytes, count, bags, columns, bags_a_task;
    int mode;
} Bags;

FUNCTION const char *row_at(const Bags *b, ptrdiff_t place) {
    return b->table + b->indices[place] * b->row_bytes;
}

/* So many columns of a row, from column i on. */
FUNCTION void fetch_columns(const Bags *b, ptrdiff_t place, ptrdiff_t i, ptrdiff_t columns) {
    const ptrdiff_t size = b->scales ? 1 : (ptrdiff_t)sizeof(float);
    if (place < b->count) prefetch_bytes(row_at(b, place) + i * size, columns * size);
}

/* Numbers of a row from column i on. */
FUNCTION f32v numbers_at(const int bytes, const char *row, ptrdiff_t i, ptrdiff_t left) {
    if (bytes) {
        const uint8_t *source = (const uint8_t *)row + i;
        return to_f32(left >= SIMD_LANES ? load_u8(source) : load_n_bytes(source, 0, left));
    }
    const float *source = (const float *)row + i;
    return left >= SIMD_LANES ? load_f32(source) : load_n_f32(source, left);
}

/* The larger one, y of equal ones; nan where one of them is. */
FUNCTION f32v larger(f32v y, f32v x) {
    const f32v nan = if_unequal(set_f32(NAN), is_nan(x), set_i32(0));
    return sub_f32(max_f32(x, y), nan);
}

/* `eq-float-bag`, `eq-embedding-bag` and `eq-embedding-lookup`. */
FUNCTION f32v joined(const int bytes, const int mode, const int weighted, f32v y, f32v x,
                     f32v factor, f32v offset) {
    if (bytes) return fma_f32(x, factor, mode == COPY ? offset : add_f32(y, offset));
    if (mode == LARGEST) return larger(y, x);
    return weighted ? fma_f32(x, factor, y) : add_f32(y, x);
}

/* Some vectors of a bag, from column i on; of the last one there may be only a part. */
FUNCTION void join_columns(const int bytes, const int mode, const int weighted, const int vectors,
                           const Bags *b, ptrdiff_t first, ptrdiff_t end, ptrdiff_t i, float *out) {
    const ptrdiff_t left = b->columns - i;
    ptrdiff_t place = first;
    f32v y[AT_ONCE];
    for (int v = 0; v < vectors; ++v) {
        y[v] = set_f32(0);
        if (mode == LARGEST && first < end) {
            y[v] = numbers_at(0, row_at(b, first), i + v * SIMD_LANES, left - v * SIMD_LANES);
        }
    }
    for (place += mode == LARGEST; place < end; ++place) {
        const float weight = weighted ? b->weights[place] : 1;
        const int64_t index = b->indices[place];
        const f32v factor = set_f32(bytes ? b->scales[index] * weight : weight);
        const f32v offset = set_f32(bytes ? b->offsets[index] * weight : 0);
        const char *row = row_at(b, place);
        fetch_columns(b, place + ROWS, i, vectors * SIMD_LANES);
        for (int v = 0; v < vectors; ++v) {
            const f32v x = numbers_at(bytes, row, i + v * SIMD_LANES,
                                      vectors > 1 ? SIMD_LANES : left);
            y[v] = joined(bytes, mode, weighted, y[v], x, factor, offset);
        }
    }
    for (int v = 0; v < vectors; ++v) {
        if (b->mode == MEAN && first < end) y[v] = div_f32(y[v], set_f32((float)(end - first)));
        if (vectors > 1 || left >= SIMD_LANES) store_f32(out + i + v * SIMD_LANES, y[v]);
        else store_n_f32(out + i, y[v], left);
    }
}

FUNCTION void join_bag(const int bytes, const int mode, const int weighted, const Bags *b,
                       ptrdiff_t bag) {
    float *out = b->out + bag * b->columns;
    const ptrdiff_t first = mode == COPY ? bag : b->starts[bag];
    const ptrdiff_t end = mode == COPY ? bag + 1 : b->ends[bag];
    ptrdiff_t i = 0;
    for (; i + AT_ONCE * SIMD_LANES <= b->columns; i += AT_ONCE * SIMD_LANES) {
        join_columns(bytes, mode, weighted, AT_ONCE, b, first, end, i, out);
    }
    for (; i < b->columns; i += SIMD_LANES) {
        join_columns(bytes, mode, weighted, 1, b, first, end, i, out);
    }
}

static void result_of_bag(const Bags *b, ptrdiff_t bag) {
    if (b->mode == COPY) {
        if (b->scales) {
            join_bag(1, COPY, 0, b, bag);
        } else {
            fetch_columns(b, bag + ROWS, 0, b->columns < FETCHED ? b->columns : FETCHED);
            memcpy(b->out + bag * b->columns, row_at(b, bag), (size_t)b->columns * sizeof(float));
        }
    } else if (b->scales) {
        if (b->weights) join_bag(1, SUM, 1, b, bag);
        else join_bag(1, SUM, 0, b, bag);
    } else if (b->mode == LARGEST) {
        join_bag(0, LARGEST, 0, b, bag);
    } else if (b->weights) {
        join_bag(0, SUM, 1, b, bag);
    } else {
        join_bag(0, SUM, 0, b, bag);
    }
}

#endif
