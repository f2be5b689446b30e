/* Matrices of floats with rows and columns exchanged. */
#ifndef PYQREF_TRANSPOSE_H
#define PYQREF_TRANSPOSE_H

#include <stddef.h>

#define TRANSPOSED 8 /* rows and columns of a block */

#if defined(__AVX2__)

#include <immintrin.h>

static inline void transpose_block(float *target, ptrdiff_t target_row, const float *source,
                                   ptrdiff_t source_row) {
    __m256 a[8], b[8];
    for (int i = 0; i < 8; ++i) a[i] = _mm256_loadu_ps(source + i * source_row);
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
    for (int i = 0; i < 4; ++i) {
        _mm256_storeu_ps(target + i * target_row, _mm256_permute2f128_ps(a[i], a[i + 4], 0x20));
        _mm256_storeu_ps(target + (i + 4) * target_row,
                         _mm256_permute2f128_ps(a[i], a[i + 4], 0x31));
    }
}

#else

static inline void transpose_block(float *target, ptrdiff_t target_row, const float *source,
                                   ptrdiff_t source_row) {
    for (int column = 0; column < TRANSPOSED; ++column) {
        for (int row = 0; row < TRANSPOSED; ++row) {
            target[column * target_row + row] = source[row * source_row + column];
        }
    }
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

#endif
