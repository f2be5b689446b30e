"""Recurrent layers, compiled for AVX512 with VNNI."""

cdef extern from "simd/avx512vnni.h":
    pass

include "body.pxi"
