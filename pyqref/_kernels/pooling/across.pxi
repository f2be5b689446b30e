# Means of channels, which are innermost in memory: included by kernel.pyx.
#
# A window of more taps than a list has is gone through once: all channels of the taps of a list,
# then those of the next, while their sums wait in scratch. Where there are fewer results than tasks
# are wanted, the taps of each window are cut into parts, whose sums are added at the end: they are
# integers, and in any order the same.

cdef enum:
    SPAN = 1 << 12                  # channels of a task, at most

# How the bytes of four taps become sums: quads of which all four, or the last ones, count.
cdef struct Quads:
    counted_v all, last
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
    q.all, q.last = load_counted(weights[0]), load_counted(weights[1])
    q.taps = taps


cdef inline void add_listed(
    const Quads* q, const Bytes* list, Py_ssize_t listed, Py_ssize_t at, bint is_signed,
    i32v* totals,
) noexcept nogil:
    """Add the listed taps of some channels; what is beyond the last of them counts nothing."""
    cdef summed_v[ACROSS] quads
    cdef Py_ssize_t tap
    cdef int v
    for tap in range(0, listed, 4):
        if is_signed:
            interleave_u8(
                q.scratch, list[tap] + at, list[tap + 1] + at, list[tap + 2] + at,
                list[tap + 3] + at, q.flip,
            )
            for v in range(ACROSS):
                quads[v] = load_summed(q.scratch + 4 * v * SIMD_LANES)
        else:
            interleave_summed(
                quads, list[tap] + at, list[tap + 1] + at, list[tap + 2] + at, list[tap + 3] + at
            )
        for v in range(ACROSS):
            totals[v] = sum_summed(totals[v], quads[v], q.last if tap + 4 > listed else q.all)


# Which taps of a window a task adds up, how many of them at a time, and where sums wait: in the
# order of quads, those of some channels twice where steps overlap.
cdef struct Part:
    Py_ssize_t first, last, most
    int32_t* sums


cdef inline void list_whole_quads(
    List* list, const Taps* taps, Py_ssize_t start, Py_ssize_t most
) noexcept nogil:
    cdef int v
    fill_list(list, taps, start, most)
    for v in range(3):
        list.taps[list.length + v] = list.taps[0]


cdef inline Py_ssize_t step_on(Py_ssize_t c, Py_ssize_t channels) noexcept nogil:
    """The next channels: the last ones may be among those of the step before."""
    return min(c + ACROSS * SIMD_LANES, channels - ACROSS * SIMD_LANES)


cdef inline void finish_quads(
    const Pool* p, const i32v* totals, Division* d, uint8_t flip, uint8_t* out
) noexcept nogil:
    """``eq-quantized-mean`` of sums in the order of quads."""
    cdef f32v[ACROSS] means
    cdef f32v high = set_f32(<float> p.upper)
    cdef int v
    for v in range(ACROSS):
        means[v] = min_f32(mean_of(p, totals[v], d), high)
    store_rounded_quads(out, means[0], means[1], means[2], means[3], flip, p.lower + flip, flip)


# What the windows have in common that see as many columns and divide by the same number.
cdef struct Sort:
    int64_t columns, counted
    Division division
    int32_t start


cdef inline void pass_over(
    const Pool* p, const List* list, const Quads* quads, Sort* sort, bint is_signed, bint begins,
    bint ends, Py_ssize_t channels, int32_t* sums, uint8_t* out,
) noexcept nogil:
    """Add the taps of a list to sums that begin here or wait, and that end as means or wait on."""
    cdef i32v[ACROSS] totals
    cdef Py_ssize_t c = 0
    cdef int v
    while True:
        for v in range(ACROSS):
            totals[v] = set_i32(sort.start) if begins else load_i32(sums + v * SIMD_LANES)
        add_listed(quads, list.taps, list.length, c, is_signed, totals)
        if ends:
            finish_quads(p, totals, &sort.division, quads.flip, out + c)
        else:
            for v in range(ACROSS):
                store_i32(sums + v * SIMD_LANES, totals[v])
        if c + ACROSS * SIMD_LANES == channels:
            return
        c = step_on(c, channels)
        sums += ACROSS * SIMD_LANES


cdef inline void mean_across(
    const Pool* p, const Taps* taps, const Part* part, List* list, const Quads* quads,
    Sort* sort, bint is_signed, Py_ssize_t channels, uint8_t* out,
) noexcept nogil:
    """Some channels of one result; or where ``out`` is NULL, their sums, of a part of the taps."""
    cdef Py_ssize_t tap = part.first
    cdef bint ends
    if quads.taps <= part.most and out != NULL:
        list_whole_quads(list, taps, 0, part.most)
        pass_over(p, list, quads, sort, is_signed, True, True, channels, NULL, out)
        return
    while tap < part.last:
        list_whole_quads(list, taps, tap, part.most)
        ends = tap + list.length >= part.last and out != NULL
        pass_over(
            p, list, quads, sort, is_signed, tap == part.first, ends, channels, part.sums, out
        )
        tap += list.length


cdef inline int32_t* sums_of(const Pool* p, Py_ssize_t task) noexcept nogil:
    """Where the sums of a part of a window are."""
    return p.sums + task * p.longest


cdef inline Py_ssize_t taps_at_a_time(Py_ssize_t apart) noexcept nogil:
    """Taps whose lines a cache keeps while the lines behind them come.

    A first cache of 32 KiB has eight places for lines that are a multiple of 4 KiB apart.
    """
    return min(max(4 * 4096 // (apart & -apart), 8), <Py_ssize_t> LISTED)


cdef inline Py_ssize_t first_of_part(
    Py_ssize_t taps, Py_ssize_t parts, Py_ssize_t part
) noexcept nogil:
    """Parts begin with whole lists."""
    return min(taps, (taps + LISTED - 1) // LISTED * part // parts * LISTED)


cdef inline void set_sort(
    const Pool* p, const Share* share, const Window* column, Sort* sort, Part* part, Quads* quads
) noexcept nogil:
    cdef Py_ssize_t taps = inside(&share.line, column)
    sort.columns, sort.counted = length_of(column), column.counted
    sort.division = division_by(p, divisor_of(p, &share.line, column))
    set_quads(quads, taps)
    part.first = first_of_part(taps, p.parts, share.part)
    part.last = first_of_part(taps, p.parts, share.part + 1)
    sort.start = 0
    if p.parts == 1:
        sort.start = start_of(p, &share.line, column)
        if p.inner >= ACROSS * SIMD_LANES:
            sort.start += <int32_t> taps * (INPUT_SHIFT - quads.flip)


cdef void across_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some channels of some results of a line, or a part of the sums of one."""
    cdef const Pool* p = <const Pool*> context
    cdef Share share = share_of(p, index)
    cdef const Window* column
    cdef Sort sort
    cdef Taps taps
    cdef Part part
    cdef List list
    cdef Quads quads
    cdef uint8_t[QUADS + LINE] scratch
    cdef int32_t[SPAN + ACROSS * LANES_MAX] sums
    cdef uint8_t* out
    cdef Py_ssize_t pixels = pixels_of(p.inner) if p.inner < ACROSS * SIMD_LANES else 1
    cdef Py_ssize_t x
    list.columns = -1
    quads.flip = 0x80 if p.is_signed else 0
    quads.scratch = <uint8_t*> next_line(scratch)
    taps.planes, taps.plane_step = length_of(share.line.plane), share.line.plane_step
    taps.rows, taps.row_step = length_of(share.line.row), share.line.row_step
    taps.column_step = p.inner
    part.most = taps_at_a_time(p.inner)
    part.sums = &sums[0] if p.parts == 1 else sums_of(p, index)
    set_sort(p, &share, p.columns + share.begin, &sort, &part, &quads)
    for x in range(share.begin, share.end):
        column = p.columns + x
        if length_of(column) != sort.columns or column.counted != sort.counted:
            set_sort(p, &share, column, &sort, &part, &quads)
        taps.first = share.line.x + column.first * p.inner + share.channel
        taps.columns = sort.columns
        out = share.line.out + x * p.inner + share.channel if p.parts == 1 else NULL
        if p.inner < ACROSS * SIMD_LANES:
            if p.is_signed:
                mean_of_few(p, &taps, pixels, sort.start, &sort.division, True, out)
            else:
                mean_of_few(p, &taps, pixels, sort.start, &sort.division, False, out)
        elif p.is_signed:
            mean_across(p, &taps, &part, &list, &quads, &sort, True, share.channels, out)
        else:
            mean_across(p, &taps, &part, &list, &quads, &sort, False, share.channels, out)


cdef void finish_parts(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some channels of one result whose sums are there, part by part."""
    cdef const Pool* p = <const Pool*> context
    cdef Share share = share_of(p, index * p.parts)
    cdef const Window* column = p.columns + share.begin
    cdef Py_ssize_t taps = inside(&share.line, column)
    cdef uint8_t flip = 0x80 if p.is_signed else 0
    cdef int32_t start = start_of(p, &share.line, column) + taps * (INPUT_SHIFT - flip)
    cdef Division d = division_by(p, divisor_of(p, &share.line, column))
    cdef uint8_t* out = share.line.out + share.begin * p.inner + share.channel
    cdef const int32_t* sums = sums_of(p, index * p.parts)
    cdef i32v[ACROSS] totals
    cdef Py_ssize_t c = 0
    cdef Py_ssize_t part
    cdef int v
    while True:
        for v in range(ACROSS):
            totals[v] = set_i32(start)
            for part in range(p.parts):
                totals[v] = add_i32(totals[v], load_i32(sums + part * p.longest + v * SIMD_LANES))
        finish_quads(p, totals, &d, flip, out + c)
        if c + ACROSS * SIMD_LANES == share.channels:
            return
        c = step_on(c, share.channels)
        sums += ACROSS * SIMD_LANES


cdef int mean_of_channels(Pool* p, double work, tuple longest, int n_threads) except -1:
    """Means of images whose channels are innermost."""
    cdef Py_ssize_t tasks = cut_lines(p, work, n_threads)
    cdef Py_ssize_t wanted = n_threads * TASKS_PER_THREAD
    cdef Py_ssize_t lists = 1
    p.spans = (p.inner + SPAN - 1) // SPAN
    tasks *= p.spans
    if tasks < wanted and n_threads > 1 and p.inner >= ACROSS * SIMD_LANES:
        for taps in longest:
            lists *= <Py_ssize_t> taps
        lists = (lists + LISTED - 1) // LISTED
        p.parts = max(1, min((wanted + tasks - 1) // tasks, lists))
    if p.parts > 1:
        # Lines are then cut into single results.
        p.longest = (p.inner + p.spans - 1) // p.spans + ACROSS * SIMD_LANES
        p.sums = <int32_t*> calloc(tasks * p.parts * p.longest, sizeof(int32_t))
        if p.sums == NULL:
            raise MemoryError()
    with nogil:
        parallel_for(across_task, p, tasks * p.parts, n_threads)
        if p.parts > 1:
            parallel_for(finish_parts, p, tasks, 1)
        free(p.sums)
    return 0
