# Sums and products of two arrays of bytes.

cimport numpy as cnp
from libc.stdint cimport int32_t, uint8_t, uint32_t
from pyqref._kernels._outputs cimport OF_INT8, OF_UINT8, require_output_beside
from pyqref._kernels._parallel cimport (
    Task, count_tasks, elements_to_line, parallel_for, task_start, useful_threads,
)
from pyqref._kernels.cache cimport is_best_backward
from pyqref._kernels.simd.partial cimport load_n_bytes, store_n_low_bytes
from pyqref._kernels.simd.primitives cimport *

# What is made of two bytes; a coarse sum has a case of its own for real zero.
cdef enum:
    SUM
    COARSE_SUM
    PRODUCT

cdef enum:
    CHUNK = 1 << 15             # elements a task
    # Elements that are worth a thread: of sums and products, and of what moves bytes.
    REALS_PER_THREAD = 1 << 16
    BYTES_PER_THREAD = 1 << 18


# Two arrays of bytes, the result, and what happens between them.
cdef struct Pair:
    const uint8_t* a
    const uint8_t* b
    uint8_t* out
    const uint8_t* table
    Py_ssize_t size, head
    bint is_signed
    float scale_a, offset_a, scale_b, offset_b, multiplier
    int32_t zero_point_a, zero_point_b, multiplier_a, multiplier_b, shift
    int32_t zero_point, lower, upper


cdef inline void run(Pair* p, Task task, Py_ssize_t per_thread, int n_threads) noexcept nogil:
    n_threads = useful_threads(<double> p.size, per_thread, n_threads)
    p.head = elements_to_line(p.out, 1, p.size)
    parallel_for(task, p, count_tasks(p.size, p.head, CHUNK), n_threads)


cdef inline Py_ssize_t start_of(const Pair* p, Py_ssize_t index) noexcept nogil:
    return task_start(index, p.size, p.head, CHUNK)


cdef inline int set_arrays(Pair* p, cnp.ndarray a, cnp.ndarray b, cnp.ndarray out) except -1:
    p.a = <const uint8_t*> cnp.PyArray_DATA(a)
    p.b = <const uint8_t*> cnp.PyArray_DATA(b)
    p.out = <uint8_t*> cnp.PyArray_DATA(out)
    p.size = cnp.PyArray_SIZE(out)
    p.is_signed = cnp.PyArray_TYPE(a) == cnp.NPY_INT8
    return 0


cdef inline int set_pair(Pair* p, cnp.ndarray a, cnp.ndarray b, cnp.ndarray out) except -1:
    """Point to arrays of one type, where ``b`` and ``out`` lie as ``a`` does."""
    cdef bint is_signed = cnp.PyArray_TYPE(a) == cnp.NPY_INT8
    require_output_beside("out", out, OF_INT8 if is_signed else OF_UINT8, a)
    return set_arrays(p, a, b, out)


cdef inline i32v scaled_to(const Pair* p, f32v value) noexcept nogil:
    """``eq-quantize-after``; nan becomes the upper end."""
    cdef f32v low = set_f32(<float> (p.lower - p.zero_point))
    cdef f32v high = set_f32(<float> (p.upper - p.zero_point))
    cdef f32v scaled = mul_f32(value, set_f32(p.multiplier))
    # The bounds are whole: clamping before rounding gives the same, and cannot overflow.
    return add_i32(to_i32(max_f32(min_f32(scaled, high), low)), set_i32(p.zero_point))


# --- Sum and product ----------------------------------------------------------------------

cdef inline f32v real_of(const Pair* p, i32v x, i32v y, int what) noexcept nogil:
    """The sum of both, dequantized by ``eq-dequantize-fused``, or the product of integers."""
    if what == PRODUCT:
        return to_f32(mul_i32(
            sub_i32(x, set_i32(p.zero_point_a)), sub_i32(y, set_i32(p.zero_point_b))
        ))
    cdef f32v left = fma_f32(to_f32(x), set_f32(p.scale_a), set_f32(p.offset_a))
    cdef f32v right = fma_f32(to_f32(y), set_f32(p.scale_b), set_f32(p.offset_b))
    if what == COARSE_SUM:
        left = if_unequal(left, x, set_i32(p.zero_point_a))
        right = if_unequal(right, y, set_i32(p.zero_point_b))
    return add_f32(left, right)


cdef inline void run_of_pairs(
    void* context, Py_ssize_t index, bint is_signed, int what
) noexcept nogil:
    # A copy, which no byte that is written could belong to.
    cdef Pair p = (<Pair*> context)[0]
    cdef f32v[4] scaled
    cdef i32v x, y
    cdef f32v multiplier = set_f32(p.multiplier)
    cdef f32v high = set_f32(<float> (p.upper - p.zero_point))
    cdef Py_ssize_t i = start_of(&p, index)
    cdef Py_ssize_t stop = start_of(&p, index + 1)
    cdef Py_ssize_t at
    cdef int v
    # As scaled_to does it, four vectors at a time.
    while not is_signed and i + 4 * SIMD_LANES <= stop:
        for v in range(4):
            at = i + v * SIMD_LANES
            x, y = load_bytes_of(p.a + at, is_signed), load_bytes_of(p.b + at, is_signed)
            scaled[v] = min_f32(mul_f32(real_of(&p, x, y, what), multiplier), high)
        store_rounded_u8(
            p.out + i, p.out + i + 2 * SIMD_LANES, scaled[0], scaled[1], scaled[2], scaled[3],
            p.zero_point, p.lower,
        )
        i += 4 * SIMD_LANES
    while i + SIMD_LANES <= stop:
        x, y = load_bytes_of(p.a + i, is_signed), load_bytes_of(p.b + i, is_signed)
        store_low_bytes(p.out + i, scaled_to(&p, real_of(&p, x, y, what)))
        i += SIMD_LANES
    if i < stop:
        x = load_n_bytes(p.a + i, is_signed, stop - i)
        y = load_n_bytes(p.b + i, is_signed, stop - i)
        store_n_low_bytes(p.out + i, scaled_to(&p, real_of(&p, x, y, what)), stop - i)


cdef inline void add_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    if (<Pair*> context).is_signed:
        run_of_pairs(context, index, True, SUM)
    else:
        run_of_pairs(context, index, False, SUM)


cdef inline void add_coarse_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    if (<Pair*> context).is_signed:
        run_of_pairs(context, index, True, COARSE_SUM)
    else:
        run_of_pairs(context, index, False, COARSE_SUM)


cdef inline void mul_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    if (<Pair*> context).is_signed:
        run_of_pairs(context, index, True, PRODUCT)
    else:
        run_of_pairs(context, index, False, PRODUCT)


cdef inline void add_fixed_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    # A copy, which no byte that is written could belong to.
    cdef Pair p = (<Pair*> context)[0]
    cdef Py_ssize_t i
    cdef int32_t total
    cdef uint32_t half = <uint32_t> 1 << (p.shift - 1)
    for i in range(start_of(&p, index), start_of(&p, index + 1)):
        total = p.multiplier_a * (p.a[i] - p.zero_point_a)
        total += p.multiplier_b * (p.b[i] - p.zero_point_b)
        # Halves away from zero: the magnitude is rounded, then gets its sign back.
        if total < 0:
            total = -(<int32_t> ((<uint32_t> -total + half) >> p.shift))
        else:
            total = <int32_t> ((<uint32_t> total + half) >> p.shift)
        p.out[i] = <uint8_t> min(max(total + p.zero_point, p.lower), p.upper)


# --- Table --------------------------------------------------------------------------------

cdef inline void look_up_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef const Pair* p = <const Pair*> context
    cdef Py_ssize_t start = start_of(p, index)
    look_up_u8(p.out + start, p.a + start, start_of(p, index + 1) - start, p.table)


# --- Clamp --------------------------------------------------------------------------------

# Bounds of bytes. Signed ones have the order of unsigned ones when their highest bit is turned.
cdef struct Bounds:
    u8v top, low, high


cdef inline u8v bounded(const Bounds* b, u8v value) noexcept nogil:
    value = min_bytes(max_bytes(xor_bytes(value, b.top), b.low), b.high)
    return xor_bytes(value, b.top)


cdef inline void bound_steps(
    const Bounds* b, const uint8_t* q, uint8_t* out, Py_ssize_t steps, bint backward
) noexcept nogil:
    """So many times four vectors, in one direction or the other."""
    cdef u8v[4] values
    cdef Py_ssize_t step = 16 * SIMD_LANES
    cdef int v
    if backward and steps:
        q, out, step = q + (steps - 1) * step, out + (steps - 1) * step, -step
    while steps > 0:
        # Loads come first: one waits for a store to the same place of another page.
        for v in range(4):
            values[v] = bounded(b, load_many_bytes(q + 4 * v * SIMD_LANES))
        for v in range(4):
            store_many_bytes(out + 4 * v * SIMD_LANES, values[v])
        q, out, steps = q + step, out + step, steps - 1


cdef inline void clamp_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef const Pair* p = <const Pair*> context
    cdef const uint8_t* q = p.a
    cdef uint8_t* out = p.out
    cdef uint8_t flip = 0x80 if p.is_signed else 0
    cdef Bounds b
    cdef Py_ssize_t i, steps, stop
    cdef bint backward = is_best_backward(out, q)
    b.top = set_bytes(flip)
    b.low, b.high = set_bytes(<uint8_t> p.lower ^ flip), set_bytes(<uint8_t> p.upper ^ flip)
    if backward:
        index = count_tasks(p.size, p.head, CHUNK) - 1 - index
    i, stop = start_of(p, index), start_of(p, index + 1)
    steps = (stop - i) // (16 * SIMD_LANES)
    bound_steps(&b, q + i, out + i, steps, backward)
    i += steps * 16 * SIMD_LANES
    while i + 4 * SIMD_LANES <= stop:
        store_many_bytes(out + i, bounded(&b, load_many_bytes(q + i)))
        i += 4 * SIMD_LANES
    if i < stop:
        store_some_bytes(out + i, bounded(&b, load_some_bytes(q + i, stop - i)), stop - i)


# cat
