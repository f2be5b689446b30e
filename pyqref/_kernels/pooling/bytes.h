/* Loops over bytes that compilers turn into vectors of the instruction set they compile for. */
#ifndef PYQREF_POOLING_BYTES_H
#define PYQREF_POOLING_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The taps of a window that are inside the image: where the first is, how many, how far apart. */
typedef struct {
    const uint8_t *first;
    ptrdiff_t rows, row_step, columns, column_step;
} taps_t;

/* The largest of each of n <= 64 neighbouring channels over the taps. `flip` is 128 for signed
 * bytes: with their highest bit turned they have the order of unsigned ones. */
#define DEFINE_LARGEST(n)                                                                  \
    static void largest_of_##n(uint8_t *out, const taps_t *taps, uint8_t flip) {           \
        uint8_t largest[n] = {0};                                                          \
        for (ptrdiff_t r = 0; r < taps->rows; ++r) {                                       \
            const uint8_t *x = taps->first + r * taps->row_step;                           \
            for (ptrdiff_t c = 0; c < taps->columns; ++c, x += taps->column_step) {        \
                for (int i = 0; i < n; ++i) {                                              \
                    uint8_t value = x[i] ^ flip;                                           \
                    largest[i] = value > largest[i] ? value : largest[i];                  \
                }                                                                          \
            }                                                                              \
        }                                                                                  \
        for (int i = 0; i < n; ++i) out[i] = largest[i] ^ flip;                            \
    }
DEFINE_LARGEST(64)
DEFINE_LARGEST(16)
DEFINE_LARGEST(1)

/* The same for any number of channels. */
static void largest_of(uint8_t *out, const taps_t *taps, ptrdiff_t channels, uint8_t flip) {
    taps_t at = *taps;
    ptrdiff_t left = channels;
    for (; left >= 64; left -= 64, at.first += 64, out += 64) largest_of_64(out, &at, flip);
    for (; left >= 16; left -= 16, at.first += 16, out += 16) largest_of_16(out, &at, flip);
    for (; left > 0; --left, ++at.first, ++out) largest_of_1(out, &at, flip);
}

static int32_t sum_u8(const uint8_t *x, ptrdiff_t n) {
    int32_t total = 0;
    for (ptrdiff_t i = 0; i < n; ++i) total += x[i];
    return total;
}
static int32_t sum_s8(const int8_t *x, ptrdiff_t n) {
    int32_t total = 0;
    for (ptrdiff_t i = 0; i < n; ++i) total += x[i];
    return total;
}

#endif
