"""Float images channel by channel, compiled for NEON with dotprod."""

cdef extern from "simd/neon_dotprod.h":
    pass

include "body.pxi"
