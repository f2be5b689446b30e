"""Quantized matrix product."""

cimport numpy as cnp
# tracemalloc sees what these give, so that tests see how much scratch a product takes.
from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.math cimport INFINITY, isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset
from pyqref._kernels._outputs cimport OF_BYTES, OF_FLOAT32, OF_INT32, output_for_rows
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.observe.dynamic_qparams cimport choose_qparams
from pyqref._kernels.observe.range cimport join_ranges, range_of
from pyqref._kernels.product.description cimport (
    BYTES, SUMS, TILE_DEPTH, Epilogue, Layout, Product, place_of_row,
)
from pyqref._kernels.product.kernel cimport fill_product, multiply, store_into
from pyqref._kernels.quantize.to_bytes cimport quantize_bytes
from pyqref._kernels.simd.primitives cimport *

# A matrix (rows, depth) of bytes; `flip` turns signed bytes into unsigned ones, 128 higher.
cdef struct Matrix:
    const uint8_t* x
    Py_ssize_t depth
    uint8_t flip


cdef void rows_in_place(
    const void* source, Py_ssize_t first, Py_ssize_t count, uint8_t* scratch,
    const Layout* layout, const uint8_t** rows,
) noexcept nogil:
    cdef const Matrix* matrix = <const Matrix*> source
    cdef Py_ssize_t r
    for r in range(count):
        rows[r] = matrix.x + (first + r) * matrix.depth


cdef inline void copy_slice(uint8_t* target, const uint8_t* x, uint8_t flip) noexcept nogil:
    """A slice of a row for tile registers."""
    cdef int k
    if flip:
        for k in range(TILE_DEPTH):
            target[k] = x[k] ^ flip
        return
    for k in range(TILE_DEPTH // (4 * SIMD_LANES)):
        store_i32(<int32_t*> target + k * SIMD_LANES, load_i32(<const int32_t*> x + k * SIMD_LANES))


cdef void rows_copied(
    const void* source, Py_ssize_t first, Py_ssize_t count, uint8_t* scratch,
    const Layout* layout, const uint8_t** rows,
) noexcept nogil:
    cdef const Matrix* matrix = <const Matrix*> source
    cdef const uint8_t* x
    cdef uint8_t* target
    cdef Py_ssize_t r, k, left
    for r in range(count):
        x = matrix.x + (first + r) * matrix.depth
        rows[r] = target = place_of_row(scratch, layout, r)
        left = matrix.depth
        while left > 0:
            if layout.slice_depth == TILE_DEPTH <= left:
                copy_slice(target, x, matrix.flip)
            else:
                for k in range(min(left, layout.slice_depth)):
                    target[k] = x[k] ^ matrix.flip
                for k in range(left, layout.slice_depth):
                    target[k] = 0
            left -= layout.slice_depth
            x += layout.slice_depth
            target += layout.slice_step


def linear(x, int32_t x_zero_point, out, weight, int n_threads):
    """Bytes ``x (..., depth)`` times packed weights into ``out (..., columns)``, contiguous.

    Where ``out`` is a dtype a buffer is made, or None returned if ``x`` is not contiguous.
    ``weight``: see :file:`pack.py`; it says what is stored, too.

    Returns the result.
    """
    cdef Matrix matrix
    cdef Epilogue epilogue
    cdef Product p
    cdef cnp.ndarray result
    cdef int kinds
    cdef int shift = 0
    fill_product(&p, &matrix, &epilogue, x_zero_point - INPUT_SHIFT, weight)
    kinds = OF_FLOAT32
    if epilogue.store == BYTES:
        kinds = OF_BYTES
    elif epilogue.store == SUMS:
        kinds = OF_INT32
    result = output_for_rows(x, out, kinds, epilogue.columns)
    if result is None:
        return None
    store_into(&p, result)
    if cnp.PyArray_TYPE(<cnp.ndarray?> x) == cnp.NPY_INT8:
        shift = 128
        epilogue.x_zero_point += shift
    matrix.x, matrix.depth = <const uint8_t*> cnp.PyArray_DATA(x), epilogue.depth
    matrix.flip = <uint8_t> shift
    p.give_rows, p.row_price = rows_copied, 0.3
    if shift == 0 and matrix.depth % 4 == 0:
        p.give_rows_in_place = rows_in_place
    with nogil:
        multiply(&p, n_threads)
    return result


# Linear with real inputs and outputs: the range of the input, its grid, its integers and the
# product in one go. The integers never exist but in the scratch of a block.

cdef enum:
    RANGE_CHUNK = 1 << 15           # numbers whose range a task finds
    RANGE_PER_THREAD = 1 << 18      # numbers that are worth a thread
    GATHERED = 256                  # elements of a row that lie apart, at a time


cdef inline Py_ssize_t place_in(const Reals* reals, Py_ssize_t row) noexcept nogil:
    """Return the place where a row begins."""
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
    """Find the range of one chunk of contiguous numbers, or of some rows."""
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
    """Fill in the array that is multiplied, and the one that takes the results."""
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


def linear_dynamic(x, int quant_max, out, weight, int n_threads):
    """Real ``x (..., depth)`` times packed weights into ``out (..., columns)``, float32.

    ``eq-dynamic-input``, then ``eq-linear-dynamic``. ``x`` is contiguous, or lies in any order as
    ``(groups, rows, depth)``. Where ``out`` is a dtype a buffer is made, or None
    returned if ``x`` is not contiguous. ``weight``: see ``fill_dynamic``.

    Returns the result, and the smallest and largest number of ``x``; where one of them is not
    finite there is no grid, and nothing is written.
    """
    cdef Dynamic d
    cdef cnp.ndarray result
    cdef float low = 0
    cdef float high = 0
    fill_dynamic(&d, quant_max, weight)
    result = output_for_rows(x, out, OF_FLOAT32, d.epilogue.columns)
    if result is None:
        return None
    take_arrays(&d, x, result)
    with nogil:
        if choose_grid(&d, &low, &high, n_threads):
            multiply(&d.product, n_threads)
    return result, low, high
