"""Float images channel by channel, compiled for AVX-VNNI."""

cdef extern from "simd/avxvnni.h":
    pass

include "body.pxi"
