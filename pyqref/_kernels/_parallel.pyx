"""A loop over independent tasks, run by threads: the one place where OpenMP is used.

Tasks write to disjoint places and their results do not depend on who runs them, so
the number of threads changes no bit. A child made by ``os.fork`` gets one thread:
GNU's OpenMP waits for ever there for threads that the fork did not copy.

A thread that has slept begins some 30 microseconds later, one that still waits after the last loop
at once. So less work is worth a thread that is awake, and whoever has done its own share of the
tasks helps the others. Who does small loops alone, one soon after another, wakes the others once
these loops together have taken as long as waking takes.

Ctrl-C ends a loop: the main thread looks for it between its tasks, ten times a second, and a task
that may take long asks ``is_ending`` between its parts. What a kernel then returns is not finished
and never used. Only a signal whose handler raises
KeyboardInterrupt, Python's own one, counts, and it stays pending: Python raises as soon as the
kernel has returned.
Any other handler is called when the kernel is done. So no kernel ever runs inside of another.
"""

from _signal import SIGINT, default_int_handler, getsignal

from cython.parallel cimport parallel, threadid
from libc.stdint cimport int64_t

cdef extern from *:
    """
    #ifdef _OPENMP
    #include <omp.h>
    #define PYQREF_OPENMP 1
    #define pyqref_max_threads() omp_get_max_threads()
    #define pyqref_limit_threads(n) omp_set_num_threads(n)
    #define pyqref_seconds() omp_get_wtime()
    #else
    #define PYQREF_OPENMP 0
    #define pyqref_max_threads() 1
    #define pyqref_limit_threads(n) ((void)(n))
    #define pyqref_seconds() 0.0
    #endif

    #ifdef _MSC_VER
    #include <intrin.h>
    #define add_to(next, number) _InterlockedExchangeAdd64((volatile __int64 *)(next), number)
    #define number_at(next) (*(volatile __int64 *)(next))
    #define PYQREF_EACH_THREAD __declspec(thread)
    #else
    #define add_to(next, number) __atomic_fetch_add(next, number, __ATOMIC_RELAXED)
    #define number_at(next) __atomic_load_n(next, __ATOMIC_RELAXED)
    #define PYQREF_EACH_THREAD __thread
    #endif

    /* A clock that is quick to read, in seconds, right to some 15 milliseconds. */
    #ifdef _WIN32
    __declspec(dllimport) unsigned long long __stdcall GetTickCount64(void);
    #define pyqref_coarse_seconds() (GetTickCount64() * 1e-3)
    #else
    #include <time.h>
    static double pyqref_coarse_seconds(void) {
        struct timespec now;
    #ifdef CLOCK_MONOTONIC_COARSE
        clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    #else
        clock_gettime(CLOCK_MONOTONIC, &now);
    #endif
        return now.tv_sec + now.tv_nsec * 1e-9;
    }
    #endif
    /* When the thread looks for Ctrl-C again, how much it does before it reads the clock, and
     * whether it has ended a loop. */
    static PYQREF_EACH_THREAD double look_at;
    static PYQREF_EACH_THREAD int until_clock;
    static PYQREF_EACH_THREAD int is_stopped;
    /* The next task of the thread's share of a loop, if it helps with one. */
    static PYQREF_EACH_THREAD int64_t *own_next;
    /* Threads that ran the last loop of the thread that asks, and until when they wait awake. */
    static PYQREF_EACH_THREAD int awake;
    static PYQREF_EACH_THREAD double awake_until;
    /* Its loops that wait for waking to be worth it: what they took, and until when the next one
     * follows soon; negative while one runs. */
    static PYQREF_EACH_THREAD double done_alone;
    static PYQREF_EACH_THREAD double soon_until;
    static PYQREF_EACH_THREAD int pyqref_is_alone;
    """
    int PYQREF_OPENMP
    int pyqref_max_threads() nogil
    void pyqref_limit_threads(int n) nogil
    double pyqref_seconds() nogil
    double pyqref_coarse_seconds() nogil
    int64_t add_to(int64_t* next, int64_t number) nogil
    int64_t number_at(int64_t* next) nogil
    int64_t* own_next
    double look_at
    int until_clock
    bint is_stopped
    int pyqref_is_alone
    int awake
    double awake_until
    double done_alone
    double soon_until

cdef extern from "Python.h":
    int PyOS_InterruptOccurred()
    void PyErr_SetInterrupt()
    unsigned long PyThread_get_thread_ident() nogil

cdef enum:
    MOST_SHARES = 64
    UNTIL_CLOCK = 64        # a task counts A_TASK, one that is all of its loop 1
    A_TASK = 16

cdef double LOOKS_APART = 0.1
cdef int64_t LEFT = <int64_t> 1 << 62       # is added to each thread's next task
cdef unsigned long _main_thread = 0

# Threads that are awake, for the work that is worth waking one: about 10 microseconds. A caller who
# is done before the other thread is up falls asleep himself: two of them, for less than 20, would
# be slower than one, and so would the next time. Loops of that kind, one soon after another, wake
# the others when they have taken as long as waking does: no more is lost where no loop follows.
cdef double AWAKE = 3
cdef double WAKING = 5
cdef bint _forked = False
cdef bint _eager = False
cdef double _waiting = 0


def has_openmp():
    """Return True if this module was compiled with OpenMP."""
    return PYQREF_OPENMP != 0


def max_threads():
    """Threads that OpenMP would use: the processors at hand, unless somebody told it otherwise.

    That may be ``OMP_NUM_THREADS``, :func:`limit_threads` or threadpoolctl.
    """
    return pyqref_max_threads()


def limit_threads(int n_threads):
    """Tell OpenMP how many threads the calling one may use."""
    pyqref_limit_threads(n_threads)


def mark_forked():
    """Use one thread from now on, the main one: this process is a child made by fork."""
    global _forked, _main_thread
    _forked, _main_thread = True, PyThread_get_thread_ident()


def set_main_thread(unsigned long ident):
    """Say which thread it is that Ctrl-C interrupts."""
    global _main_thread
    _main_thread = ident


def use_every_thread(bint always):
    """Use all threads for any amount of work: for tests, whose arrays are small."""
    global _eager
    _eager = always


def leave_alone(bint alone):
    """Say whether the calling thread gets no help from now on; return what held before."""
    global pyqref_is_alone
    before = pyqref_is_alone != 0
    pyqref_is_alone = alone
    return before


def expect_waiting(double seconds):
    """Say how long threads wait awake for the next loop; 0 where nothing is known of it."""
    global _waiting
    _waiting = seconds


# The tasks of a thread that nobody has begun; each share has a cache line of its own.
cdef struct Share:
    int64_t next, end
    int64_t[6] nothing


cdef bint look_for_interrupt() noexcept:
    """Make Ctrl-C raise KeyboardInterrupt after the kernel; return True if it was pressed."""
    # Asked in this order: a signal that others handle is not touched.
    if getsignal(SIGINT) is not default_int_handler or not PyOS_InterruptOccurred():
        return False
    PyErr_SetInterrupt()    # to have asked has taken it back
    return True


cdef bint is_interrupted() noexcept nogil:
    global is_stopped
    with gil:
        is_stopped = look_for_interrupt()
    return is_stopped


cdef bint look() noexcept nogil:
    """Return True if Ctrl-C was pressed; ask only when it is time to."""
    global until_clock, look_at
    cdef double now = pyqref_coarse_seconds()
    until_clock = UNTIL_CLOCK
    if now < look_at:
        return False
    look_at = now + LOOKS_APART
    return PyThread_get_thread_ident() == _main_thread and is_interrupted()


cdef inline bint must_stop(int done) noexcept nogil:
    global until_clock
    until_clock -= done
    return until_clock <= 0 and look()


cdef bint is_ending() noexcept nogil:
    """Return True if the work of a task is no longer wanted.

    Each part of the work takes microseconds at least, so that it can afford to ask.
    """
    return is_stopped or (own_next != NULL and number_at(own_next) >= LEFT) or must_stop(A_TASK)


cdef void take_shares(
    Task task, void* context, Share* shares, int n_shares, int thread
) noexcept nogil:
    """Run what is left of the thread's own share, and then of those after it."""
    global own_next
    cdef Share* share
    cdef int64_t index
    cdef int k
    own_next = &shares[thread % n_shares].next
    for k in range(n_shares):
        share = &shares[(thread + k) % n_shares]
        index = add_to(&share.next, 1)
        while index < share.end:
            task(context, index, thread)
            if thread == 0 and (is_stopped or must_stop(A_TASK)):
                leave_shares(shares, n_shares)
            index = add_to(&share.next, 1)
    own_next = NULL


cdef void leave_shares(Share* shares, int n_shares) noexcept nogil:
    """Keep every thread from beginning another task."""
    cdef int k
    for k in range(n_shares):
        add_to(&shares[k].next, LEFT)


cdef void parallel_for(Task task, void* context, Py_ssize_t count, int n_threads) noexcept nogil:
    """Run ``task(context, index, thread)`` for each index, with 0 <= thread < n_threads."""
    global awake, awake_until, soon_until, done_alone
    cdef Share[MOST_SHARES] shares
    cdef int n_shares = min(n_threads, MOST_SHARES)
    cdef Py_ssize_t index
    cdef int k
    if is_stopped and is_interrupted():     # an earlier loop of this kernel
        return
    if n_threads <= 1 or count <= 1 or _forked or pyqref_is_alone:
        for index in range(count):
            task(context, index, 0)
            if is_stopped or must_stop(A_TASK if count > 1 else 1):
                break
        if soon_until < 0:
            soon_until = pyqref_seconds() + _waiting
        return
    for k in range(n_shares):
        shares[k].next, shares[k].end = count * k // n_shares, count * (k + 1) // n_shares
    with parallel(num_threads=n_threads):
        take_shares(task, context, shares, n_shares, threadid())
    awake, awake_until = n_threads, pyqref_seconds() + _waiting
    done_alone = 0


cdef int useful_threads(double work, double work_per_thread, int n_threads) noexcept nogil:
    """Threads that are worth their while for an amount of work."""
    cdef double useful = work / work_per_thread
    if _eager or n_threads <= 1:
        return n_threads
    n_threads = min(n_threads, pyqref_max_threads())
    if useful < n_threads and AWAKE * useful >= 2:
        useful = max(useful, min(AWAKE * useful, awake_for(useful, n_threads)))
    if useful < 2 or pyqref_is_alone:
        return 1
    return <int> useful if useful < n_threads else n_threads


cdef double awake_for(double useful, int n_threads) noexcept nogil:
    """Threads that are awake, or that are to be woken for the sake of loops that follow."""
    global done_alone, soon_until
    cdef double now = pyqref_seconds()
    if now < awake_until:
        return awake
    if now >= soon_until:
        done_alone = 0
    if done_alone >= WAKING:
        return n_threads
    done_alone, soon_until = done_alone + useful, -1
    return 1


cdef void call_work(void* context, Py_ssize_t index, int thread) noexcept nogil:
    with gil:
        call_alone(<object> context)


cdef void call_alone(object context) noexcept:
    """Call what all threads are called with, and keep what it raises."""
    before = leave_alone(True)
    work, errors = context
    try:
        work()
    except BaseException as error:
        errors.append(error)
    finally:
        leave_alone(before)


def together(work, int n_threads):
    """Call ``work()`` by each of some threads, whose kernels then use no other one."""
    cdef list errors = []
    cdef tuple context = (work, errors)
    with nogil:
        parallel_for(call_work, <void*> context, n_threads, n_threads)
    if errors:
        raise errors[0]
