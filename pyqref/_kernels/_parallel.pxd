# A loop over independent tasks, run by threads: the one place where OpenMP is used.

ctypedef void (*Task)(void* context, Py_ssize_t index, int thread) noexcept nogil

cdef void parallel_for(Task task, void* context, Py_ssize_t count, int n_threads) noexcept nogil
cdef int useful_threads(double work, double work_per_thread, int n_threads) noexcept nogil
