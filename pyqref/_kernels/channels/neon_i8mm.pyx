"""Float images channel by channel, compiled for NEON with i8mm."""

cdef extern from "simd/neon_i8mm.h":
    pass

include "body.pxi"
