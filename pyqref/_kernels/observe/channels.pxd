# Ranges of all numbers or of each channel, joined with those seen before.

cimport numpy as cnp
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.axes cimport channels_at, elements_per_channel, is_in_c_order
from pyqref._kernels.observe.across cimport find_ranges_across
from pyqref._kernels.observe.joined cimport are_alike, finish_ranges
from pyqref._kernels.observe.lines cimport channels_task
from pyqref._kernels.observe.seen cimport (
    CHANNELS_PER_THREAD, CHUNK, MOST_TASKS, Ranges, Seen, find_range,
)
from pyqref._kernels.simd.primitives cimport *


cdef inline int find_ranges(
    Ranges* r, cnp.ndarray x, Py_ssize_t channels, Py_ssize_t inner, int n_threads
) except -1:
    """Find the range of each channel, and write it to the arrays that ``r`` names."""
    r.x, r.size = <const float*> cnp.PyArray_DATA(x), cnp.PyArray_SIZE(x)
    r.channels, r.inner, r.outer = channels, inner, r.size // (channels * inner)
    n_threads = useful_threads(<double> r.size, CHANNELS_PER_THREAD, n_threads)
    with nogil:
        if inner == 1:
            find_ranges_across(r, n_threads)
        else:
            r.channels_per_task = (
                1 + max(<Py_ssize_t> CHUNK, r.size // MOST_TASKS) // (r.outer * inner * SIMD_LANES)
            ) * SIMD_LANES
            parallel_for(
                channels_task, r,
                (channels + r.channels_per_task - 1) // r.channels_per_task, n_threads,
            )
    return 0


cdef inline tuple ranges_of(x, axis, int n_threads, cnp.ndarray low, cnp.ndarray high, Seen* seen):
    """Return the ranges as arrays, of all numbers or of each index of an axis; no zero is -0.0.

    ``seen`` says how they are joined with the ranges in ``low`` and ``high``, which are float32
    arrays of the same shape, or empty. Return None if these arrays are different, if a range to
    join is not finite, and if ``x`` is empty or no array of float32 in C order.
    """
    cdef Ranges r
    cdef cnp.npy_intp channels
    cdef cnp.ndarray lows, highs
    if not (
        is_in_c_order(x) and cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT32
        and cnp.PyArray_ISCARRAY_RO(x) and cnp.PyArray_SIZE(x)
    ):
        return None
    if axis is not None:
        channels = channels_at(x, axis)
    lows = cnp.PyArray_EMPTY(axis is not None, &channels, cnp.NPY_FLOAT32, 0)
    highs = cnp.PyArray_EMPTY(axis is not None, &channels, cnp.NPY_FLOAT32, 0)
    r.lows, r.highs = <float*> cnp.PyArray_DATA(lows), <float*> cnp.PyArray_DATA(highs)
    r.seen = seen
    if seen != NULL:
        seen.lows, seen.others = NULL, 0
        if cnp.PyArray_SIZE(low):
            if not (are_alike(low, lows) and are_alike(high, lows)):
                return None
            seen.lows = <const float*> cnp.PyArray_DATA(low)
            seen.highs = <const float*> cnp.PyArray_DATA(high)
    if axis is None:
        find_range(x, r.lows, r.highs, n_threads)
        finish_ranges(&r, 0, 1)
    else:
        find_ranges(&r, x, channels, elements_per_channel(x, axis), n_threads)
    return None if seen != NULL and seen.others else (lows, highs)


# find_ranges_across, of channels that lie innermost
