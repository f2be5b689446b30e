# Cache lines, and results that go past the caches.

cdef enum:
    LINE = 64                       # bytes of a cache line, which no vector of ours straddles
    MANY = 256                      # numbers that are worth a step to where a vector begins
    STREAMED_BYTES = 1 << 22        # of results that would only drive out what caches hold
    FETCHED_AHEAD = 7 << 13         # bytes that processors fetch ahead of strides, or nearly
    PLACES = 1 << 12                # of an address, by which loads are told from stores before them


cdef inline void* next_line(void* memory) noexcept nogil:
    """The first byte of a cache line at or behind an address."""
    return <char*> memory + (-<size_t> memory) % LINE


cdef inline Py_ssize_t whole_lines(Py_ssize_t size) noexcept nogil:
    """The bytes of the lines that some bytes take."""
    return (size + LINE - 1) // LINE * LINE


cdef inline Py_ssize_t scratch_step(Py_ssize_t size) noexcept nogil:
    """Bytes from the scratch of a thread, so large, to that of the next one.

    Who reads or writes in strides has the processor fetch what lies further along them. If that
    is another thread's, it loses lines that it is working on, and waits for each to come back.
    """
    return whole_lines(size) + FETCHED_AHEAD


cdef inline Py_ssize_t scratch_of_all(Py_ssize_t size, int n_threads) noexcept nogil:
    """Return the bytes of the scratch of all threads, which begins at a cache line."""
    return scratch_step(size) * (n_threads - 1) + size + LINE


cdef inline bint suits_streams(
    const void* out, Py_ssize_t run, Py_ssize_t apart, Py_ssize_t size
) noexcept nogil:
    """Return True if results are many bytes and consist of whole cache lines.

    ``size`` counts the bytes; they lie in runs that are ``apart`` from each other. Such results go
    past the caches, because nothing is read before it is overwritten.
    """
    return size >= STREAMED_BYTES and (<size_t> out | <size_t> run | <size_t> apart) % LINE == 0


cdef inline Py_ssize_t first_step(
    const float* x, Py_ssize_t n, Py_ssize_t lanes, Py_ssize_t step
) noexcept nogil:
    """How far to go from the first vector to the second, which may overlap; from there ``step``.

    NumPy's large arrays begin 16 bytes behind a cache line. From the second on vectors are aligned,
    and straddle no two lines: three quarters of the time, where a far cache has the numbers. What
    is written must not lie in ``x``, since some of that is read twice.
    """
    cdef Py_ssize_t lead = (-<size_t> x) % (lanes * sizeof(float)) // sizeof(float)
    return lead if lead and n >= MANY else step


cdef inline bint is_best_backward(const void* out, const void* source) noexcept nogil:
    """Return True if copying from the last byte to the first is faster than from the first on.

    A load waits for earlier stores to the same place of another page. If the result begins at a
    place just behind that of the source, a loop that goes forward always loads where it has just
    stored.
    """
    return (<size_t> out - <size_t> source) % PLACES < PLACES // 2
