"""Recurrent layers, compiled for AMX-INT8."""

cdef extern from "simd/amx.h":
    pass

include "body.pxi"
