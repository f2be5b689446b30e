/* AVX512 with VNNI in C and AVX2: included by stand_ins.h where the compiler is not told of it.
 *
 * Most of its instructions do to each half of a register what one of AVX2 does; what masks, moves
 * lanes across the halves or is new is written as a loop. Only what pyqref/_kernels/simd uses is
 * here. Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2. */
#ifndef STAND_INS_AVX512_H
#define STAND_INS_AVX512_H

#include <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef union {
    __m512 floats;
    __m512d doubles;
    __m512i integers;
    __m256 float_halves[2];
    __m256d double_halves[2];
    __m256i halves[2];
    __m128i quarters[4];
    float f32[16];
    int8_t i8[64];
    int16_t i16[32];
    int32_t i32[16];
    uint8_t u8[64];
    uint32_t u32[16];
} StandIn512;

/* --- Both halves, by an instruction of AVX2 ------------------------------------------------ */

#define STAND_IN_HALVES(name, instruction, type, member, part)             \
    static inline type name(type a, type b) {                              \
        StandIn512 x = {.member = a}, y = {.member = b};                   \
        for (int i = 0; i < 2; ++i) x.part[i] = instruction(x.part[i], y.part[i]); \
        return x.member;                                                   \
    }
#define STAND_IN_FLOATS(name) \
    STAND_IN_HALVES(stand_in_##name, _mm256_##name, __m512, floats, float_halves)
#define STAND_IN_DOUBLES(name) \
    STAND_IN_HALVES(stand_in_##name, _mm256_##name, __m512d, doubles, double_halves)
#define STAND_IN_INTEGERS(name) \
    STAND_IN_HALVES(stand_in_##name, _mm256_##name, __m512i, integers, halves)

STAND_IN_FLOATS(add_ps) STAND_IN_FLOATS(and_ps) STAND_IN_FLOATS(div_ps) STAND_IN_FLOATS(max_ps)
STAND_IN_FLOATS(min_ps) STAND_IN_FLOATS(mul_ps) STAND_IN_FLOATS(or_ps) STAND_IN_FLOATS(sub_ps)
STAND_IN_FLOATS(unpackhi_ps) STAND_IN_FLOATS(unpacklo_ps)
STAND_IN_DOUBLES(add_pd) STAND_IN_DOUBLES(div_pd) STAND_IN_DOUBLES(max_pd) STAND_IN_DOUBLES(min_pd)
STAND_IN_DOUBLES(mul_pd) STAND_IN_DOUBLES(sub_pd)
STAND_IN_DOUBLES(unpackhi_pd) STAND_IN_DOUBLES(unpacklo_pd)
STAND_IN_INTEGERS(add_epi16) STAND_IN_INTEGERS(add_epi32) STAND_IN_INTEGERS(add_epi64)
STAND_IN_INTEGERS(adds_epi16)
STAND_IN_INTEGERS(max_epi8) STAND_IN_INTEGERS(max_epu8) STAND_IN_INTEGERS(min_epi8)
STAND_IN_INTEGERS(min_epu8) STAND_IN_INTEGERS(mullo_epi32) STAND_IN_INTEGERS(packs_epi16)
STAND_IN_INTEGERS(packs_epi32) STAND_IN_INTEGERS(packus_epi16) STAND_IN_INTEGERS(shuffle_epi8)
STAND_IN_INTEGERS(sub_epi16) STAND_IN_INTEGERS(sub_epi32) STAND_IN_INTEGERS(subs_epi8)
STAND_IN_INTEGERS(unpackhi_epi16) STAND_IN_INTEGERS(unpackhi_epi8)
STAND_IN_INTEGERS(unpacklo_epi16) STAND_IN_INTEGERS(unpacklo_epi8)
STAND_IN_HALVES(stand_in_or_si512, _mm256_or_si256, __m512i, integers, halves)
STAND_IN_HALVES(stand_in_xor_si512, _mm256_xor_si256, __m512i, integers, halves)

#define STAND_IN_SHIFT(name)                                                   \
    static inline __m512i stand_in_##name(__m512i a, unsigned n) {             \
        StandIn512 x = {.integers = a};                                        \
        for (int i = 0; i < 2; ++i) x.halves[i] = _mm256_##name(x.halves[i], (int)n); \
        return x.integers;                                                     \
    }
STAND_IN_SHIFT(slli_epi16) STAND_IN_SHIFT(slli_epi32) STAND_IN_SHIFT(srai_epi16)
STAND_IN_SHIFT(slli_epi64) STAND_IN_SHIFT(srai_epi32) STAND_IN_SHIFT(srli_epi32)
STAND_IN_SHIFT(srli_epi64)

/* --- Lane by lane --------------------------------------------------------------------------- */

#define STAND_IN_LOOP(count, ...)                       \
    for (int i = 0; i < (count); ++i) { __VA_ARGS__; }

static inline __m512 stand_in_abs_ps(__m512 a) {
    StandIn512 x = {.floats = a};
    STAND_IN_LOOP(16, x.u32[i] &= 0x7fffffffu)
    return x.floats;
}
static inline __m512 stand_in_sqrt_ps(__m512 a) {
    StandIn512 x = {.floats = a};
    STAND_IN_LOOP(2, x.float_halves[i] = _mm256_sqrt_ps(x.float_halves[i]))
    return x.floats;
}
static inline __m512 stand_in_fmadd_ps(__m512 a, __m512 b, __m512 c) {
    StandIn512 x = {.floats = a}, y = {.floats = b}, z = {.floats = c};
    STAND_IN_LOOP(2, x.float_halves[i] = _mm256_fmadd_ps(x.float_halves[i], y.float_halves[i],
                                                         z.float_halves[i]))
    return x.floats;
}
/* Of the roundings, that to the nearest integer, of two to the even one. */
static inline __m512 stand_in_roundscale_ps(__m512 a, int mode) {
    StandIn512 x = {.floats = a};
    if (mode != (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)) stand_in_refuses("rounding");
    STAND_IN_LOOP(2, x.float_halves[i] = _mm256_round_ps(
                         x.float_halves[i], _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC))
    return x.floats;
}
static inline __m512 stand_in_cvtepi32_ps(__m512i a) {
    StandIn512 x = {.integers = a};
    STAND_IN_LOOP(2, x.float_halves[i] = _mm256_cvtepi32_ps(x.halves[i]))
    return x.floats;
}
static inline __m512i stand_in_cvtps_epi32(__m512 a) {
    StandIn512 x = {.floats = a};
    STAND_IN_LOOP(2, x.halves[i] = _mm256_cvtps_epi32(x.float_halves[i]))
    return x.integers;
}
static inline __m512i stand_in_cvttps_epi32(__m512 a) {
    StandIn512 x = {.floats = a};
    STAND_IN_LOOP(2, x.halves[i] = _mm256_cvttps_epi32(x.float_halves[i]))
    return x.integers;
}
static inline __m512i stand_in_cvtepi8_epi32(__m128i a) {
    StandIn512 x = {.quarters = {a}}, wide;
    STAND_IN_LOOP(16, wide.i32[i] = x.i8[i])
    return wide.integers;
}
static inline __m512i stand_in_cvtepu8_epi32(__m128i a) {
    StandIn512 x = {.quarters = {a}}, wide;
    STAND_IN_LOOP(16, wide.i32[i] = x.u8[i])
    return wide.integers;
}
static inline __m512i stand_in_cvtepu8_epi16(__m256i a) {
    StandIn512 x = {.halves = {a}}, wide;
    STAND_IN_LOOP(32, wide.i16[i] = x.u8[i])
    return wide.integers;
}
static inline __m128i stand_in_cvtepi32_epi8(__m512i a) {
    StandIn512 x = {.integers = a}, narrow;
    STAND_IN_LOOP(16, narrow.i8[i] = (int8_t)x.i32[i])
    return narrow.quarters[0];
}
static inline __m512i stand_in_dpbusd_epi32(__m512i c, __m512i a, __m512i b) {
    StandIn512 sum = {.integers = c}, x = {.integers = a}, w = {.integers = b};
    STAND_IN_LOOP(64, sum.u32[i / 4] += (uint32_t)(x.u8[i] * w.i8[i]))
    return sum.integers;
}
static inline __m512i stand_in_dpwssd_epi32(__m512i c, __m512i a, __m512i b) {
    StandIn512 sum = {.integers = c}, x = {.integers = a}, w = {.integers = b};
    STAND_IN_LOOP(32, sum.u32[i / 2] += (uint32_t)(x.i16[i] * w.i16[i]))
    return sum.integers;
}
static inline float stand_in_reduce_min_ps(__m512 a) {
    StandIn512 x = {.floats = a};
    STAND_IN_LOOP(15, if (x.f32[i + 1] < x.f32[0]) x.f32[0] = x.f32[i + 1])
    return x.f32[0];
}
static inline float stand_in_reduce_max_ps(__m512 a) {
    StandIn512 x = {.floats = a};
    STAND_IN_LOOP(15, if (x.f32[i + 1] > x.f32[0]) x.f32[0] = x.f32[i + 1])
    return x.f32[0];
}

/* --- Across the halves ------------------------------------------------------------------------ */

static inline __m512i stand_in_permutexvar_epi32(__m512i order, __m512i a) {
    StandIn512 x = {.integers = a}, from = {.integers = order}, moved;
    STAND_IN_LOOP(16, moved.i32[i] = x.i32[from.i32[i] & 15])
    return moved.integers;
}
static inline __m512i stand_in_shuffle_epi32(__m512i a, int order) {
    StandIn512 x = {.integers = a}, moved;
    STAND_IN_LOOP(16, moved.i32[i] = x.i32[i / 4 * 4 + (order >> 2 * (i % 4) & 3)])
    return moved.integers;
}
static inline __m512 stand_in_shuffle_f32x4(__m512 a, __m512 b, int order) {
    StandIn512 x = {.floats = a}, y = {.floats = b}, moved;
    STAND_IN_LOOP(4, moved.quarters[i] = (i < 2 ? x : y).quarters[order >> 2 * i & 3])
    return moved.floats;
}
static inline __m128i stand_in_extracti32x4_epi32(__m512i a, int quarter) {
    StandIn512 x = {.integers = a};
    return x.quarters[quarter];
}
static inline __m256i stand_in_extracti64x4_epi64(__m512i a, int half) {
    StandIn512 x = {.integers = a};
    return x.halves[half];
}
static inline __m512i stand_in_broadcast_i32x4(__m128i a) {
    StandIn512 x = {.quarters = {a, a, a, a}};
    return x.integers;
}

/* --- Masks -------------------------------------------------------------------------------------- */

static inline __mmask16 stand_in_cmp_ps_mask(__m512 a, __m512 b, int how) {
    StandIn512 x = {.floats = a}, y = {.floats = b};
    uint32_t mask = 0;
    for (int i = 0; i < 16; ++i) {
        const float p = x.f32[i], q = y.f32[i];
        const int holds = how == _CMP_UNORD_Q ? isnan(p) || isnan(q)
                          : how == _CMP_LT_OQ ? p < q
                          : how == _CMP_GE_OQ ? p >= q
                          : how == _CMP_LE_OQ ? p <= q
                          : how == _CMP_NLT_UQ ? !(p < q)
                                               : -1;
        if (holds < 0) stand_in_refuses("comparison");
        mask |= (uint32_t)holds << i;
    }
    return (__mmask16)mask;
}
static inline __mmask16 stand_in_mask_cmp_ps_mask(__mmask16 mask, __m512 a, __m512 b, int how) {
    return mask & stand_in_cmp_ps_mask(a, b, how);
}
static inline __mmask16 stand_in_cmpneq_epi32_mask(__m512i a, __m512i b) {
    StandIn512 x = {.integers = a}, y = {.integers = b};
    uint32_t mask = 0;
    STAND_IN_LOOP(16, mask |= (uint32_t)(x.i32[i] != y.i32[i]) << i)
    return (__mmask16)mask;
}
static inline __mmask16 stand_in_test_epi32_mask(__m512i a, __m512i b) {
    StandIn512 x = {.integers = a}, y = {.integers = b};
    uint32_t mask = 0;
    STAND_IN_LOOP(16, mask |= (uint32_t)((x.i32[i] & y.i32[i]) != 0) << i)
    return (__mmask16)mask;
}
static inline __m512 stand_in_mask_mov_ps(__m512 a, __mmask16 mask, __m512 b) {
    StandIn512 x = {.floats = a}, y = {.floats = b};
    STAND_IN_LOOP(16, if (mask >> i & 1) x.i32[i] = y.i32[i])
    return x.floats;
}
static inline __m512 stand_in_maskz_mov_ps(__mmask16 mask, __m512 b) {
    return stand_in_mask_mov_ps((__m512){0}, mask, b);
}
static inline __m512i stand_in_maskz_set1_epi32(__mmask16 mask, int value) {
    StandIn512 x;
    STAND_IN_LOOP(16, x.i32[i] = mask >> i & 1 ? value : 0)
    return x.integers;
}
static inline __m512i stand_in_mask_blend_epi16(__mmask32 mask, __m512i a, __m512i b) {
    StandIn512 x = {.integers = a}, y = {.integers = b};
    STAND_IN_LOOP(32, if (mask >> i & 1) x.i16[i] = y.i16[i])
    return x.integers;
}

/* --- Memory: nothing is touched where a mask has no bit ------------------------------------------ */

static inline __m512 stand_in_loadu_ps(const void *source) {
    StandIn512 x;
    memcpy(&x, source, sizeof x);
    return x.floats;
}
static inline __m512i stand_in_loadu_si512(const void *source) {
    StandIn512 x;
    memcpy(&x, source, sizeof x);
    return x.integers;
}
static inline void stand_in_storeu_ps(void *target, __m512 a) { memcpy(target, &a, sizeof a); }
static inline void stand_in_storeu_si512(void *target, __m512i a) { memcpy(target, &a, sizeof a); }
static inline void stand_in_stream_ps(float *target, __m512 a) {
    if ((uintptr_t)target % 64) stand_in_refuses("an address that is no multiple of 64");
    memcpy(target, &a, sizeof a);
}
static inline __m512i stand_in_maskz_loadu_epi32(__mmask16 mask, const void *source) {
    StandIn512 x = {{0}};
    STAND_IN_LOOP(16, if (mask >> i & 1) memcpy(&x.i32[i], (const int32_t *)source + i, 4))
    return x.integers;
}
static inline __m512 stand_in_maskz_loadu_ps(__mmask16 mask, const void *source) {
    StandIn512 x = {.integers = stand_in_maskz_loadu_epi32(mask, source)};
    return x.floats;
}
static inline __m512i stand_in_maskz_loadu_epi8(__mmask64 mask, const void *source) {
    StandIn512 x = {{0}};
    STAND_IN_LOOP(64, if (mask >> i & 1) x.u8[i] = ((const uint8_t *)source)[i])
    return x.integers;
}
#define STAND_IN_MASKED_STORE(name, type, mask_type)                           \
    static inline void name(void *target, mask_type mask, type a) {            \
        uint8_t bytes[sizeof a];                                               \
        memcpy(bytes, &a, sizeof a);                                           \
        STAND_IN_LOOP((int)sizeof a, if (mask >> i & 1)((uint8_t *)target)[i] = bytes[i]) \
    }
STAND_IN_MASKED_STORE(stand_in_mask_storeu_epi8, __m512i, __mmask64)
STAND_IN_MASKED_STORE(stand_in_mask_storeu_epi8_of_256, __m256i, __mmask32)
STAND_IN_MASKED_STORE(stand_in_mask_storeu_epi8_of_128, __m128i, __mmask16)

static inline __m512i stand_in_mask_blend_epi8(__mmask64 mask, __m512i a, __m512i b) {
    StandIn512 x = {.integers = a}, y = {.integers = b};
    STAND_IN_LOOP(64, if (mask >> i & 1) x.i8[i] = y.i8[i])
    return x.integers;
}
static inline __mmask64 stand_in_movepi8_mask(__m512i a) {
    StandIn512 x = {.integers = a};
    __mmask64 mask = 0;
    STAND_IN_LOOP(64, mask |= (__mmask64)(x.i8[i] < 0) << i)
    return mask;
}

/* --- Between floats and doubles, and their halves ---------------------------------------------------- */

static inline __m512d stand_in_cvtps_pd(__m256 a) {
    StandIn512 x;
    x.double_halves[0] = _mm256_cvtps_pd(_mm256_castps256_ps128(a));
    x.double_halves[1] = _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1));
    return x.doubles;
}
static inline __m256 stand_in_cvtpd_ps(__m512d a) {
    StandIn512 x = {.doubles = a};
    return _mm256_set_m128(_mm256_cvtpd_ps(x.double_halves[1]), _mm256_cvtpd_ps(x.double_halves[0]));
}
static inline __m256 stand_in_extractf32x8_ps(__m512 a, int half) {
    StandIn512 x = {.floats = a};
    return x.float_halves[half];
}
static inline __m512 stand_in_insertf32x8(__m512 a, __m256 b, int half) {
    StandIn512 x = {.floats = a};
    x.float_halves[half] = b;
    return x.floats;
}

/* --- Constants and casts --------------------------------------------------------------------------- */

static inline __m512 stand_in_set1_ps(float value) {
    StandIn512 x;
    STAND_IN_LOOP(16, x.f32[i] = value)
    return x.floats;
}
static inline __m512d stand_in_set1_pd(double value) {
    StandIn512 x;
    STAND_IN_LOOP(2, x.double_halves[i] = _mm256_set1_pd(value))
    return x.doubles;
}
static inline __m512i stand_in_set1_epi64(long long value) {
    StandIn512 x;
    STAND_IN_LOOP(2, x.halves[i] = _mm256_set1_epi64x(value))
    return x.integers;
}
static inline __m512 stand_in_castps256_ps512(__m256 a) {
    StandIn512 x = {.float_halves = {a}};
    return x.floats;
}
static inline __m512i stand_in_set1_epi8(char value) {
    StandIn512 x;
    memset(&x, value, sizeof x);
    return x.integers;
}
static inline __m512i stand_in_set1_epi16(short value) {
    StandIn512 x;
    STAND_IN_LOOP(32, x.i16[i] = value)
    return x.integers;
}
static inline __m512i stand_in_set1_epi32(int value) {
    StandIn512 x;
    STAND_IN_LOOP(16, x.i32[i] = value)
    return x.integers;
}
#define STAND_IN_CAST(name, from, member, to, part) \
    static inline to name(from a) {                 \
        StandIn512 x = {.member = a};               \
        return x.part;                              \
    }
STAND_IN_CAST(stand_in_castpd_ps, __m512d, doubles, __m512, floats)
STAND_IN_CAST(stand_in_castpd_si512, __m512d, doubles, __m512i, integers)
STAND_IN_CAST(stand_in_castps512_ps256, __m512, floats, __m256, float_halves[0])
STAND_IN_CAST(stand_in_castps_si512, __m512, floats, __m512i, integers)
STAND_IN_CAST(stand_in_castsi512_pd, __m512i, integers, __m512d, doubles)
STAND_IN_CAST(stand_in_castps_pd, __m512, floats, __m512d, doubles)
STAND_IN_CAST(stand_in_castsi512_ps, __m512i, integers, __m512, floats)
STAND_IN_CAST(stand_in_castsi512_si128, __m512i, integers, __m128i, quarters[0])
STAND_IN_CAST(stand_in_castsi512_si256, __m512i, integers, __m256i, halves[0])

/* --- Their names ---------------------------------------------------------------------------------- */

#define _mm512_abs_ps stand_in_abs_ps
#define _mm512_add_epi16 stand_in_add_epi16
#define _mm512_add_epi32 stand_in_add_epi32
#define _mm512_add_epi64 stand_in_add_epi64
#define _mm512_add_pd stand_in_add_pd
#define _mm512_add_ps stand_in_add_ps
#define _mm512_adds_epi16 stand_in_adds_epi16
#define _mm512_and_ps stand_in_and_ps
#define _mm512_broadcast_i32x4 stand_in_broadcast_i32x4
#define _mm512_castpd_ps stand_in_castpd_ps
#define _mm512_castpd_si512 stand_in_castpd_si512
#define _mm512_castps256_ps512 stand_in_castps256_ps512
#define _mm512_castps512_ps256 stand_in_castps512_ps256
#define _mm512_castps_pd stand_in_castps_pd
#define _mm512_castps_si512 stand_in_castps_si512
#define _mm512_castsi512_pd stand_in_castsi512_pd
#define _mm512_castsi512_ps stand_in_castsi512_ps
#define _mm512_castsi512_si128 stand_in_castsi512_si128
#define _mm512_castsi512_si256 stand_in_castsi512_si256
#define _mm512_cmp_ps_mask stand_in_cmp_ps_mask
#define _mm512_cmpneq_epi32_mask stand_in_cmpneq_epi32_mask
#define _mm512_cvtepi32_epi8 stand_in_cvtepi32_epi8
#define _mm512_cvtepi32_ps stand_in_cvtepi32_ps
#define _mm512_cvtepi8_epi32 stand_in_cvtepi8_epi32
#define _mm512_cvtepu8_epi16 stand_in_cvtepu8_epi16
#define _mm512_cvtepu8_epi32 stand_in_cvtepu8_epi32
#define _mm512_cvtpd_ps stand_in_cvtpd_ps
#define _mm512_cvtps_epi32 stand_in_cvtps_epi32
#define _mm512_cvtps_pd stand_in_cvtps_pd
#define _mm512_cvttps_epi32 stand_in_cvttps_epi32
#define _mm512_div_pd stand_in_div_pd
#define _mm512_div_ps stand_in_div_ps
#define _mm512_dpbusd_epi32 stand_in_dpbusd_epi32
#define _mm512_dpwssd_epi32 stand_in_dpwssd_epi32
#define _mm512_extractf32x8_ps stand_in_extractf32x8_ps
#define _mm512_extracti32x4_epi32 stand_in_extracti32x4_epi32
#define _mm512_extracti64x4_epi64 stand_in_extracti64x4_epi64
#define _mm512_fmadd_ps stand_in_fmadd_ps
#define _mm512_insertf32x8 stand_in_insertf32x8
#define _mm512_loadu_ps stand_in_loadu_ps
#define _mm512_loadu_si512 stand_in_loadu_si512
#define _mm512_mask_blend_epi16 stand_in_mask_blend_epi16
#define _mm512_mask_blend_epi8 stand_in_mask_blend_epi8
#define _mm512_mask_cmp_ps_mask stand_in_mask_cmp_ps_mask
#define _mm512_mask_mov_ps stand_in_mask_mov_ps
#define _mm512_mask_storeu_epi8 stand_in_mask_storeu_epi8
#define _mm512_maskz_loadu_epi32 stand_in_maskz_loadu_epi32
#define _mm512_maskz_loadu_epi8 stand_in_maskz_loadu_epi8
#define _mm512_maskz_loadu_ps stand_in_maskz_loadu_ps
#define _mm512_maskz_mov_ps stand_in_maskz_mov_ps
#define _mm512_maskz_set1_epi32 stand_in_maskz_set1_epi32
#define _mm512_max_epi8 stand_in_max_epi8
#define _mm512_max_epu8 stand_in_max_epu8
#define _mm512_max_pd stand_in_max_pd
#define _mm512_max_ps stand_in_max_ps
#define _mm512_min_epi8 stand_in_min_epi8
#define _mm512_min_epu8 stand_in_min_epu8
#define _mm512_min_pd stand_in_min_pd
#define _mm512_min_ps stand_in_min_ps
#define _mm512_movepi8_mask stand_in_movepi8_mask
#define _mm512_mul_pd stand_in_mul_pd
#define _mm512_mul_ps stand_in_mul_ps
#define _mm512_mullo_epi32 stand_in_mullo_epi32
#define _mm512_or_ps stand_in_or_ps
#define _mm512_or_si512 stand_in_or_si512
#define _mm512_packs_epi16 stand_in_packs_epi16
#define _mm512_packs_epi32 stand_in_packs_epi32
#define _mm512_packus_epi16 stand_in_packus_epi16
#define _mm512_permutexvar_epi32 stand_in_permutexvar_epi32
#define _mm512_reduce_max_ps stand_in_reduce_max_ps
#define _mm512_reduce_min_ps stand_in_reduce_min_ps
#define _mm512_roundscale_ps stand_in_roundscale_ps
#define _mm512_set1_epi16 stand_in_set1_epi16
#define _mm512_set1_epi32 stand_in_set1_epi32
#define _mm512_set1_epi64 stand_in_set1_epi64
#define _mm512_set1_epi8 stand_in_set1_epi8
#define _mm512_set1_pd stand_in_set1_pd
#define _mm512_set1_ps stand_in_set1_ps
#undef _mm512_setr_epi32
#define _mm512_setr_epi32(...) ((StandIn512){.i32 = {__VA_ARGS__}}).integers
#define _mm512_setzero_si512() ((__m512i){0})
#define _mm512_shuffle_epi32 stand_in_shuffle_epi32
#define _mm512_shuffle_epi8 stand_in_shuffle_epi8
#define _mm512_shuffle_f32x4 stand_in_shuffle_f32x4
#define _mm512_slli_epi16 stand_in_slli_epi16
#define _mm512_slli_epi32 stand_in_slli_epi32
#define _mm512_slli_epi64 stand_in_slli_epi64
#define _mm512_sqrt_ps stand_in_sqrt_ps
#define _mm512_srai_epi16 stand_in_srai_epi16
#define _mm512_srai_epi32 stand_in_srai_epi32
#define _mm512_srli_epi32 stand_in_srli_epi32
#define _mm512_srli_epi64 stand_in_srli_epi64
#define _mm512_storeu_ps stand_in_storeu_ps
#define _mm512_storeu_si512 stand_in_storeu_si512
#define _mm512_stream_ps stand_in_stream_ps
#define _mm512_sub_epi16 stand_in_sub_epi16
#define _mm512_sub_epi32 stand_in_sub_epi32
#define _mm512_sub_pd stand_in_sub_pd
#define _mm512_sub_ps stand_in_sub_ps
#define _mm512_subs_epi8 stand_in_subs_epi8
#define _mm512_test_epi32_mask stand_in_test_epi32_mask
#define _mm512_unpackhi_epi16 stand_in_unpackhi_epi16
#define _mm512_unpackhi_epi8 stand_in_unpackhi_epi8
#define _mm512_unpackhi_pd stand_in_unpackhi_pd
#define _mm512_unpackhi_ps stand_in_unpackhi_ps
#define _mm512_unpacklo_epi16 stand_in_unpacklo_epi16
#define _mm512_unpacklo_epi8 stand_in_unpacklo_epi8
#define _mm512_unpacklo_pd stand_in_unpacklo_pd
#define _mm512_unpacklo_ps stand_in_unpacklo_ps
#define _mm512_xor_si512 stand_in_xor_si512
#define _mm256_mask_storeu_epi8 stand_in_mask_storeu_epi8_of_256
#define _mm_mask_storeu_epi8 stand_in_mask_storeu_epi8_of_128
#endif
