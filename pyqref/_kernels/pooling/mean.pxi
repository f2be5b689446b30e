# The mean of each window: included by body.pxi.

cdef inline int32_t sum_of(const uint8_t* x, Py_ssize_t n, bint is_signed) noexcept nogil:
    return sum_s8(<const int8_t*> x, n) if is_signed else sum_u8(x, n)


# How a sum becomes a mean: divided, or multiplied by a factor.
cdef struct Division:
    f32v divisor, factor
    bint divides


cdef inline Division division_by(const Pool* p, int64_t divisor) noexcept nogil:
    cdef Division d
    cdef f32v scale = set_f32(p.scale)
    d.divisor = set_f32(<float> divisor)
    d.divides = False
    if p.by_reciprocal:
        d.factor = div_f32(scale, mul_f32(scale, d.divisor))
    else:
        # The reciprocal of a power of two is exact: the product then is the quotient.
        d.divides = divisor < 1 or (divisor & (divisor - 1)) != 0
        d.factor = div_f32(set_f32(1), d.divisor)
    return d


cdef inline f32v mean_of(const Pool* p, i32v total, Division* d) noexcept nogil:
    """``eq-quantized-mean``, neither rounded nor clamped but where torch rounds early."""
    cdef f32v offset = set_f32(<float> p.zero_point)
    cdef f32v value = to_f32(total)
    if p.by_reciprocal:
        return add_f32(round_f32(mul_f32(value, d.factor)), offset)
    if d.divides:
        return add_f32(div_f32(value, d.divisor), offset)
    return add_f32(mul_f32(value, d.factor), offset)


cdef inline void store_mean(
    const Pool* p, f32v value, uint8_t* out, Py_ssize_t left
) noexcept nogil:
    cdef uint8_t[LANES_MAX] stored
    # The bounds are whole: clamping before rounding gives the same, and cannot overflow.
    cdef i32v q = to_i32(
        max_f32(min_f32(value, set_f32(<float> p.upper)), set_f32(<float> p.lower))
    )
    if left >= SIMD_LANES:
        store_low_bytes(out, q)
    else:
        store_low_bytes(stored, q)
        memcpy(out, stored, left)


# How the bytes of four taps become sums: quads of which all four, or the last ones, count.
cdef struct Quads:
    weights_v all, last
    uint8_t* scratch
    uint8_t flip
    Py_ssize_t taps                 # of a window


cdef inline void set_quads(Quads* q, Py_ssize_t taps) noexcept nogil:
    cdef int8_t[2][4 * LANES_MAX] weights
    cdef int8_t[4] last
    cdef int i
    for i in range(4):
        last[i] = i <= (taps - 1) % 4
    memset(weights[0], 1, sizeof(weights[0]))
    for i in range(LANES_MAX):      # four bytes at a time: this is done for each line of results
        memcpy(weights[1] + 4 * i, last, sizeof(last))
    q.all, q.last = load_weights(weights[0]), load_weights(weights[1])
    q.taps = taps


cdef inline void add_listed(
    const Quads* q, const Bytes* list, Py_ssize_t listed, Py_ssize_t at, bint is_signed,
    i32v* totals,
) noexcept nogil:
    """Add the listed taps of some channels; what is beyond the last of them counts nothing."""
    cdef quads_v[ACROSS] quads
    cdef Py_ssize_t tap
    cdef int v
    for tap in range(0, listed, 4):
        if is_signed:
            interleave_u8(
                q.scratch, list[tap] + at, list[tap + 1] + at, list[tap + 2] + at,
                list[tap + 3] + at, q.flip,
            )
            for v in range(ACROSS):
                quads[v] = load_quads(q.scratch + 4 * v * SIMD_LANES)
        else:
            weave_quads(
                quads, list[tap] + at, list[tap + 1] + at, list[tap + 2] + at, list[tap + 3] + at
            )
        for v in range(ACROSS):
            totals[v] = dot4_quads(totals[v], quads[v], q.last if tap + 4 > listed else q.all)


cdef inline void mean_across(
    const Pool* p, const Taps* taps, List* list, Quads* quads, int32_t start, Division* d,
    bint is_signed, uint8_t* out,
) noexcept nogil:
    """All channels of one result; ``start`` is what the sums begin with."""
    cdef i32v[ACROSS] totals
    cdef f32v[ACROSS] means
    cdef f32v high = set_f32(<float> p.upper)
    cdef Py_ssize_t n = count_of(taps)
    cdef Py_ssize_t c = 0
    cdef Py_ssize_t tap
    cdef int v
    if p.inner < ACROSS * SIMD_LANES:
        mean_of_few(p, taps, start, d, is_signed, out)
        return
    if n != quads.taps:
        set_quads(quads, n)
    start += <int32_t> n * (INPUT_SHIFT - quads.flip)
    while True:
        for v in range(ACROSS):
            totals[v] = set_i32(start)
        tap = 0
        while tap < n:
            if c == 0 or n > LISTED:
                fill_list(list, taps, tap)
                for v in range(3):
                    list.taps[list.length + v] = list.taps[0]
            add_listed(quads, list.taps, list.length, c, is_signed, totals)
            tap += list.length
        for v in range(ACROSS):
            means[v] = min_f32(mean_of(p, totals[v], d), high)
        store_rounded_quads(
            out + c, means[0], means[1], means[2], means[3], quads.flip, p.lower + quads.flip,
            quads.flip,
        )
        if c + ACROSS * SIMD_LANES == p.inner:
            return
        # The last ones may be among those of the step before: once more is the same.
        c = min(c + ACROSS * SIMD_LANES, p.inner - ACROSS * SIMD_LANES)


cdef inline void mean_of_few(
    const Pool* p, const Taps* taps, int32_t start, Division* d, bint is_signed, uint8_t* out
) noexcept nogil:
    """Channels that are fewer than are averaged together."""
    cdef uint8_t[LANES_MAX] rest
    cdef const uint8_t* x
    cdef i32v total
    cdef Py_ssize_t c = 0
    cdef Py_ssize_t left, z, y, at
    while c < p.inner:
        left = min(p.inner - c, <Py_ssize_t> SIMD_LANES)
        total = set_i32(start)
        for z in range(taps.planes):
            for y in range(taps.rows):
                x = taps.first + z * taps.plane_step + y * taps.row_step + c
                for at in range(taps.columns):
                    if left == SIMD_LANES:
                        total = add_i32(total, load_bytes_of(x, is_signed))
                    else:
                        memset(rest, 0, sizeof(rest))
                        memcpy(rest, x, left)
                        total = add_i32(total, load_bytes_of(rest, is_signed))
                    x += taps.column_step
        store_mean(p, mean_of(p, total, d), out + c, left)
        c += SIMD_LANES


cdef void finish(
    const Pool* p, const int32_t* sums, const float* divisors, Py_ssize_t n, uint8_t* out
) noexcept nogil:
    """``eq-quantized-mean`` of n sums, each with its divisor, but all with that of the pool.

    The arrays may be read up to whole vectors.
    """
    cdef Division d = division_by(p, p.divisor)
    cdef f32v scale = set_f32(p.scale)
    cdef Py_ssize_t i = 0
    while i < n:
        if not p.divisor:
            d.divisor = load_f32(divisors + i)
            d.factor = div_f32(scale, mul_f32(scale, d.divisor))
        store_mean(p, mean_of(p, load_i32(sums + i), &d), out + i, n - i)
        i += SIMD_LANES


cdef inline int64_t divisor_of(
    const Pool* p, const Line* line, const Window* column
) noexcept nogil:
    return p.divisor if p.divisor else line.plane.counted * line.row.counted * column.counted


cdef inline int64_t inside(const Line* line, const Window* column) noexcept nogil:
    return length_of(line.plane) * length_of(line.row) * length_of(column)


cdef inline int32_t start_of(const Pool* p, const Line* line, const Window* column) noexcept nogil:
    """What a sum begins with: padding adds nothing to what is left of the zero point."""
    return <int32_t> (-p.zero_point * inside(line, column))


cdef void mean_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """One line of results."""
    cdef const Pool* p = <const Pool*> context
    cdef uint8_t* out = p.out + index * p.out_width * p.inner
    cdef Line line = line_of(p, index)
    cdef const Window* column
    cdef int64_t divisor
    cdef int64_t last_divisor = 0
    cdef Division d
    cdef Taps taps
    cdef List list
    cdef Quads quads
    cdef uint8_t[QUADS + LINE] scratch
    cdef Py_ssize_t x
    cdef int32_t start
    if p.inner == 1:
        mean_along(p, &line, out, thread)
        return
    list.columns = -1
    set_quads(&quads, inside(&line, p.columns))
    quads.flip = 0x80 if p.is_signed else 0
    quads.scratch = <uint8_t*> next_line(scratch)
    taps.planes, taps.plane_step = length_of(line.plane), line.plane_step
    taps.rows, taps.row_step = length_of(line.row), line.row_step
    taps.column_step = p.inner
    for x in range(p.out_width):
        column = p.columns + x
        taps.first = line.x + column.first * p.inner
        taps.columns = length_of(column)
        start = start_of(p, &line, column)
        divisor = divisor_of(p, &line, column)
        if x == 0 or divisor != last_divisor:
            d = division_by(p, divisor)
            last_divisor = divisor
        if p.is_signed:
            mean_across(p, &taps, &list, &quads, start, &d, True, out + x * p.inner)
        else:
            mean_across(p, &taps, &list, &quads, start, &d, False, out + x * p.inner)


cdef void mean_along(const Pool* p, const Line* line, uint8_t* out, int thread) noexcept nogil:
    """One line of results of one channel: places side by side are neighbours in memory."""
    cdef int32_t* sums = p.sums + thread * p.longest
    cdef float* divisors = p.divisors + thread * p.longest
    cdef const Window* column
    cdef const uint8_t* first
    cdef Py_ssize_t begin = 0
    cdef Py_ssize_t count, x, z, y
    while begin < p.out_width:
        count = min(p.out_width - begin, <Py_ssize_t> ALONG)
        for x in range(count):
            column = p.columns + begin + x
            sums[x] = start_of(p, line, column)
            divisors[x] = <float> divisor_of(p, line, column)
            for z in range(length_of(line.plane)):
                first = line.x + z * line.plane_step + column.first
                for y in range(length_of(line.row)):
                    sums[x] += sum_of(first + y * line.row_step, length_of(column), p.is_signed)
        finish(p, sums, divisors, count, out + begin)
        begin += count
