/* Sums in double of eight neighbouring floats, lane by lane: the same for every instruction set.
 *
 * Compilers find no vectors in loops over the lanes, or find them in one place and not in another;
 * so those that have a way to say what is one are told.
 */
#ifndef PYQREF_DOUBLES_H
#define PYQREF_DOUBLES_H

#include <string.h>

#if defined(__GNUC__)

typedef double eight_doubles __attribute__((vector_size(64)));
typedef float eight_floats __attribute__((vector_size(32)));

static inline void add_themselves(eight_doubles *sums, const float *a)
{
    eight_floats x;
    memcpy(&x, a, sizeof(x));
    *sums += __builtin_convertvector(x, eight_doubles);
}

static inline void add_squares(eight_doubles *sums, const float *a, float center)
{
    eight_floats x;
    eight_doubles centered;
    memcpy(&x, a, sizeof(x));
    centered = __builtin_convertvector(x - center, eight_doubles);
    *sums += centered * centered;
}

static inline void add_products(eight_doubles *sums, const float *a, const float *b, float center)
{
    eight_floats x, y;
    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    *sums += __builtin_convertvector(x, eight_doubles)
        * __builtin_convertvector(y - center, eight_doubles);
}

#else

typedef struct { double lane[8]; } eight_doubles;

static inline void add_themselves(eight_doubles *sums, const float *a)
{
    for (int i = 0; i < 8; i++)
        sums->lane[i] += a[i];
}

static inline void add_squares(eight_doubles *sums, const float *a, float center)
{
    for (int i = 0; i < 8; i++) {
        float centered = a[i] - center;
        sums->lane[i] += (double)centered * centered;
    }
}

static inline void add_products(eight_doubles *sums, const float *a, const float *b, float center)
{
    for (int i = 0; i < 8; i++) {
        float centered = b[i] - center;
        sums->lane[i] += (double)a[i] * centered;
    }
}

#endif
#endif
