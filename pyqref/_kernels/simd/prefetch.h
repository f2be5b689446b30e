/* Cache lines fetched ahead of their use. An address beyond an array does no harm. */
#ifndef PYQREF_PREFETCH_H
#define PYQREF_PREFETCH_H

#include <stddef.h>

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address, 0, 2)
#else
#define PREFETCH(address) (void)(address)
#endif

static inline void prefetch_apart(const void *first, ptrdiff_t step, ptrdiff_t count) {
    for (ptrdiff_t i = 0; i < count; ++i) PREFETCH((const char *)first + i * step);
}

static inline void prefetch_bytes(const void *first, ptrdiff_t count) {
    prefetch_apart(first, 64, (count + 63) / 64);
}

#endif
