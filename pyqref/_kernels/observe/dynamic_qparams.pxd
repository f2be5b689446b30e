# What is chosen while running, of one range: the equations of numerics/dynamic_qparams.py and
# numerics/fused_observe.py, once for all kernels.

from libc.math cimport INFINITY, fabs, isinf, rint
from libc.stdint cimport int64_t


cdef inline void choose_qparams(
    double low, double high, int quant_min, int quant_max, bint symmetric, bint single,
    double* scale, int64_t* zero_point,
) noexcept nogil:
    """``eq-choose-qparams-dynamic`` of a range that is finite.

    ``symmetric`` and ``single`` are those of the equation; where the range may be symmetric, there
    must be three integers or more.
    """
    cdef double width = <double> quant_max - quant_min
    cdef int64_t half = (<int64_t> quant_max - quant_min) // 2
    cdef bint centred = symmetric and low < 0 and high > 0
    cdef float smallest = <float> 6.1e-5
    cdef float rounded, step, whole, ratio
    cdef double from_low, from_high, exact
    if centred:  # eq-symmetric-range, in float32
        step = max(-(<float> low) / <float> (half + 1), <float> high / <float> half)
        low, high = <float> (-(half + 1)) * step, <float> half * step
    low, high = min(low, 0.0), max(high, 0.0)
    scale[0] = (high - low) / width
    rounded = <float> scale[0]
    if rounded == 0 or isinf((<float> 1) / rounded):
        scale[0] = 0.1
    if scale[0] < smallest:
        # The range that the smallest scale covers, in the proportions of the given one.
        whole, ratio = smallest * <float> width, smallest / <float> scale[0]
        if high == 0:
            low = -whole
        elif low == 0:
            high = whole
        else:
            low, high = (<float> low) * ratio, (<float> high) * ratio
        scale[0] = smallest
    if single:
        scale[0] = <float> scale[0]
    from_low, from_high = quant_min - low / scale[0], quant_max - high / scale[0]
    if fabs(quant_min) + fabs(low / scale[0]) < fabs(quant_max) + fabs(high / scale[0]):
        exact = from_low
    else:
        exact = from_high
    if centred:
        exact = (<double> quant_min + quant_max) / 2
    zero_point[0] = <int64_t> rint(max(min(exact, <double> quant_max), <double> quant_min))


cdef inline float moved_average(float running, float batch, float constant) noexcept nogil:
    """``eq-fused-average``."""
    if running == INFINITY or running == -INFINITY:
        return batch
    return running + constant * (batch - running)
