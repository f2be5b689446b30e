"""Float images channel by channel, compiled for any processor."""

cdef extern from "simd/portable.h":
    pass

include "body.pxi"
