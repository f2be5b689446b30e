# Running statistics of a few numbers, for which NumPy's calls take longer than the arithmetic.

from libc.float cimport FLT_MAX
from libc.math cimport fabs, fabsf, rint

ctypedef fused Number:
    float
    double
    int32_t
    int64_t


cdef inline object extremes_of(const Number* x, Py_ssize_t size):
    cdef Number low = x[0]
    cdef Number high = x[0]
    cdef Py_ssize_t i
    for i in range(size):
        if Number is float or Number is double:
            if x[i] != x[i]:
                return x[i], x[i]
        low, high = min(low, x[i]), max(high, x[i])
    return low, high


def extremes(cnp.ndarray x):
    """Smallest and largest as Python's numbers; None of what is empty or no array as in C."""
    cdef Py_ssize_t size = cnp.PyArray_SIZE(x)
    cdef int kind = cnp.PyArray_TYPE(x)
    cdef const void* data = cnp.PyArray_DATA(x)
    if not (size and cnp.PyArray_ISCARRAY_RO(x)):
        return None
    if kind == cnp.NPY_FLOAT32:
        return extremes_of(<const float*> data, size)
    if kind == cnp.NPY_FLOAT64:
        return extremes_of(<const double*> data, size)
    if kind == cnp.NPY_INT32:
        return extremes_of(<const int32_t*> data, size)
    if kind == cnp.NPY_INT64:
        return extremes_of(<const int64_t*> data, size)
    return None


cdef bint has_finite(cnp.ndarray x) noexcept:
    cdef const float* value = <const float*> cnp.PyArray_DATA(x)
    cdef bint others = False
    cdef Py_ssize_t i
    for i in range(cnp.PyArray_SIZE(x)):
        others |= not fabsf(value[i]) <= FLT_MAX
    return not others


cdef bint are_alike(cnp.ndarray first, cnp.ndarray other) noexcept:
    """Whether both are contiguous float32 arrays of one shape."""
    cdef int axis
    if cnp.PyArray_TYPE(first) != cnp.NPY_FLOAT32 or cnp.PyArray_TYPE(other) != cnp.NPY_FLOAT32:
        return False
    if not (cnp.PyArray_ISCARRAY_RO(first) and cnp.PyArray_ISCARRAY_RO(other)):
        return False
    if cnp.PyArray_NDIM(first) != cnp.PyArray_NDIM(other):
        return False
    for axis in range(cnp.PyArray_NDIM(first)):
        if cnp.PyArray_DIM(first, axis) != cnp.PyArray_DIM(other, axis):
            return False
    return True


cdef cnp.ndarray floats_like(cnp.ndarray x):
    return cnp.PyArray_EMPTY(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), cnp.NPY_FLOAT32, 0)


cdef inline float widened_low(float low, float new) noexcept nogil:
    return low if low < new or low != low else new


cdef inline float widened_high(float high, float new) noexcept nogil:
    return high if high > new or high != high else new


def running_range(
    cnp.ndarray min_val, cnp.ndarray max_val, x, axis, constant, int n_threads
):
    """``eq-running-range`` of what was seen and a batch; with a constant, ``eq-average-range``.

    Of the whole batch, or with an axis of each channel; what was seen may be empty. None where
    ``x`` is not finite, not float32 in C order, or empty, and where what was seen is of another
    kind or shape.
    """
    cdef tuple found = ranges_of(x, axis, n_threads)
    cdef const float* low
    cdef const float* high
    cdef float* new_low
    cdef float* new_high
    cdef float share
    cdef Py_ssize_t i
    if found is None or not (has_finite(found[0]) and has_finite(found[1])):
        return None
    if cnp.PyArray_SIZE(min_val) == 0:
        return found
    if not (are_alike(min_val, found[0]) and are_alike(max_val, found[0])):
        return None
    low, high = <const float*> cnp.PyArray_DATA(min_val), <const float*> cnp.PyArray_DATA(max_val)
    new_low, new_high = <float*> cnp.PyArray_DATA(found[0]), <float*> cnp.PyArray_DATA(found[1])
    if constant is None:
        for i in range(cnp.PyArray_SIZE(min_val)):
            new_low[i] = widened_low(low[i], new_low[i])
            new_high[i] = widened_high(high[i], new_high[i])
        return found
    share = constant
    for i in range(cnp.PyArray_SIZE(min_val)):
        if not (low[i] == INFINITY and high[i] == -INFINITY):
            new_low[i] = low[i] + share * (new_low[i] - low[i])
            new_high[i] = high[i] + share * (new_high[i] - high[i])
    return found


def fused_average(cnp.ndarray running, cnp.ndarray batch, float constant):
    """``eq-fused-average`` of contiguous float32 arrays of one shape; None for others."""
    if not are_alike(running, batch):
        return None
    cdef cnp.ndarray moved = floats_like(batch)
    cdef float* out = <float*> cnp.PyArray_DATA(moved)
    cdef const float* old = <const float*> cnp.PyArray_DATA(running)
    cdef const float* new = <const float*> cnp.PyArray_DATA(batch)
    cdef Py_ssize_t i
    for i in range(cnp.PyArray_SIZE(batch)):
        out[i] = (
            new[i] if old[i] == INFINITY or old[i] == -INFINITY
            else old[i] + constant * (new[i] - old[i])
        )
    return moved


def choose_qparams_dynamic(
    cnp.ndarray low, cnp.ndarray high, int quant_min, int quant_max, bint symmetric, bint single,
    double smallest,
):
    """``eq-choose-qparams-dynamic`` of contiguous float32 arrays of one shape.

    None for others, and where a scale is not finite in float32 or below ``smallest``.
    """
    cdef cnp.ndarray scales, zero_points
    cdef double least, greatest, scale, from_low, from_high, exact
    cdef float step
    cdef bint centred
    cdef int half = (quant_max - quant_min) // 2
    cdef Py_ssize_t i
    if not are_alike(low, high) or half == 0:
        return None
    scales = cnp.PyArray_EMPTY(cnp.PyArray_NDIM(low), cnp.PyArray_DIMS(low), cnp.NPY_FLOAT64, 0)
    zero_points = cnp.PyArray_EMPTY(
        cnp.PyArray_NDIM(low), cnp.PyArray_DIMS(low), cnp.NPY_INT64, 0
    )
    for i in range(cnp.PyArray_SIZE(low)):
        least = (<const float*> cnp.PyArray_DATA(low))[i]
        greatest = (<const float*> cnp.PyArray_DATA(high))[i]
        centred = symmetric and least < 0 and greatest > 0
        if centred:  # eq-symmetric-range, in float32
            step = max(-(<float> least) / <float> (half + 1), <float> greatest / <float> half)
            least, greatest = <float> (-(half + 1)) * step, <float> half * step
        least, greatest = min(least, 0.0), max(greatest, 0.0)
        scale = (greatest - least) / (quant_max - quant_min)
        if not smallest <= scale <= FLT_MAX:
            return None
        if single:
            scale = <float> scale
        from_low, from_high = quant_min - least / scale, quant_max - greatest / scale
        if fabs(quant_min) + fabs(least / scale) < fabs(quant_max) + fabs(greatest / scale):
            exact = from_low
        else:
            exact = from_high
        if centred:
            exact = (<double> quant_min + quant_max) / 2
        exact = min(max(exact, <double> quant_min), <double> quant_max)
        (<double*> cnp.PyArray_DATA(scales))[i] = scale
        (<int64_t*> cnp.PyArray_DATA(zero_points))[i] = <int64_t> rint(exact)
    return scales, zero_points
