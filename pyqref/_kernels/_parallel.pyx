"""A loop over independent tasks, run by threads: the one place where OpenMP is used.

Tasks write to disjoint places and their results do not depend on who runs them, so
the number of threads changes no bit. A child made by ``os.fork`` gets one thread:
GNU's OpenMP waits for ever there for threads that the fork did not copy.
"""

from cython.parallel cimport prange, threadid

cdef extern from *:
    """
    #ifdef _OPENMP
    #include <omp.h>
    #define PYQREF_OPENMP 1
    #define pyqref_max_threads() omp_get_max_threads()
    #else
    #define PYQREF_OPENMP 0
    #define pyqref_max_threads() 1
    #endif
    #if defined(_MSC_VER)
    static __declspec(thread) int pyqref_is_alone;
    #else
    static __thread int pyqref_is_alone;
    #endif
    """
    int PYQREF_OPENMP
    int pyqref_max_threads() nogil
    int pyqref_is_alone

cdef bint _forked = False
cdef bint _eager = False


def has_openmp():
    """Whether this module was compiled with OpenMP."""
    return PYQREF_OPENMP != 0


def max_threads():
    """Threads that OpenMP would use, from ``OMP_NUM_THREADS`` or the processors at hand."""
    return pyqref_max_threads()


def mark_forked():
    """Use one thread from now on: this process is a child made by fork."""
    global _forked
    _forked = True


def use_every_thread(bint always):
    """Use all threads for any amount of work: for tests, whose arrays are small."""
    global _eager
    _eager = always


def leave_alone(bint alone):
    """Whether the calling thread shall get no help from now on; returns whether it got none."""
    global pyqref_is_alone
    before = pyqref_is_alone != 0
    pyqref_is_alone = alone
    return before


cdef void parallel_for(Task task, void* context, Py_ssize_t count, int n_threads) noexcept nogil:
    """Run ``task(context, index, thread)`` for each index, with 0 <= thread < n_threads."""
    cdef Py_ssize_t index
    if n_threads <= 1 or count <= 1 or _forked or pyqref_is_alone:
        for index in range(count):
            task(context, index, 0)
    else:
        for index in prange(count, schedule="static", num_threads=n_threads):
            task(context, index, threadid())


cdef int useful_threads(double work, double work_per_thread, int n_threads) noexcept nogil:
    """Threads that are worth waking for an amount of work."""
    cdef double useful = work / work_per_thread
    if _eager:
        return n_threads
    if useful < 2 or pyqref_is_alone:
        return 1
    return <int> useful if useful < n_threads else n_threads
