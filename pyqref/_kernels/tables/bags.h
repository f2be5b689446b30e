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
/* Vectors of a result that are in registers while all rows are added. */
#define AT_ONCE 8
#define FETCHED 1024 /* columns of a row that are fetched ahead where rows are copied */

#define FLOATS 32 /* bits of an element */

/* What becomes of the rows of a bag; COPY: each row is a result. */
enum Mode { COPY, SUM, MEAN, LARGEST };

/* A table of floats, or of integers of 8, 4 or 2 bits. Without arrays of scales and offsets both stand
 * behind the integers of each row. Bag b has the indices from starts[b] on. */
typedef struct {
    const char *table;
    const float *scales, *offsets, *weights; /* or NULL */
    const int64_t *indices, *starts, *ends;
    float *out;
    ptrdiff_t row_bytes, count, bags, columns, bags_a_task;
    int bits, mode;
} Bags;

FUNCTION const char *row_at(const Bags *b, ptrdiff_t place) {
    return b->table + b->indices[place] * b->row_bytes;
}

/* So many columns of a row, from column i on; of bytes the parameters too. */
FUNCTION void fetch_columns(const int bits, const Bags *b, ptrdiff_t place, ptrdiff_t i,
                            ptrdiff_t columns) {
    if (place >= b->count) return;
    prefetch_bytes(row_at(b, place) + i * bits / 8, columns * bits / 8);
    if (i == 0 && bits < FLOATS && !b->scales) {
        prefetch_bytes(row_at(b, place) + b->columns * bits / 8, 1);
    }
}

/* A float16 as float32. */
FUNCTION float from_half(uint16_t half) {
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = half & 0x7fff;
    if (rest < 0x400) return (sign ? -0x1p-24f : 0x1p-24f) * (float)rest;
    const uint32_t exponent = rest < 0x7c00 ? 127 - 15 : 255 - 31;
    const uint32_t word = sign | ((rest << 13) + (exponent << 23));
    float x;
    memcpy(&x, &word, sizeof x);
    return x;
}

/* Scale (0) or offset (1) of a row: `bits_of_row`. */
FUNCTION float parameter_of(const int bits, const Bags *b, ptrdiff_t place, int which) {
    if (b->scales) return (which ? b->offsets : b->scales)[b->indices[place]];
    const char *tail = row_at(b, place) + b->columns * bits / 8;
    float x;
    uint16_t half;
    if (bits == 8) memcpy(&x, tail + which * sizeof x, sizeof x);
    else memcpy(&half, tail + which * sizeof half, sizeof half), x = from_half(half);
    return x;
}

/* So many integers of fewer bits as bytes, `eq-unpack-bits`: integer k, at bit k b, belongs at bit 8 k. */
FUNCTION void widen(const int bits, const uint8_t *packed, uint8_t *bytes, ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < count * bits / 8; ++i) {
        const uint32_t x = packed[i];
        const uint16_t two = (x | x << 4) & 0x0f0f;
        const uint32_t four = (x | x << 6 | x << 12 | x << 18) & 0x03030303;
        if (bits == 4) memcpy(bytes + 2 * i, &two, sizeof two);
        else memcpy(bytes + 4 * i, &four, sizeof four);
    }
}

/* Numbers of floats or bytes from column i on. */
FUNCTION f32v numbers_at(const int bits, const void *row, ptrdiff_t i, ptrdiff_t left) {
    if (bits < FLOATS) {
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
FUNCTION f32v joined(const int bits, const int mode, const int weighted, f32v y, f32v x,
                     f32v factor, f32v offset) {
    if (bits < FLOATS) return fma_f32(x, factor, mode == COPY ? offset : add_f32(y, offset));
    if (mode == LARGEST) return larger(y, x);
    return weighted ? fma_f32(x, factor, y) : add_f32(y, x);
}

/* Some vectors of a bag, from column i on; of the last one there may be only a part. */
FUNCTION void join_columns(const int bits, const int mode, const int weighted, const int vectors,
                           const Bags *b, ptrdiff_t first, ptrdiff_t end, ptrdiff_t i, float *out) {
    const ptrdiff_t left = vectors > 1 || b->columns - i > SIMD_LANES ? SIMD_LANES : b->columns - i;
    ptrdiff_t place = first;
    uint8_t wide[AT_ONCE * SIMD_LANES];
    f32v y[AT_ONCE];
    for (int v = 0; v < vectors; ++v) {
        y[v] = set_f32(0);
        if (mode == LARGEST && first < end) {
            y[v] = numbers_at(FLOATS, row_at(b, first), i + v * SIMD_LANES, left);
        }
    }
    for (place += mode == LARGEST; place < end; ++place) {
        const float weight = weighted ? b->weights[place] : 1;
        f32v factor = set_f32(weight), offset = set_f32(0);
        const void *columns = row_at(b, place) + i * bits / 8;
        fetch_columns(bits, b, place + ROWS, i, vectors * SIMD_LANES);
        if (bits < FLOATS) {
            factor = set_f32(parameter_of(bits, b, place, 0) * weight);
            offset = set_f32(parameter_of(bits, b, place, 1) * weight);
        }
        if (bits < 8) {
            if (left == SIMD_LANES) widen(bits, columns, wide, vectors * SIMD_LANES);
            else widen(bits, columns, wide, left);
            columns = wide;
        }
        for (int v = 0; v < vectors; ++v) {
            const f32v x = numbers_at(bits, columns, v * SIMD_LANES, left);
            y[v] = joined(bits, mode, weighted, y[v], x, factor, offset);
        }
    }
    for (int v = 0; v < vectors; ++v) {
        if (b->mode == MEAN && first < end) y[v] = div_f32(y[v], set_f32((float)(end - first)));
        if (left == SIMD_LANES) store_f32(out + i + v * SIMD_LANES, y[v]);
        else store_n_f32(out + i, y[v], left);
    }
}

FUNCTION void join_bag(const int bits, const int mode, const int weighted, const Bags *b,
                       ptrdiff_t bag) {
    float *out = b->out + bag * b->columns;
    const ptrdiff_t first = mode == COPY ? bag : b->starts[bag];
    const ptrdiff_t end = mode == COPY ? bag + 1 : b->ends[bag];
    ptrdiff_t i = 0;
    for (; i + AT_ONCE * SIMD_LANES <= b->columns; i += AT_ONCE * SIMD_LANES) {
        join_columns(bits, mode, weighted, AT_ONCE, b, first, end, i, out);
    }
    for (; i + AT_ONCE / 2 * SIMD_LANES <= b->columns; i += AT_ONCE / 2 * SIMD_LANES) {
        join_columns(bits, mode, weighted, AT_ONCE / 2, b, first, end, i, out);
    }
    for (; i < b->columns; i += SIMD_LANES) {
        join_columns(bits, mode, weighted, 1, b, first, end, i, out);
    }
}

static void result_of_bag(const Bags *b, ptrdiff_t bag) {
    const int weighted = b->weights != NULL;
    if (b->mode == COPY && b->bits == FLOATS) {
        const ptrdiff_t columns = b->columns < FETCHED ? b->columns : FETCHED;
        fetch_columns(FLOATS, b, bag + ROWS, 0, columns);
        memcpy(b->out + bag * b->columns, row_at(b, bag), (size_t)b->columns * sizeof(float));
    } else if (b->bits == FLOATS) {
        if (b->mode == LARGEST) join_bag(FLOATS, LARGEST, 0, b, bag);
        else if (weighted) join_bag(FLOATS, SUM, 1, b, bag);
        else join_bag(FLOATS, SUM, 0, b, bag);
    } else if (b->bits == 8) {
        if (b->mode == COPY) join_bag(8, COPY, 0, b, bag);
        else join_bag(8, SUM, weighted, b, bag);
    } else if (b->bits == 4) {
        join_bag(4, SUM, weighted, b, bag);
    } else {
        join_bag(2, SUM, weighted, b, bag);
    }
}

#endif
