/* Matrices of floats with rows and columns exchanged. */
#ifndef PYQREF_TRANSPOSE_H
#define PYQREF_TRANSPOSE_H

#include <stddef.h>
#include <string.h>

#define TRANSPOSED 8 /* rows and columns of a block */

#if defined(__AVX2__)

#include <immintrin.h>

/* n numbers, which is a constant; the others are 0. */
static inline __m128 load_four(const float *source, const int n) {
    if (n >= 4) return _mm_loadu_ps(source);
    if (n <= 0) return _mm_setzero_ps();
    if (n == 1) return _mm_load_ss(source);
    const __m128 two = _mm_castpd_ps(_mm_load_sd((const double *)source));
    return n == 2 ? two : _mm_movelh_ps(two, _mm_load_ss(source + 2));
}

static inline void store_four(float *target, __m128 x, const int n) {
    if (n >= 4) _mm_storeu_ps(target, x);
    if (n >= 4 || n <= 0) return;
    if (n >= 2) _mm_store_sd((double *)target, _mm_castps_pd(x));
    if (n == 1) _mm_store_ss(target, x);
    if (n == 3) _mm_store_ss(target + 2, _mm_movehl_ps(x, x));
}

static inline __m256 load_eight(const float *source, const int n) {
    if (n == 8) return _mm256_loadu_ps(source);
    return _mm256_set_m128(load_four(source + (n < 4 ? 0 : 4), n - 4), load_four(source, n));
}

static inline void store_eight(float *target, __m256 x, const int n) {
    if (n == 8) {
        _mm256_storeu_ps(target, x);
    } else {
        store_four(target, _mm256_castps256_ps128(x), n);
        if (n > 4) store_four(target + 4, _mm256_extractf128_ps(x, 1), n - 4);
    }
}

/* So many rows and columns of a block, which are constants: no others are read or written. */
static inline void transpose_part(float *target, ptrdiff_t target_row, const float *source,
                                  ptrdiff_t source_row, const int rows, const int columns) {
    __m256 a[8], b[8];
    for (int i = 0; i < 8; ++i) {
        a[i] = i < rows ? load_eight(source + i * source_row, columns) : _mm256_setzero_ps();
    }
    for (int i = 0; i < 8; i += 2) {
        b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]);
        b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        a[i] = _mm256_shuffle_ps(b[i], b[i + 2], 0x44);
        a[i + 1] = _mm256_shuffle_ps(b[i], b[i + 2], 0xee);
        a[i + 2] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0x44);
        a[i + 3] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0xee);
    }
    for (int i = 0; i < columns; ++i) {
        const __m256 x = i < 4 ? _mm256_permute2f128_ps(a[i], a[i + 4], 0x20)
                               : _mm256_permute2f128_ps(a[i - 4], a[i], 0x31);
        store_eight(target + i * target_row, x, rows);
    }
}

/* The same of a whole block: halves of rows are loaded beside each other, so that no lane changes. */
static inline void transpose_block(float *target, ptrdiff_t target_row, const float *source,
                                   ptrdiff_t source_row) {
    for (int half = 0; half < 8; half += 4) {
        __m256 a[4], b[4];
        for (int i = 0; i < 4; ++i) {
            const float *from = source + i * source_row + half;
            a[i] = _mm256_castps128_ps256(_mm_loadu_ps(from));
            a[i] = _mm256_insertf128_ps(a[i], _mm_loadu_ps(from + 4 * source_row), 1);
        }
        for (int i = 0; i < 4; i += 2) {
            b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]);
            b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
        }
        float *to = target + half * target_row;
        _mm256_storeu_ps(to, _mm256_shuffle_ps(b[0], b[2], 0x44));
        _mm256_storeu_ps(to + target_row, _mm256_shuffle_ps(b[0], b[2], 0xee));
        _mm256_storeu_ps(to + 2 * target_row, _mm256_shuffle_ps(b[1], b[3], 0x44));
        _mm256_storeu_ps(to + 3 * target_row, _mm256_shuffle_ps(b[1], b[3], 0xee));
    }
}

#else

static inline void transpose_part(float *target, ptrdiff_t target_row, const float *source,
                                  ptrdiff_t source_row, const int rows, const int columns) {
    for (int column = 0; column < columns; ++column) {
        for (int row = 0; row < rows; ++row) {
            target[column * target_row + row] = source[row * source_row + column];
        }
    }
}

static inline void transpose_block(float *target, ptrdiff_t target_row, const float *source,
                                   ptrdiff_t source_row) {
    transpose_part(target, target_row, source, source_row, TRANSPOSED, TRANSPOSED);
}

#endif

/* target[column][row] = source[row][column]; the rows are so many floats apart. */
static void transpose_f32(float *target, ptrdiff_t target_row, const float *source,
                          ptrdiff_t source_row, ptrdiff_t rows, ptrdiff_t columns) {
    const ptrdiff_t whole_rows = rows - rows % TRANSPOSED;
    const ptrdiff_t whole_columns = columns - columns % TRANSPOSED;
    for (ptrdiff_t row = 0; row < whole_rows; row += TRANSPOSED) {
        for (ptrdiff_t column = 0; column < whole_columns; column += TRANSPOSED) {
            transpose_block(target + column * target_row + row, target_row,
                            source + row * source_row + column, source_row);
        }
    }
    for (ptrdiff_t row = 0; row < rows; ++row) {
        for (ptrdiff_t column = row < whole_rows ? whole_columns : 0; column < columns; ++column) {
            target[column * target_row + row] = source[row * source_row + column];
        }
    }
}

/* Where a block begins: the last one overlaps the one before it. */
static inline ptrdiff_t start_of_block(ptrdiff_t start, ptrdiff_t length) {
    return start + TRANSPOSED <= length ? start : length - TRANSPOSED;
}

#define NARROW(n)                                                                                 \
    case n:                                                                                       \
        for (ptrdiff_t i = 0; rows == n && i < columns; i += TRANSPOSED) {                        \
            const ptrdiff_t column = start_of_block(i, columns);                                  \
            transpose_part(target + column * target_row, target_row, source + column, source_row, \
                           n, TRANSPOSED);                                                        \
        }                                                                                         \
        for (ptrdiff_t i = 0; rows != n && i < rows; i += TRANSPOSED) {                           \
            const ptrdiff_t row = start_of_block(i, rows);                                        \
            transpose_part(target + row, target_row, source + row * source_row, source_row,       \
                           TRANSPOSED, n);                                                        \
        }                                                                                         \
        break;

/* The same of few rows or columns too; two blocks side by side fill a cache line of the result.
 * Elements may be written twice, so that source and target must not overlap. */
static void exchange_f32(float *target, ptrdiff_t target_row, const float *source,
                         ptrdiff_t source_row, ptrdiff_t rows, ptrdiff_t columns) {
    const ptrdiff_t fewer = rows < columns ? rows : columns;
    if (rows < TRANSPOSED && columns < TRANSPOSED) {
        for (ptrdiff_t column = 0; column < columns; ++column) {
            for (ptrdiff_t row = 0; row < rows; ++row) {
                target[column * target_row + row] = source[row * source_row + column];
            }
        }
        return;
    }
    switch (fewer) {
        NARROW(1) NARROW(2) NARROW(3) NARROW(4) NARROW(5) NARROW(6) NARROW(7)
    default:
        for (ptrdiff_t start = 0; start < rows; start += 2 * TRANSPOSED) {
            for (ptrdiff_t i = 0; i < columns; i += TRANSPOSED) {
                const ptrdiff_t column = start_of_block(i, columns);
                for (ptrdiff_t j = start; j < rows && j < start + 2 * TRANSPOSED; j += TRANSPOSED) {
                    const ptrdiff_t row = start_of_block(j, rows);
                    transpose_block(target + column * target_row + row, target_row,
                                    source + row * source_row + column, source_row);
                }
            }
        }
    }
}

#endif
