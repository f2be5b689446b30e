"""Float images channel by channel, compiled for AVX2."""

cdef extern from "simd/avx2.h":
    pass

include "body.pxi"
