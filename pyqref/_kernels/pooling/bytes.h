/* Loops over bytes that compilers turn into vectors of the instruction set they compile for. */
#ifndef PYQREF_POOLING_BYTES_H
#define PYQREF_POOLING_BYTES_H

#include <stddef.h>
#include <stdint.h>

#if defined(_MSC_VER)
#define RESTRICT __restrict
#else
#define RESTRICT restrict
#endif

static void keep_larger_u8(uint8_t *RESTRICT largest, const uint8_t *RESTRICT x, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; ++i) largest[i] = x[i] > largest[i] ? x[i] : largest[i];
}
static void keep_larger_s8(int8_t *RESTRICT largest, const int8_t *RESTRICT x, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; ++i) largest[i] = x[i] > largest[i] ? x[i] : largest[i];
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
