/* The taps of a window, and sums of bytes that compilers turn into vectors. */
#ifndef PYQREF_POOLING_BYTES_H
#define PYQREF_POOLING_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The taps of a window that are inside the image: where the first is, how many, how far apart. */
typedef struct {
    const uint8_t *first;
    ptrdiff_t planes, plane_step, rows, row_step, columns, column_step;
} taps_t;

#define LISTED 64 /* taps of one list, at most */

/* Where taps number `start` and following are, at most `most` of them. Returns how many. */
static inline ptrdiff_t list_taps(const taps_t *taps, ptrdiff_t start, ptrdiff_t most,
                                  const uint8_t **list) {
    ptrdiff_t listed = 0, plane = 0, row = 0, column = 0;
    if (start) {
        row = start / taps->columns, column = start % taps->columns;
        plane = row / taps->rows, row %= taps->rows;
    }
    for (; plane < taps->planes; ++plane, row = 0) {
        for (; row < taps->rows; ++row, column = 0) {
            const uint8_t *x = taps->first + plane * taps->plane_step;
            x += row * taps->row_step + column * taps->column_step;
            for (; column < taps->columns; ++column, x += taps->column_step) {
                if (listed == most) return listed;
                list[listed++] = x;
            }
        }
    }
    return listed;
}

/* Sums of four bytes in each lane, of which some count: their weight is 1, that of the others 0. */
#if HAS_FEW_LARGE /* dot4_small adds two products in 16 bits, and these are no more than 2 * 255 */
typedef bytes_v summed_v, counted_v;
#define interleave_summed interleave
#define load_summed load_quads_of
#define load_counted load_quad_weights
#define sum_summed dot4_small
#else
typedef quads_v summed_v;
typedef weights_v counted_v;
#define interleave_summed interleave_quads
#define load_summed load_quads
#define load_counted load_weights
#define sum_summed dot4_quads
#endif

static inline int32_t sum_u8(const uint8_t *x, ptrdiff_t n) {
    int32_t total = 0;
    for (ptrdiff_t i = 0; i < n; ++i) total += x[i];
    return total;
}
static inline int32_t sum_s8(const int8_t *x, ptrdiff_t n) {
    int32_t total = 0;
    for (ptrdiff_t i = 0; i < n; ++i) total += x[i];
    return total;
}

#endif
