/* Bytes of 16 pixels of up to 16 channels, from one line a channel to one line a pixel. */
#ifndef PYQREF_TURN_H
#define PYQREF_TURN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TRANSPOSED 16

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

/* Four pixels of three bytes, each with one that is not wanted, as 12 bytes and zeros. */
static inline __m128i close_gaps(__m128i pixels) {
    const __m128i first = _mm_set1_epi64x(0xffffff), second = _mm_slli_epi64(first, 24);
    const __m128i twos = _mm_or_si128(_mm_and_si128(pixels, first),
                                      _mm_and_si128(_mm_srli_epi64(pixels, 8), second));
    return _mm_or_si128(_mm_move_epi64(twos), _mm_slli_si128(_mm_srli_si128(twos, 8), 6));
}

/* Three channels of pixels that follow one another, as first layers have them: 48 bytes. */
static inline void transpose_colours(const uint8_t *source, ptrdiff_t source_step, uint8_t *target) {
    __m128i *const out = (__m128i *)target;
    const __m128i red = _mm_loadu_si128((const __m128i *)source);
    const __m128i green = _mm_loadu_si128((const __m128i *)(source + source_step));
    const __m128i blue = _mm_loadu_si128((const __m128i *)(source + 2 * source_step));
    const __m128i low = _mm_unpacklo_epi8(red, green), high = _mm_unpackhi_epi8(red, green);
    const __m128i low_blue = _mm_unpacklo_epi8(blue, blue);
    const __m128i high_blue = _mm_unpackhi_epi8(blue, blue);
    const __m128i a = close_gaps(_mm_unpacklo_epi16(low, low_blue));
    const __m128i b = close_gaps(_mm_unpackhi_epi16(low, low_blue));
    const __m128i c = close_gaps(_mm_unpacklo_epi16(high, high_blue));
    const __m128i d = close_gaps(_mm_unpackhi_epi16(high, high_blue));
    _mm_storeu_si128(out, _mm_or_si128(a, _mm_slli_si128(b, 12)));
    _mm_storeu_si128(out + 1, _mm_or_si128(_mm_srli_si128(b, 4), _mm_slli_si128(c, 8)));
    _mm_storeu_si128(out + 2, _mm_or_si128(_mm_srli_si128(c, 8), _mm_slli_si128(d, 4)));
}

/* Where not `exact`, 16 bytes are written to each line of the target, whatever `channels` is. */
static void transpose_block(const uint8_t *source, ptrdiff_t source_step, int channels,
                            uint8_t *target, ptrdiff_t target_step, int exact) {
    __m128i a[16], b[16];
    uint8_t line[16];
    if (channels == 3 && target_step == 3) {
        transpose_colours(source, source_step, target);
        return;
    }
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

static void transpose_block(const uint8_t *source, ptrdiff_t source_step, int channels,
                            uint8_t *target, ptrdiff_t target_step, int exact) {
    (void)exact;
    for (int i = 0; i < TRANSPOSED; ++i) {
        for (int c = 0; c < channels; ++c) target[i * target_step + c] = source[c * source_step + i];
    }
}

#endif
#endif
