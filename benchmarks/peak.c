/* Products of bytes from registers alone: what no kernel can exceed. Each function does `rounds`
 * rounds of independent instructions and returns the number of operations (a product and a sum
 * are two). Compiled by peaks.py for the processor at hand. */
#include <stdint.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* The compiler may neither merge rounds nor drop them. */
#define KEEP(value) __asm__ volatile("" : "+x"(value))

#if defined(__AVX512VNNI__)
#define HAVE_VECTOR 1
#define LANES 16
typedef __m512i vector;
#define SET(number) _mm512_set1_epi32(number)
#define DOT(sum, x, w) _mm512_dpbusd_epi32(sum, x, w)
#undef KEEP
#define KEEP(value) __asm__ volatile("" : "+v"(value))
#elif defined(__AVXVNNI__)
#define HAVE_VECTOR 1
#define LANES 8
typedef __m256i vector;
#define SET(number) _mm256_set1_epi32(number)
#define DOT(sum, x, w) _mm256_dpbusd_avx_epi32(sum, x, w)
#elif defined(__AVX2__)
#define HAVE_VECTOR 1
#define LANES 8
typedef __m256i vector;
#define SET(number) _mm256_set1_epi32(number)
/* Exact without VNNI: 16 products of 16 bits take two instructions, on 8 lanes of sums. */
#define DOT(sum, x, w) \
    _mm256_add_epi32(sum, _mm256_add_epi32(_mm256_madd_epi16(x, w), _mm256_madd_epi16(x, x)))
#elif defined(__ARM_FEATURE_DOTPROD)
#include <arm_neon.h>
#define HAVE_VECTOR 1
#define LANES 4
typedef int32x4_t vector;
#define SET(number) vdupq_n_s32(number)
#define DOT(sum, x, w) vdotq_s32(sum, vreinterpretq_s8_s32(x), vreinterpretq_s8_s32(w))
#undef KEEP
#define KEEP(value) __asm__ volatile("" : "+w"(value))
#endif

#if HAVE_VECTOR
/* Inputs are kept too: products that are the same each time would be made once. */
#define ADD_TO(sum) KEEP(x); sum = DOT(sum, x, w); KEEP(sum)
double vector_products(long rounds) {
    vector x = SET(0x01020304), w = SET(0x04030201);
    vector a = SET(0), b = a, c = a, d = a, e = a, f = a, g = a, h = a, i = a, j = a, k = a, l = a;
    for (long round = 0; round < rounds; ++round) {
        ADD_TO(a); ADD_TO(b); ADD_TO(c); ADD_TO(d); ADD_TO(e); ADD_TO(f);
        ADD_TO(g); ADD_TO(h); ADD_TO(i); ADD_TO(j); ADD_TO(k); ADD_TO(l);
    }
    return 2.0 * 12 * 4 * LANES * (double)rounds;
}
#else
double vector_products(long rounds) {
    (void)rounds;
    return 0;
}
#endif

#if defined(__AMX_INT8__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>

double tile_products(long rounds) {
    struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } __attribute__((packed, aligned(64))) config = {.palette = 1};
    if (syscall(SYS_arch_prctl, 0x1023, 18) != 0) return 0;
    for (int i = 0; i < 8; ++i) config.bytes[i] = 64, config.rows[i] = 16;
    __asm__ volatile("" : : "r"(&config) : "memory");  /* gcc reads 8 bytes of it only */
    _tile_loadconfig(&config);
    _tile_zero(0); _tile_zero(1); _tile_zero(2); _tile_zero(3);
    _tile_zero(4); _tile_zero(5); _tile_zero(6); _tile_zero(7);
    for (long round = 0; round < rounds; ++round) {
        _tile_dpbusd(0, 4, 6);
        _tile_dpbusd(1, 4, 7);
        _tile_dpbusd(2, 5, 6);
        _tile_dpbusd(3, 5, 7);
    }
    _tile_release();
    return 2.0 * 4 * 16 * 16 * 64 * (double)rounds;
}
#else
double tile_products(long rounds) {
    (void)rounds;
    return 0;
}
#endif
