# Running statistics of a few numbers, for which NumPy's calls take longer than the arithmetic.

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


cdef void finish_ranges(Ranges* r, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Ranges that were found, without -0.0, together with those seen before."""
    cdef float* low = r.lows
    cdef float* high = r.highs
    cdef const float* old_low
    cdef const float* old_high
    cdef Seen* seen = r.seen
    cdef int others = 0
    cdef float share, least, greatest, mean_low, mean_high
    cdef bint is_new
    cdef Py_ssize_t i
    for i in range(first, last):
        least, greatest = low[i] + 0, high[i] + 0
        low[i], high[i] = least, greatest
        others |= (not fabsf(least) <= FLT_MAX) | (not fabsf(greatest) <= FLT_MAX)
    if seen == NULL:
        return
    if others:
        raise_flag(&seen.others)
    if seen.lows == NULL:
        return
    old_low, old_high, share = seen.lows, seen.highs, seen.share
    # What is chosen from is computed first: without branches, compilers make vectors of it.
    if not seen.is_averaged:
        for i in range(first, last):
            # What is not comparable, nan, was seen and stays.
            low[i] = low[i] if old_low[i] >= low[i] else old_low[i]
            high[i] = high[i] if old_high[i] <= high[i] else old_high[i]
        return
    for i in range(first, last):
        mean_low = old_low[i] + share * (low[i] - old_low[i])
        mean_high = old_high[i] + share * (high[i] - old_high[i])
        is_new = (old_low[i] == INFINITY) & (old_high[i] == -INFINITY)
        low[i] = low[i] if is_new else mean_low
        high[i] = high[i] if is_new else mean_high


def running_range(
    cnp.ndarray min_val, cnp.ndarray max_val, x, axis, constant, int n_threads
):
    """``eq-running-range`` of what was seen and a batch; with a constant, ``eq-average-range``.

    Of the whole batch, or with an axis of each channel; what was seen may be empty. None where
    ``x`` is not finite, not float32 in C order, or empty, and where what was seen is of another
    kind or shape.
    """
    cdef Seen seen
    seen.is_averaged = constant is not None
    seen.share = constant if seen.is_averaged else 0
    return ranges_of(x, axis, n_threads, min_val, max_val, &seen)


def fused_average(cnp.ndarray running, cnp.ndarray batch, float constant):
    """The moving average of contiguous float32 arrays of one shape; None for others."""
    if not are_alike(running, batch):
        return None
    cdef cnp.ndarray moved = floats_like(batch)
    cdef float* out = <float*> cnp.PyArray_DATA(moved)
    cdef const float* old = <const float*> cnp.PyArray_DATA(running)
    cdef const float* new = <const float*> cnp.PyArray_DATA(batch)
    cdef Py_ssize_t i
    for i in range(cnp.PyArray_SIZE(batch)):
        out[i] = moved_average(old[i], new[i], constant)
    return moved


def fused_average_of_one(float running, float batch, float constant):
    """The moving average of two numbers."""
    return moved_average(running, batch, constant)


def choose_qparams_of_range(
    double low, double high, int quant_min, int quant_max, bint single
):
    """Scale and zero point of one finite range, as Python's numbers."""
    cdef double scale
    cdef int64_t zero_point
    choose_qparams(low, high, quant_min, quant_max, False, single, &scale, &zero_point)
    return scale, zero_point


def choose_qparams_dynamic(
    cnp.ndarray low, cnp.ndarray high, int quant_min, int quant_max, bint symmetric, bint single
):
    """Scales and zero points of contiguous float32 arrays of one shape.

    None for others, where two integers have no middle, and where a scale is not finite in float32.
    """
    cdef cnp.ndarray scales, zero_points
    cdef double* scale
    cdef double least, greatest
    cdef Py_ssize_t i
    if not are_alike(low, high) or quant_max - quant_min < 2:
        return None
    scales = cnp.PyArray_EMPTY(cnp.PyArray_NDIM(low), cnp.PyArray_DIMS(low), cnp.NPY_FLOAT64, 0)
    zero_points = cnp.PyArray_EMPTY(
        cnp.PyArray_NDIM(low), cnp.PyArray_DIMS(low), cnp.NPY_INT64, 0
    )
    for i in range(cnp.PyArray_SIZE(low)):
        least = (<const float*> cnp.PyArray_DATA(low))[i]
        greatest = (<const float*> cnp.PyArray_DATA(high))[i]
        scale = <double*> cnp.PyArray_DATA(scales) + i
        choose_qparams(
            least, greatest, quant_min, quant_max, symmetric, single, scale,
            <int64_t*> cnp.PyArray_DATA(zero_points) + i,
        )
        if not scale[0] <= FLT_MAX:
            return None
    return scales, zero_points
