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
    }
DEFINE_COPY(64)
DEFINE_COPY(16)
DEFINE_COPY(4)

static inline void copy_bytes(uint8_t *target, const uint8_t *source, ptrdiff_t n) {
    if (n >= COPY_RUN) memcpy(target, source, (size_t)n);
    else if (n >= 64) copy_by_64(target, source, n);
    else if (n >= 16) copy_by_16(target, source, n);
    else if (n >= 4) copy_by_4(target, source, n);
    else for (ptrdiff_t i = 0; i < n; ++i) target[i] = source[i];
}

#endif
