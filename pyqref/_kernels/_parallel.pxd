# A loop over independent tasks, run by threads: the one place where OpenMP is used.

from pyqref._kernels.cache cimport LINE

ctypedef void (*Task)(void* context, Py_ssize_t index, int thread) noexcept nogil

cdef void parallel_for(Task task, void* context, Py_ssize_t count, int n_threads) noexcept nogil
cdef bint is_ending() noexcept nogil
cdef int useful_threads(double work, double work_per_thread, int n_threads) noexcept nogil


# Where a task begins that writes elements of some size: vectors that straddle cache lines take up
# to half as long again to be written, so a short first task leads up to one where that matters.
cdef enum:
    UNALIGNED = 1 << 13     # elements that are written as they lie


cdef inline Py_ssize_t elements_to_line(
    const void* out, Py_ssize_t item, Py_ssize_t size
) noexcept nogil:
    """Elements before the first that begins a cache line; all of them where they are few."""
    if size <= UNALIGNED:
        return size
    return (LINE - <size_t> out % LINE) % LINE // item


cdef inline Py_ssize_t count_tasks(
    Py_ssize_t size, Py_ssize_t head, Py_ssize_t chunk
) noexcept nogil:
    """Tasks of ``chunk`` elements each, after a first one of ``head``."""
    return 1 + (size - head + chunk - 1) // chunk


cdef inline Py_ssize_t task_start(
    Py_ssize_t index, Py_ssize_t size, Py_ssize_t head, Py_ssize_t chunk
) noexcept nogil:
    return 0 if index == 0 else min(size, head + (index - 1) * chunk)
