/* A function that is compiled anew for each constant that it is called with. */
#ifndef PYQREF_WINDOWS_INLINE_H
#define PYQREF_WINDOWS_INLINE_H

#ifdef _MSC_VER
#define TILE static __forceinline
#else
#define TILE static inline __attribute__((always_inline))
#endif

#endif
