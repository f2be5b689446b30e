"""Recurrent layers, compiled for any processor."""

cdef extern from "simd/portable.h":
    pass

include "body.pxi"
