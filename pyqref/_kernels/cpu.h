/* What this processor can do, and whether the system saves the registers that it takes. */
#ifndef PYQREF_CPU_H
#define PYQREF_CPU_H

#include <stdint.h>

enum {
    CPU_AVX2 = 1,       /* AVX2 and FMA */
    CPU_AVXVNNI = 2,    /* VNNI on 256-bit registers, without AVX512 */
    CPU_AVX512VNNI = 4, /* AVX512 F, BW, DQ, VL and VNNI */
    CPU_DOTPROD = 8,    /* ARM: sdot and udot */
    CPU_I8MM = 16,      /* ARM: usdot and the matrix products of bytes */
    CPU_AMX = 32        /* tile registers of bytes, beside AVX512 with VNNI */
};

#if defined(__x86_64__) || defined(_M_X64)

#if defined(_MSC_VER)
#include <intrin.h>
static void cpuid(uint32_t leaf, uint32_t subleaf, uint32_t registers[4]) {
    __cpuidex((int *)registers, (int)leaf, (int)subleaf);
}
static uint64_t saved_registers(void) { return _xgetbv(0); }
#else
#include <cpuid.h>
static void cpuid(uint32_t leaf, uint32_t subleaf, uint32_t registers[4]) {
    __cpuid_count(leaf, subleaf, registers[0], registers[1], registers[2], registers[3]);
}
static uint64_t saved_registers(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return ((uint64_t)high << 32) | low;
}
#endif

/* Tile registers are 8 KiB a thread: Linux saves them for processes that ask. */
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
static int may_use_tiles(void) {
    const long request_permission = 0x1023, tile_data = 18; /* of asm/prctl.h, from Linux 5.16 */
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}
#else
static int may_use_tiles(void) { return 0; }
#endif

enum { EAX, EBX, ECX, EDX };

static int has_bits(uint32_t value, uint32_t bits) { return (value & bits) == bits; }

static int pyqref_cpu_features(void) {
    const uint32_t fma_osxsave_avx = 1u << 12 | 1u << 27 | 1u << 28;
    const uint32_t avx2 = 1u << 5;
    const uint32_t avx512_f_dq_bw_vl = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
    const uint32_t avx512_vnni = 1u << 11, avx_vnni = 1u << 4;
    const uint32_t amx_tile_int8 = 1u << 24 | 1u << 25;
    uint32_t basic[4], extended[4], more[4];
    int features = 0;
    cpuid(0, 0, basic);
    if (basic[EAX] < 7) return 0;
    cpuid(1, 0, basic);
    if (!has_bits(basic[ECX], fma_osxsave_avx)) return 0;
    uint64_t saved = saved_registers();
    if ((saved & 0x06) != 0x06) return 0; /* the system saves xmm and ymm */
    cpuid(7, 0, extended);
    if (!has_bits(extended[EBX], avx2)) return 0;
    features |= CPU_AVX2;
    if (extended[EAX] >= 1) {
        cpuid(7, 1, more);
        if (has_bits(more[EAX], avx_vnni)) features |= CPU_AVXVNNI;
    }
    if ((saved & 0xe0) == 0xe0 /* and the mask registers and zmm */
        && has_bits(extended[EBX], avx512_f_dq_bw_vl) && has_bits(extended[ECX], avx512_vnni))
        features |= CPU_AVX512VNNI;
    if ((features & CPU_AVX512VNNI) && (saved & 0x60000) == 0x60000 /* and the tiles */
        && has_bits(extended[EDX], amx_tile_int8) && may_use_tiles())
        features |= CPU_AMX;
    return features;
}

#elif defined(__aarch64__) && defined(__linux__)

#include <sys/auxv.h>
static int pyqref_cpu_features(void) {
    int features = 0;
    if (getauxval(AT_HWCAP) & (1ul << 20)) features |= CPU_DOTPROD;
    if (getauxval(AT_HWCAP2) & (1ul << 13)) features |= CPU_I8MM;
    return features;
}

#elif defined(__aarch64__) && defined(__APPLE__)

#include <sys/sysctl.h>
static int sysctl_is_set(const char *name) {
    int value = 0;
    size_t size = sizeof value;
    return sysctlbyname(name, &value, &size, 0, 0) == 0 && value;
}
static int pyqref_cpu_features(void) {
    int features = 0;
    if (sysctl_is_set("hw.optional.arm.FEAT_DotProd")) features |= CPU_DOTPROD;
    if (sysctl_is_set("hw.optional.arm.FEAT_I8MM")) features |= CPU_I8MM;
    return features;
}

#else

static int pyqref_cpu_features(void) { return 0; }

#endif

#endif
