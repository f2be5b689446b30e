# Ranges joined with those seen before; extremes of a few numbers, for which a call of NumPy takes
# longer than finding them.

cimport numpy as cnp
from libc.float cimport FLT_MAX
from libc.math cimport INFINITY, fabsf
from libc.stdint cimport int32_t, int64_t
from pyqref._kernels.observe.counts cimport raise_flag
from pyqref._kernels.observe.seen cimport Ranges, Seen

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


cdef inline bint are_alike(cnp.ndarray first, cnp.ndarray other) noexcept:
    """Return True if both are contiguous float32 arrays of one shape."""
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


cdef inline cnp.ndarray floats_like(cnp.ndarray x):
    return cnp.PyArray_EMPTY(cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x), cnp.NPY_FLOAT32, 0)


cdef inline void finish_ranges(Ranges* r, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
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
