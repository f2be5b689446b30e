"""Float images channel by channel, compiled for AVX512 with VNNI."""

cdef extern from "simd/avx512vnni.h":
    pass

include "body.pxi"
