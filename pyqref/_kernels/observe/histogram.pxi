# Counts over equal bins (eq-histogram-bin): included by the body.

from libc.stdint cimport int64_t
from libc.stdlib cimport calloc

cdef enum:
    BLOCK = 256                     # elements whose bins are found before they are counted
    TABLES = 4                      # neighbours often share a bin: each counts in its own table
    MOST_BINS_OF_TABLES = 1 << 16   # more bins have one table and one thread: 1 MiB in all
    COUNTS_PER_TASK = 1 << 16
    COUNTS_PER_THREAD = 1 << 16     # elements that are worth a thread


cdef struct Counting:
    const float* x
    Py_ssize_t size
    float first, last
    int32_t bins
    int32_t* tables                 # of bins + 1 counts; the last is what lies outside
    int tables_per_thread


cdef void find_bins(Counting* c, const float* x, Py_ssize_t n, int32_t* found) noexcept nogil:
    """The bin of each of n numbers, ``bins`` for what lies outside."""
    cdef f32v first = set_f32(c.first)
    cdef f32v last = set_f32(c.last)
    cdef f32v width = set_f32(c.last - c.first)
    cdef f32v bins = set_f32(<float> c.bins)
    cdef f32v top = set_f32(<float> (c.bins - 1))
    cdef i32v outside = set_i32(c.bins)
    cdef float[LANES_MAX] few
    cdef int32_t[LANES_MAX] few_found
    cdef f32v value, place
    cdef i32v bin_
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t j
    while i < n:
        if i + SIMD_LANES <= n:
            value = load_f32(x + i)
        else:
            for j in range(SIMD_LANES):
                few[j] = x[i + j] if i + j < n else x[i]
            value = load_f32(few)
        place = div_f32(mul_f32(sub_f32(value, first), bins), width)
        bin_ = sub_i32(truncate_i32(min_f32(place, top)), outside)
        bin_ = add_i32(outside, mul_i32(bin_, is_inside(value, first, last)))
        if i + SIMD_LANES <= n:
            store_i32(found + i, bin_)
        else:
            store_i32(few_found, bin_)
            for j in range(n - i):
                found[i + j] = few_found[j]
        i += SIMD_LANES


cdef void count_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef Counting* c = <Counting*> context
    cdef int32_t[BLOCK] found
    cdef Py_ssize_t size = c.bins + 1
    cdef int32_t* table = c.tables + thread * c.tables_per_thread * size
    cdef Py_ssize_t step = size if c.tables_per_thread == TABLES else 0
    cdef int32_t* second = table + step
    cdef int32_t* third = second + step
    cdef int32_t* fourth = third + step
    cdef Py_ssize_t start = index * COUNTS_PER_TASK
    cdef Py_ssize_t end = min(start + COUNTS_PER_TASK, c.size)
    cdef Py_ssize_t n, i
    while start < end:
        n = min(<Py_ssize_t> BLOCK, end - start)
        find_bins(c, c.x + start, n, found)
        i = 0
        while i + 4 <= n:
            table[found[i]] += 1
            second[found[i + 1]] += 1
            third[found[i + 2]] += 1
            fourth[found[i + 3]] += 1
            i += 4
        while i < n:
            table[found[i]] += 1
            i += 1
        start += n


def histogram(cnp.ndarray x, float first, float last, cnp.ndarray counts, int n_threads):
    """Count float32 ``x``, contiguous, fewer than 2^31, in the bins of ``counts``, float32."""
    cdef Counting c
    cdef float* out = <float*> cnp.PyArray_DATA(counts)
    cdef int64_t total
    cdef Py_ssize_t i, table
    cdef Py_ssize_t tasks
    c.x, c.size = <const float*> cnp.PyArray_DATA(x), cnp.PyArray_SIZE(x)
    c.first, c.last, c.bins = first, last, <int32_t> cnp.PyArray_SIZE(counts)
    c.tables_per_thread = TABLES
    n_threads = useful_threads(<double> c.size, COUNTS_PER_THREAD, n_threads)
    if c.bins >= MOST_BINS_OF_TABLES:
        c.tables_per_thread = n_threads = 1
    tasks = (c.size + COUNTS_PER_TASK - 1) // COUNTS_PER_TASK
    c.tables = <int32_t*> calloc(
        n_threads * c.tables_per_thread * (<Py_ssize_t> c.bins + 1), sizeof(int32_t)
    )
    if c.tables == NULL:
        raise MemoryError()
    with nogil:
        parallel_for(count_task, &c, tasks, n_threads)
        for i in range(c.bins):
            total = 0
            for table in range(n_threads * c.tables_per_thread):
                total += c.tables[table * (<Py_ssize_t> c.bins + 1) + i]
            out[i] = <float> total
        free(c.tables)
