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

#define ROWS 8 /* that are joined while a result is in registers */
#define FETCHED 4096 /* bytes of a row that are fetched ahead */

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

FUNCTION void fetch_rows(const Bags *b, ptrdiff_t place, ptrdiff_t end) {
    const ptrdiff_t bytes = b->columns * (b->scales ? 1 : (ptrdiff_t)sizeof(float));
    for (; place < end && place < b->count; ++place) {
        prefetch_bytes(row_at(b, place), bytes < FETCHED ? bytes : FETCHED);
    }
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

FUNCTION void join_rows(const int bytes, const int mode, const int weighted, const int n,
                        const Bags *b, ptrdiff_t place, float *out) {
    const char *rows[ROWS];
    f32v factors[ROWS], offsets[ROWS];
    for (int k = 0; k < n; ++k) {
        const float weight = weighted ? b->weights[place + k] : 1;
        const int64_t index = b->indices[place + k];
        rows[k] = row_at(b, place + k);
        factors[k] = set_f32(bytes ? b->scales[index] * weight : weight);
        offsets[k] = set_f32(bytes ? b->offsets[index] * weight : 0);
    }
    for (ptrdiff_t i = 0; i < b->columns; i += SIMD_LANES) {
        const ptrdiff_t left = b->columns - i;
        const int whole = left >= SIMD_LANES;
        f32v y = mode == COPY ? set_f32(0) : whole ? load_f32(out + i) : load_n_f32(out + i, left);
        for (int k = 0; k < n; ++k) {
            const f32v x = numbers_at(bytes, rows[k], i, left);
            y = joined(bytes, mode, weighted, y, x, factors[k], offsets[k]);
        }
        if (whole) store_f32(out + i, y);
        else store_n_f32(out + i, y, left);
    }
}

FUNCTION void join_bag(const int bytes, const int mode, const int weighted, const Bags *b,
                       ptrdiff_t bag) {
    float *out = b->out + bag * b->columns;
    ptrdiff_t place = b->starts[bag];
    const ptrdiff_t first = place, end = b->ends[bag];
    if (mode == LARGEST && place < end) {
        memcpy(out, row_at(b, place++), (size_t)b->columns * sizeof(float));
    } else {
        memset(out, 0, (size_t)b->columns * sizeof(float));
    }
    for (; place + ROWS <= end; place += ROWS) {
        fetch_rows(b, place + ROWS, place + 2 * ROWS);
        join_rows(bytes, mode, weighted, ROWS, b, place, out);
    }
    for (; place < end; ++place) {
        fetch_rows(b, place + ROWS, place + ROWS + 1);
        join_rows(bytes, mode, weighted, 1, b, place, out);
    }
    if (b->mode == MEAN && end > first) {
        const float count = (float)(end - first);
        for (ptrdiff_t i = 0; i < b->columns; ++i) out[i] /= count;
    }
}

static void result_of_bag(const Bags *b, ptrdiff_t bag) {
    if (b->mode == COPY) {
        float *out = b->out + bag * b->columns;
        fetch_rows(b, bag + ROWS, bag + ROWS + 1);
        if (b->scales) join_rows(1, COPY, 0, 1, b, bag, out);
        else memcpy(out, row_at(b, bag), (size_t)b->columns * sizeof(float));
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
