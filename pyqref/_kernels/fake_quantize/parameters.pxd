# What fake quantization works with.

from libc.stdint cimport uint8_t
from pyqref._kernels.simd.primitives cimport *

cdef enum:
    ACROSS = 4                  # vectors at a time, of channels that go down the rows together
    CHUNK = 1 << 15             # elements a task
    # Elements that take less time than it takes to let other threads of Python run meanwhile.
    SHORT = 1 << 12
    # Bytes of results that caches would not hold, with their input, until they are read.
    FAR = 1 << 24
    FEW = 256                   # channels whose numbers fit on the stack
    LARGEST_BITS = 0x7f7fffff   # of FLT_MAX; positive numbers are in the order of their bits
    # Elements that are worth a thread: fake-quantized, and masked.
    WORK_PER_THREAD = 1 << 15
    MASKED_PER_THREAD = 1 << 17

# Where the zero point comes in.
cdef enum Rule:
    FUSED      # rint(fma(x, inverse, zero_point)): per tensor, as documented
    BEFORE     # rint(x * inverse + zero_point): per channel, as documented
    AFTER      # rint(x * inverse) + zero_point: as torch does

# The parameters of the lanes of a vector; ``back`` is 0 minus the zero points.
cdef struct LaneParameters:
    f32v scale, inverse, zero_point, back

cdef struct FakeQuantize:
    const float* x
    float* y
    uint8_t* bit_mask            # NULL where nobody asks for them
    const float* scales
    const float* inverses
    const float* zero_points
    float low, high
    Rule rule
    bint streams              # whether ``y`` goes past the caches
    Py_ssize_t size, head, channels, inner, strips, strips_per_task
