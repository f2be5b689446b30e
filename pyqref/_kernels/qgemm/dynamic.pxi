# Linear with real inputs and outputs: the range of the input, its grid, its integers and the
# product in one go. The integers never exist but in the scratch of a block. Included by kernel.pyx.

cdef enum:
    RANGE_CHUNK = 1 << 15           # numbers whose range a task finds
    RANGE_PER_THREAD = 1 << 18      # numbers that are worth a thread
    GATHERED = 256                  # elements of a row that lie apart, at a time


cdef inline Py_ssize_t place_in(const Reals* reals, Py_ssize_t row) noexcept nogil:
    """Where a row begins."""
    cdef Py_ssize_t group = row // reals.in_group * reals.group_step
    return group + row % reals.in_group * reals.row_step


cdef inline const float* row_of(const Reals* reals, Py_ssize_t row) noexcept nogil:
    return reals.x + place_in(reals, row)


cdef inline const float* side_by_side(
    const Reals* reals, const float* x, Py_ssize_t n, float* buffer
) noexcept nogil:
    """Some elements of a row, copied to ``buffer`` unless they lie so."""
    cdef Py_ssize_t i
    if reals.step == 1:
        return x
    for i in range(n):
        buffer[i] = x[i * reals.step]
    return buffer


cdef inline Py_ssize_t most_at_once(const Reals* reals, Py_ssize_t n) noexcept nogil:
    return n if reals.step == 1 else min(n, <Py_ssize_t> GATHERED)


cdef bint has_no_gaps(const Reals* reals) noexcept nogil:
    return reals.step == 1 and reals.row_step == reals.depth and reals.in_group >= reals.size


cdef void range_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """What follows one another, or some rows."""
    cdef Reals* reals = <Reals*> context
    cdef Py_ssize_t start = index * RANGE_CHUNK
    cdef Py_ssize_t row, last, at, n
    cdef float[GATHERED] buffer
    cdef const float* x
    reals.lows[index], reals.highs[index] = INFINITY, -INFINITY
    if has_no_gaps(reals):
        range_of(
            reals.x + start, min(<Py_ssize_t> RANGE_CHUNK, reals.size - start),
            reals.lows + index, reals.highs + index,
        )
        return
    # The rows that begin in the chunk.
    row = (start + reals.depth - 1) // reals.depth
    last = min(start + RANGE_CHUNK, reals.size)
    while row * reals.depth < last:
        x, at = row_of(reals, row), 0
        while at < reals.depth:
            n = most_at_once(reals, reals.depth - at)
            range_of(
                side_by_side(reals, x + at * reals.step, n, buffer), n, reals.lows + index,
                reals.highs + index,
            )
            at += n
        row += 1


cdef int whole_range(Reals* reals, float* low, float* high, int n_threads) except -1 nogil:
    """Smallest and largest of all; nan is among them where they are nan."""
    cdef Py_ssize_t chunks = (reals.size + RANGE_CHUNK - 1) // RANGE_CHUNK
    low[0], high[0] = INFINITY, -INFINITY
    reals.lows = <float*> malloc(2 * chunks * sizeof(float) + 1)
    if reals.lows == NULL:
        with gil:
            raise MemoryError()
    reals.highs = reals.lows + chunks
    n_threads = useful_threads(<double> reals.size, RANGE_PER_THREAD, n_threads)
    parallel_for(range_task, reals, chunks, n_threads)
    join_ranges(reals.lows, reals.highs, chunks, low, high)
    free(reals.lows)
    return 0


cdef void rows_quantized(
    const void* source, Py_ssize_t first, Py_ssize_t count, uint8_t* scratch,
    const Layout* layout, const uint8_t** rows,
) noexcept nogil:
    cdef const Reals* reals = <const Reals*> source
    cdef const float* x
    cdef uint8_t* target
    cdef Py_ssize_t r, left, n, at, some
    cdef float[GATHERED] buffer
    cdef const uint8_t* q
    for r in range(count):
        rows[r] = target = place_of_row(scratch, layout, r)
        left = reals.depth
        if reals.quantized != NULL:
            q = reals.quantized + place_in(reals, reals.first + first + r)
            while left > 0:
                n = min(left, layout.slice_depth)
                memcpy(target, q, n)
                memset(target + n, 0, layout.slice_depth - n)
                left -= n
                q += n
                target += layout.slice_step
            continue
        x = row_of(reals, reals.first + first + r)
        while left > 0:
            n, at = min(left, layout.slice_depth), 0
            while at < n:
                some = most_at_once(reals, n - at)
                quantize_bytes(
                    side_by_side(reals, x, some, buffer), target + at, some, reals.inverse,
                    reals.offset, 0, 255,
                )
                x += some * reals.step
                at += some
            memset(target + n, 0, layout.slice_depth - n)
            left -= n
            target += layout.slice_step


cdef void fill_reals(Reals* reals, cnp.ndarray x, Py_ssize_t depth) noexcept:
    """``x`` is contiguous, or ``(groups, rows, depth)``; bytes lie side by side in a row."""
    cdef int axis = cnp.PyArray_NDIM(x) - 1
    cdef Py_ssize_t itemsize = cnp.PyArray_ITEMSIZE(x)
    reals.x, reals.depth = <const float*> cnp.PyArray_DATA(x), depth
    reals.quantized = <const uint8_t*> reals.x if itemsize == 1 else NULL
    reals.size, reals.first = cnp.PyArray_SIZE(x), 0
    reals.in_group = max(reals.size, <Py_ssize_t> 1)
    reals.group_step, reals.row_step, reals.step = 0, depth, 1
    if not cnp.PyArray_CHKFLAGS(x, cnp.NPY_ARRAY_C_CONTIGUOUS):
        reals.in_group = max(<Py_ssize_t> cnp.PyArray_DIM(x, axis - 1), <Py_ssize_t> 1)
        reals.group_step = cnp.PyArray_STRIDE(x, axis - 2) // itemsize
        reals.row_step = cnp.PyArray_STRIDE(x, axis - 1) // itemsize
        reals.step = cnp.PyArray_STRIDE(x, axis) // itemsize


cdef void fill_dynamic(Dynamic* d, int quant_max, weight) except *:
    """``weight`` as of a product; its multipliers are the scales of the weight."""
    d.quant_max = quant_max
    fill_product(&d.product, &d.reals, &d.epilogue, 0, weight)
    d.product.give_rows, d.product.row_price = rows_quantized, 2


cdef void take_arrays(Dynamic* d, cnp.ndarray x, cnp.ndarray out) noexcept:
    """What is multiplied, and where the results go."""
    fill_reals(&d.reals, x, d.epilogue.depth)
    store_into(&d.product, out)


cdef void use_grid(Dynamic* d, double scale, int32_t zero_point) noexcept nogil:
    """Take the input as on this grid."""
    d.reals.inverse, d.reals.offset = (<float> 1) / <float> scale, <float> zero_point
    d.epilogue.x_scale = <float> scale  # times those of weights: eq-accumulator-scale
    d.epilogue.x_zero_point = zero_point - INPUT_SHIFT


cdef bint choose_grid(Dynamic* d, float* low, float* high, int n_threads) except -1 nogil:
    """Find the range of the input, and its grid.

    Where an end of the range is not finite there is no grid, and the result is false.
    """
    cdef double scale = 0
    cdef int64_t zero_point = 0
    low[0] = high[0] = 0
    if d.reals.size:
        whole_range(&d.reals, low, high, n_threads)
    if not (isfinite(low[0]) and isfinite(high[0])):
        return False
    choose_qparams(low[0], high[0], 0, d.quant_max, False, False, &scale, &zero_point)
    use_grid(d, scale, <int32_t> zero_point)
    return True
