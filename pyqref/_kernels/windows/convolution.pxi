# Convolution of floats, box by box (convolution_boxes.pxi): included by kernel.pyx.

cdef void put_sums(
    const Convolution* p, const Box* box, const Place* tile, const float* sums, Py_ssize_t row,
    float* out, Py_ssize_t first, Py_ssize_t outputs
) noexcept nogil:
    """Those of one tile, line by line, for ``outputs`` outputs of a group from ``first`` on."""
    cdef const Axis* high = &p.axes[1]
    cdef const Axis* wide = &p.axes[2]
    cdef Py_ssize_t z = tile.at // p.plane
    cdef Py_ssize_t y = (tile.at - z * p.plane) // p.pitch
    cdef Py_ssize_t x = tile.at - z * p.plane - y * p.pitch
    cdef const Py_ssize_t* planes = p.planes + first
    cdef Py_ssize_t left = tile.vectors * SIMD_LANES
    cdef Py_ssize_t count, i, o
    cdef float* to
    z = (box.first[0] + z) * p.axes[0].out_step + p.axes[0].out_first
    while left > 0 and y < box.count[1]:
        count = min(left, box.count[2] - x)
        if count > 0:
            to = out + (
                z * high.out_places + (box.first[1] + y) * high.out_step + high.out_first
            ) * wide.out_places + (box.first[2] + x) * wide.out_step + wide.out_first
            for o in range(outputs):
                if wide.out_step > 1:
                    for i in range(count):
                        to[planes[o] + i * wide.out_step] = sums[o * row + i]
                elif count == POSITIONS:
                    for i in range(POSITION_VECTORS):
                        store_f32(
                            to + planes[o] + i * SIMD_LANES,
                            load_f32(sums + o * row + i * SIMD_LANES),
                        )
                else:
                    copy_floats(to + planes[o], sums + o * row, count)
        left -= p.pitch - x
        sums += p.pitch - x
        x = 0
        y += 1


cdef void convolve_outputs(
    const Convolution* p, const Box* box, const float* weight, const float* bias, float* out,
    Py_ssize_t first, Py_ssize_t outputs, const Place* tiles, Py_ssize_t count,
    const float* copied, float* sums
) noexcept nogil:
    """Some outputs of one box."""
    cdef Py_ssize_t depth = p.channels * p.taps
    cdef Py_ssize_t row = count * POSITIONS
    cdef Py_ssize_t block, k, i
    cdef Terms t
    t.is_first, t.bias = True, bias
    t.weight_row, t.sums_row = depth, row
    for block in range((depth + TERMS - 1) // TERMS):
        if is_ending():
            return
        k = block * TERMS
        t.offsets, t.terms = p.offsets + k, min(<Py_ssize_t> TERMS, depth - k)
        t.weight = weight + k
        add_tiles(&t, outputs, copied, tiles, count, sums)
        t.is_first = False
    for i in range(count):
        put_sums(p, box, tiles + i, sums + i * POSITIONS, row, out, first, outputs)


cdef inline float* scratch_of(const Convolution* p, int thread) noexcept nogil:
    """What a thread has, from the beginning of a line of the cache on."""
    cdef size_t at = <size_t> (p.scratch + thread * p.buffer)
    return <float*> ((at + LINE - 1) // LINE * LINE)


cdef void convolution_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some outputs of one box of one group of one image."""
    cdef const Convolution* p = <const Convolution*> context
    cdef float* copied = scratch_of(p, thread)
    cdef float* sums = copied + p.copied
    cdef Place* tiles = p.tiles + thread * p.places
    cdef Py_ssize_t rest = index // p.shares
    cdef Py_ssize_t first = index % p.shares * p.share
    cdef Py_ssize_t end = min(first + p.share, p.outputs)
    cdef Py_ssize_t size = p.axes[0].size * p.axes[1].size * p.axes[2].size
    cdef Py_ssize_t axis, channel, group, count, some
    cdef const float* image
    cdef const float* bias = NULL
    cdef Box box
    for axis in range(2, -1, -1):
        box.first[axis] = rest % p.axes[axis].boxes * p.axes[axis].box
        box.count[axis] = min(p.axes[axis].box, p.axes[axis].out_size - box.first[axis])
        rest //= p.axes[axis].boxes
    group = rest % p.groups             # rest counts the groups of all images
    image = p.x + rest * p.channels * size
    for channel in range(p.channels):
        if channel % 64 == 63 and is_ending():
            return
        copy_box(p, image + channel * size, &box, copied + channel * p.channel)
    count = lay_tiles(p, &box, tiles)
    while first < end:
        if p.bias != NULL:
            bias = p.bias + group * p.outputs + first
        some = min(p.some, end - first)
        convolve_outputs(
            p, &box, p.weight + (group * p.outputs + first) * p.channels * p.taps,
            bias,
            p.out + rest * p.group_places, first, some, tiles, count, copied, sums,
        )
        first += some


def convolve(
    cnp.ndarray x, cnp.ndarray weight, cnp.ndarray bias, cnp.ndarray out, tuple axes,
    tuple spread, Py_ssize_t groups, int n_threads
):
    """Fill ``out (N, outputs, *places)``, or some of it, from ``x (N, channels, *size)``.

    All are float32, contiguous and not empty, with three spatial axes; ``weight`` is
    ``(outputs, channels / groups, taps)``, and ``bias (outputs,)`` or None. ``axes`` has for each
    axis the number of windows, their size, stride, dilation and how much is padded before, and of
    the results the first place along this axis, how far apart they are, and how many places the
    axis has. Results of as many outputs as ``spread`` names for each axis lie beside each other:
    those of taps without overlap.
    """
    cdef Convolution p
    cdef Py_ssize_t[3] beside = spread
    cdef Py_ssize_t outputs = cnp.PyArray_DIM(weight, 0)
    cdef cnp.npy_intp[5] shape = [
        cnp.PyArray_DIM(x, 0), outputs // (beside[0] * beside[1] * beside[2]), 1, 1, 1
    ]
    cdef Py_ssize_t axis, tasks
    memset(&p, 0, sizeof(Convolution))
    fill_axes(p.axes, x, axes)
    for axis in range(3):
        shape[2 + axis] = p.axes[axis].out_places
    require_output("out", out, OF_FLOAT32, 5, shape)
    p.x, p.weight = <const float*> cnp.PyArray_DATA(x), <const float*> cnp.PyArray_DATA(weight)
    p.out = <float*> cnp.PyArray_DATA(out)
    if bias is not None:
        p.bias = <const float*> cnp.PyArray_DATA(bias)
    p.groups, p.channels = groups, cnp.PyArray_DIM(weight, 1)
    p.outputs, p.taps = outputs // groups, cnp.PyArray_DIM(weight, 2)
    choose_boxes(&p)
    tasks = shape[0] * groups
    n_threads = useful_threads(
        <double> tasks * p.outputs * p.channels * p.taps
        * p.axes[0].out_size * p.axes[1].out_size * p.axes[2].out_size,
        PRODUCTS_PER_THREAD, n_threads,
    )
    tasks *= p.axes[0].boxes * p.axes[1].boxes * p.axes[2].boxes
    # Tasks that are fewer than make threads equally busy are cut once more.
    p.shares = 1 if n_threads == 1 or tasks >= 4 * n_threads else 4 * n_threads // tasks
    p.share = max((p.outputs + p.shares - 1) // p.shares, min(p.outputs, <Py_ssize_t> OUTPUT_ROWS))
    p.shares = (p.outputs + p.share - 1) // p.share
    p.some = max(SUMS // (p.places * POSITIONS), <Py_ssize_t> OUTPUT_ROWS)
    p.some = min(p.share, p.some // OUTPUT_ROWS * OUTPUT_ROWS)
    p.buffer = p.copied + p.some * p.places * POSITIONS + 16
    p.offsets = <Py_ssize_t*> malloc(
        (p.channels * p.taps + p.outputs) * sizeof(Py_ssize_t)
    )
    p.tiles = <Place*> malloc(p.places * n_threads * sizeof(Place))
    p.scratch = <float*> malloc(p.buffer * n_threads * sizeof(float))
    if p.offsets == NULL or p.tiles == NULL or p.scratch == NULL:
        free(p.offsets)
        free(p.tiles)
        free(p.scratch)
        raise MemoryError()
    p.planes = p.offsets + p.channels * p.taps
    with nogil:
        fill_offsets(&p)
        fill_planes(&p, beside)
        parallel_for(convolution_task, &p, tasks * p.shares, n_threads)
        free(p.offsets)
        free(p.tiles)
        free(p.scratch)
