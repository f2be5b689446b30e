"""Quantized matrix product, compiled for AMX-INT8."""

cdef extern from "simd/amx.h":
    pass

include "body.pxi"
