# Grids, and arrays that are cut into chunks, or into strips of one channel.

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t
from pyqref._kernels._parallel cimport Task, parallel_for, useful_threads

cdef enum:
    # Bytes that are made before they go past the caches: so few that these stores come between
    # the loads of what is next, which went on 0.85 of the time that blocks of 8 KiB took. They are
    # fewer than ``MANY``, so that every vector is loaded again as it was stored.
    BLOCK = 1 << 7
    CHUNK = 1 << 15             # elements a task
    # Bytes of results that caches would not hold, with their input, until they are read.
    FAR_REALS = 1 << 25
    FAR_BYTES = 1 << 24
    # Elements that take less time than it takes to let other threads of Python run meanwhile.
    SHORT = 1 << 12
    FEW = 256                   # channels whose numbers fit on the stack
    # Elements that are worth a thread: on one grid, and on that of their channel.
    WORK_PER_THREAD = 1 << 17
    CHANNELS_PER_THREAD = 1 << 16


cdef extern from *:
    """
    #define TOO_HIGH 0x1p31f
    """
    const float TOO_HIGH        # 2^31, to which numbers of 32 bits do not reach


# The arrays of a call; per channel they are seen as (outer, channels, inner).
cdef struct Affine:
    float* x                  # real numbers
    uint8_t* q                # integers of 1 or 4 bytes
    bint wide, is_signed
    bint streams              # whether the result, of or from bytes, goes past the caches
    Py_ssize_t size, channels, inner, strips, strips_per_task
    float scale, inverse, offset
    int64_t zero_point
    int32_t quant_min, quant_max
    const float* inverses     # (channels,), for quantizing
    const float* offsets
    const double* scales      # (channels,), for dequantizing
    const double* zero_points


cdef inline cnp.ndarray doubles(x):
    """Parameters of channels as contiguous float64, which holds what they come as."""
    if isinstance(x, cnp.ndarray) and cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT64:
        if cnp.PyArray_ISCARRAY_RO(x):
            return x
    return cnp.PyArray_ContiguousFromAny(x, cnp.NPY_FLOAT64, 0, 0)


cdef inline void each_task(
    Affine* a, Task task, Py_ssize_t count, double per_thread, int n_threads
) noexcept:
    if a.size <= SHORT:
        parallel_for(task, a, count, 1)
        return
    n_threads = useful_threads(<double> a.size, per_thread, n_threads)
    with nogil:
        parallel_for(task, a, count, n_threads)


cdef inline void each_chunk(Affine* a, Task task, int n_threads) noexcept:
    each_task(a, task, (a.size + CHUNK - 1) // CHUNK, WORK_PER_THREAD, n_threads)


cdef inline void each_strip(Affine* a, Task task, int n_threads) noexcept:
    # Strips of one channel, or where channels are innermost, of all of them once.
    cdef Py_ssize_t length = a.channels if a.inner == 1 else a.inner
    cdef Py_ssize_t count
    if a.size == 0:
        return
    a.strips = a.size // length
    if a.size <= CHUNK:         # a division takes as long as dozens of numbers
        a.strips_per_task, count = a.strips, 1
    else:
        a.strips_per_task = max(<Py_ssize_t> 1, CHUNK // length)
        count = (a.strips + a.strips_per_task - 1) // a.strips_per_task
    each_task(a, task, count, CHANNELS_PER_THREAD, n_threads)


# Each takes Affine, each_chunk and each_strip from above, and gives functions to Python:
# quantize_per_tensor, quantize_per_channel
