"""Features of this processor, as far as the operating system lets programs use them."""

cdef extern from "cpu.h":
    int pyqref_cpu_features() nogil
    int CPU_AMX
    int CPU_AVX2
    int CPU_AVX512VNNI
    int CPU_AVXVNNI
    int CPU_DOTPROD
    int CPU_I8MM


def features():
    """Names of the instruction sets that may be used here, such as ``frozenset({'avx2'})``."""
    cdef int found = pyqref_cpu_features()
    names = {
        "avx2": CPU_AVX2,
        "avxvnni": CPU_AVXVNNI,
        "avx512vnni": CPU_AVX512VNNI,
        "amx": CPU_AMX,
        "dotprod": CPU_DOTPROD,
        "i8mm": CPU_I8MM,
    }
    return frozenset([name for name, bit in names.items() if found & bit])
