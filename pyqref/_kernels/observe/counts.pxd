# Counts over equal bins (eq-histogram-bin): included by the body.

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from pyqref._kernels.observe.range cimport range_of
from pyqref._kernels.simd.partial cimport load_n_f32, store_n_f32
from pyqref._kernels.simd.primitives cimport *

cdef extern from "simd/prefetch.h":
    void prefetch_bytes(const void* first, Py_ssize_t count) nogil

cdef extern from "simd/flag.h":
    bint is_raised(const int* flag) nogil
    void raise_flag(int* flag) nogil

cdef enum:
    AHEAD = 1 << 11                 # elements that are fetched before they are looked at
    BLOCK = 256                     # elements whose bins are found before they are counted
    TABLES = 4                      # neighbours often share a bin: each counts in its own table
    FEW = 1 << 12                   # elements for which one table does
    MOST_BINS_OF_TABLES = 1 << 16   # more bins have one table and one thread: 1 MiB in all
    COUNTS_PER_TASK = 1 << 16
    COUNTS_PER_THREAD = 1 << 16     # elements that are worth a thread


cdef struct Counting:
    const float* x
    Py_ssize_t size
    float first, last
    Py_ssize_t bins
    Py_ssize_t table                # of a table: bins, up to whole vectors
    int32_t* tables
    int tables_per_thread
    int left                        # whether a number was met outside of the bins: a flag
    float* lows                     # what each task has met
    float* highs


# The smallest and largest number of each lane, and a sum that is nan where one of them is.
cdef struct Met:
    f32v least, greatest, total


cdef inline void find_vector(
    const Counting* c, const float* x, int32_t* found, Met* met
) noexcept nogil:
    """The bins of a vector of numbers; the outermost one for what lies outside."""
    cdef f32v first = set_f32(c.first)
    cdef f32v value = load_f32(x)
    cdef f32v place = mul_f32(sub_f32(value, first), set_f32(<float> c.bins))
    met.least, met.greatest = min_f32(value, met.least), max_f32(value, met.greatest)
    met.total = add_f32(value, met.total)
    place = div_f32(place, set_f32(c.last - c.first))
    place = max_f32(min_f32(place, set_f32(<float> (c.bins - 1))), set_f32(0))
    store_i32(found, truncate_i32(place))


cdef inline void find_bins(
    const Counting* c, const float* x, Py_ssize_t n, int32_t* found, Met* met
) noexcept nogil:
    """The bin of each of n numbers, at most BLOCK."""
    cdef float[LANES_MAX] few
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t j
    while i + SIMD_LANES <= n:
        find_vector(c, x + i, found + i, met)
        i += SIMD_LANES
    if i < n:
        for j in range(SIMD_LANES):
            few[j] = x[i + j] if i + j < n else x[i]
        find_vector(c, few, found + i, met)


cdef inline void count_bins(const int32_t* found, Py_ssize_t n, int32_t** tables) noexcept nogil:
    """Count n numbers whose bins were found."""
    cdef Py_ssize_t i
    for i in range(n):
        tables[i % TABLES][found[i]] += 1


cdef inline void count_block(
    const Counting* c, const int32_t* found, int32_t** tables, const float* x, int32_t* coming,
    Met* met,
) noexcept nogil:
    """Count a block, and find the bins of the next one meanwhile: other units do that."""
    cdef Met own = met[0]
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t j
    while i < BLOCK:
        find_vector(c, x + i, coming + i, &own)
        for j in range(SIMD_LANES):
            tables[j % TABLES][found[i + j]] += 1
        i += SIMD_LANES
    met[0] = own


cdef inline void count_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef Counting* c = <Counting*> context
    cdef int32_t[2][BLOCK + LANES_MAX] found
    cdef int32_t* own = c.tables + thread * c.tables_per_thread * c.table
    cdef (int32_t*)[TABLES] tables
    cdef Py_ssize_t start = index * COUNTS_PER_TASK
    cdef Py_ssize_t end = min(start + COUNTS_PER_TASK, c.size)
    cdef Py_ssize_t at = start
    cdef Py_ssize_t n = min(<Py_ssize_t> BLOCK, end - at)
    cdef Py_ssize_t coming
    cdef int current = 0
    cdef int i
    cdef Met met
    met.least, met.greatest = set_f32(INFINITY), set_f32(-INFINITY)
    met.total = set_f32(0)
    for i in range(TABLES):
        tables[i] = own + (i * c.table if c.tables_per_thread == TABLES else 0)
    find_bins(c, c.x + at, n, found[0], &met)
    while at < end and not is_raised(&c.left):
        coming = min(<Py_ssize_t> BLOCK, end - at - n)
        prefetch_bytes(c.x + at + AHEAD, n * sizeof(float))
        if coming == BLOCK:
            count_block(c, found[current], tables, c.x + at + n, found[1 - current], &met)
        else:
            count_bins(found[current], n, tables)
            find_bins(c, c.x + at + n, coming, found[1 - current], &met)
        at, n, current = at + n, coming, 1 - current
    c.lows[index], c.highs[index] = least_f32(met.least), greatest_f32(met.greatest)
    if any_i32(is_nan(met.total)):
        # Of nan, or of infinities; neither is inside.
        at, c.lows[index], c.highs[index] = start, INFINITY, -INFINITY
    # What was not counted, as counts are worth nothing once a number lies outside.
    range_of(c.x + at, end - at, c.lows + index, c.highs + index)
    if not (c.lows[index] >= c.first and c.highs[index] <= c.last):
        raise_flag(&c.left)


cdef inline void add_tables(
    const Counting* c, int n_threads, const float* kept, float* out
) noexcept nogil:
    """Sum up the tables, and add that to counts of other numbers."""
    cdef Py_ssize_t tables = n_threads * c.tables_per_thread
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t table
    cdef Py_ssize_t left
    cdef i32v total
    while i < c.bins:
        total = load_i32(c.tables + i)
        for table in range(1, tables):
            total = add_i32(total, load_i32(c.tables + table * c.table + i))
        if i + SIMD_LANES <= c.bins:
            store_f32(out + i, add_f32(load_f32(kept + i), to_f32(total)))
        else:
            left = c.bins - i
            store_n_f32(out + i, add_f32(load_n_f32(kept + i, left), to_f32(total)), left)
        i += SIMD_LANES
