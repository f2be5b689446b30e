"""Recurrent layers, compiled for AVX-VNNI."""

cdef extern from "simd/avxvnni.h":
    pass

include "body.pxi"
