/* The headers that a module for one instruction set takes from Python and from the compiler. They
 * are read before all others, so that GCC may read them once for each set: see setup.py. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif
