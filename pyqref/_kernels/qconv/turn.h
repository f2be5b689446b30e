/* Bytes of 16 pixels of up to 16 channels, turned from one line a channel to one line a pixel. */
#ifndef PYQREF_TURN_H
#define PYQREF_TURN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TURNED 16

#if defined(__SSE2__) || defined(_M_X64)

#include <emmintrin.h>

/* Rows 2i and 2i + 1 of `to` are rows i and i + 8 of `from`, byte by byte in turns. Four times
 * makes columns of rows. */
static inline void shuffle_rows(const __m128i *from, __m128i *to) {
    for (int i = 0; i < 8; ++i) {
        to[2 * i] = _mm_unpacklo_epi8(from[i], from[i + 8]);
        to[2 * i + 1] = _mm_unpackhi_epi8(from[i], from[i + 8]);
    }
}

/* Where not `exact`, 16 bytes are written to each line of the target, whatever `channels` is. */
static void turn_block(const uint8_t *source, ptrdiff_t source_step, int channels,
                            uint8_t *target, ptrdiff_t target_step, int exact) {
    __m128i a[16], b[16];
    uint8_t line[16];
    for (int i = 0; i < 16; ++i) {
        a[i] = _mm_loadu_si128((const __m128i *)(source + (i < channels ? i : 0) * source_step));
    }
    shuffle_rows(a, b);
    shuffle_rows(b, a);
    shuffle_rows(a, b);
    shuffle_rows(b, a);
    for (int i = 0; i < 16; ++i, target += target_step) {
        if (!exact || channels == 16) {
            _mm_storeu_si128((__m128i *)target, a[i]);
        } else {
            _mm_storeu_si128((__m128i *)line, a[i]);
            memcpy(target, line, (size_t)channels);
        }
    }
}

#else

static void turn_block(const uint8_t *source, ptrdiff_t source_step, int channels,
                            uint8_t *target, ptrdiff_t target_step, int exact) {
    (void)exact;
    for (int i = 0; i < TURNED; ++i) {
        for (int c = 0; c < channels; ++c) target[i * target_step + c] = source[c * source_step + i];
    }
}

#endif
#endif
