/* Copies of runs of bytes that are often short: loads and stores of a constant size, the last of
 * which overlaps the one before it. Source and target do not overlap. */
#ifndef PYQREF_COPY_H
#define PYQREF_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define COPY_RUN 4096 /* bytes from which the library's memcpy is worth its call */

#define DEFINE_COPY(size)                                                                     \
    static inline void copy_by_##size(uint8_t *target, const uint8_t *source, ptrdiff_t n) {  \
        ptrdiff_t i = 0;                                                                      \
        for (; i + size < n; i += size) memcpy(target + i, source + i, size);                 \
        memcpy(target + n - size, source + n - size, size);                                   \
    }                                                                                         \
    static void copy_rows_by_##size(uint8_t *target, ptrdiff_t step, const uint8_t *source,   \
                                    ptrdiff_t n, ptrdiff_t rows) {                            \
        if (n == size) { /* without a branch a row */                                         \
            for (; rows > 0; --rows, target += step, source += size) {                        \
                memcpy(target, source, size);                                                 \
            }                                                                                 \
        }                                                                                     \
        for (; rows > 0; --rows, target += step, source += n) {                               \
            copy_by_##size(target, source, n);                                                \
        }                                                                                     \
    }
DEFINE_COPY(64)
DEFINE_COPY(32)
DEFINE_COPY(16)
DEFINE_COPY(8)
DEFINE_COPY(4)

static inline void copy_bytes(uint8_t *target, const uint8_t *source, ptrdiff_t n) {
    if (n >= COPY_RUN) memcpy(target, source, (size_t)n);
    else if (n >= 64) copy_by_64(target, source, n);
    else if (n >= 32) copy_by_32(target, source, n);
    else if (n >= 16) copy_by_16(target, source, n);
    else if (n >= 8) copy_by_8(target, source, n);
    else if (n >= 4) copy_by_4(target, source, n);
    else for (ptrdiff_t i = 0; i < n; ++i) target[i] = source[i];
}

/* Rows of n bytes that follow one another, to places that are `step` apart. */
static inline void copy_rows(uint8_t *target, ptrdiff_t step, const uint8_t *source, ptrdiff_t n,
                             ptrdiff_t rows) {
    if (n >= 64 && n < COPY_RUN) copy_rows_by_64(target, step, source, n, rows);
    else if (n >= 32 && n < 64) copy_rows_by_32(target, step, source, n, rows);
    else if (n >= 16 && n < 32) copy_rows_by_16(target, step, source, n, rows);
    else if (n >= 8 && n < 16) copy_rows_by_8(target, step, source, n, rows);
    else if (n >= 4 && n < 8) copy_rows_by_4(target, step, source, n, rows);
    else for (; rows > 0; --rows, target += step, source += n) copy_bytes(target, source, n);
}

#endif
