# A convolution as matrix products, one for each group of channels.

from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.math cimport INFINITY
from libc.stdint cimport int8_t, uint8_t
from libc.string cimport memcpy, memset
from pyqref._kernels._parallel cimport is_ending, parallel_for, useful_threads
from pyqref._kernels.cache cimport LINE, next_line, scratch_of_all, scratch_step
from pyqref._kernels.product.description cimport (
    ADDED, SCRATCH_BYTES, WORK_PER_THREAD, Epilogue, Product, bytes_of_result,
)
from pyqref._kernels.product.kernel cimport multiply, multiply_task, plan_product
from pyqref._kernels.product.plan cimport suits_tiles, work_of
from pyqref._kernels.qconv.im2col cimport (
    Image, Segments, cut_lines, end_of, is_matrix, windows_copied,
)
from pyqref._kernels.qconv.indirection cimport has_edges, lie_apart, pad_segments, windows_in_place
from pyqref._kernels.qconv.scatter cimport distance_of_results, fetch_windows, scatter_windows
from pyqref._kernels.qconv.tile_rows cimport MOST_STEPS, fill_spans, suits_spans


cdef inline void join_groups(
    const int8_t* rows, Py_ssize_t joined, Py_ssize_t outputs, Py_ssize_t inputs, Py_ssize_t taps,
    int8_t* panels,
) noexcept nogil:
    """Pack groups ``(joined, outputs, taps, inputs)`` as one, with zeros where they differ."""
    cdef Py_ssize_t width = (joined * outputs + 15) // 16 * 16
    cdef Py_ssize_t quads = (taps * joined * inputs + 3) // 4
    cdef Py_ssize_t column, tap, i, depth
    memset(panels, 0, width * quads * 4)
    for column in range(joined * outputs):
        for tap in range(taps):
            depth = (tap * joined + column // outputs) * inputs
            if inputs % 4 == 0:
                for i in range(0, inputs, 4):
                    memcpy(panels + ((depth + i) // 4 * width + column) * 4, rows + i, 4)
            else:
                for i in range(inputs):
                    panels[((depth + i) // 4 * width + column) * 4 + (depth + i) % 4] = rows[i]
            rows += inputs


# A convolution as one matrix product a group: what all groups share.
cdef struct Groups:
    const Image* image
    const Epilogue* epilogue
    Product product                 # of the first one
    const int8_t* weights
    Py_ssize_t outputs              # of a group
    Py_ssize_t joined               # of the layer's groups that each of these is made of
    Py_ssize_t panels_size          # bytes of the weights of a group
    Py_ssize_t joined_size          # those of them that are laid out only now
    uint8_t* scratch                # for each thread, where threads have groups of their own
    Py_ssize_t scratch_size


cdef inline void skip_groups(Epilogue* e, Py_ssize_t outputs) noexcept nogil:
    """Move what finishes columns on by the outputs of some groups."""
    e.weight_sums += outputs
    e.multiplier += outputs * e.multiplier_step
    if e.weight_zero_points != NULL:
        e.weight_zero_points += outputs * e.weight_zero_point_step
    if e.bias != NULL:
        e.bias += outputs
    if e.integer_bias != NULL:
        e.integer_bias += outputs


# One of them, moved to where it begins.
cdef struct Group:
    Product product
    Image image
    Epilogue epilogue


cdef inline void take_group(
    const Groups* g, Py_ssize_t index, int8_t* buffer, Group* own
) noexcept nogil:
    """Describe one group; its weights may be laid out in ``buffer``. ``own`` is not to be moved."""
    cdef Product* p = &own.product
    cdef Image* image = &own.image
    cdef Py_ssize_t taps = g.image.kernel[0] * g.image.kernel[1] * g.image.kernel[2]
    own.product, own.image, own.epilogue = g.product, g.image[0], g.epilogue[0]
    p.source, p.epilogue = image, &own.epilogue
    image.x += index * image.inputs
    skip_groups(p.epilogue, index * g.outputs)
    p.out += index * g.outputs * p.out_itemsize
    if is_matrix(image):
        p.matrix, p.matrix_end = image.x, end_of(image)
    if g.joined > 1:
        join_groups(
            g.weights + index * g.outputs * taps * image.inputs // g.joined, g.joined,
            g.outputs // g.joined, image.inputs // g.joined, taps, buffer,
        )
        p.panels = buffer
    else:
        p.panels += index * g.panels_size


cdef inline void group_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """A whole group by one thread."""
    cdef const Groups* g = <const Groups*> context
    cdef uint8_t* scratch = g.scratch + thread * scratch_step(g.scratch_size)
    cdef Group own
    cdef Py_ssize_t task
    take_group(g, index, <int8_t*> scratch, &own)
    plan_product(&own.product, 1)
    own.product.scratch = scratch + g.joined_size
    for task in range(own.product.blocks * own.product.column_splits):
        if task > 0 and is_ending():
            return
        multiply_task(&own.product, task, 0)


cdef inline int threads_beside(Groups* g, Py_ssize_t groups, int n_threads) noexcept nogil:
    """Return the number of groups to compute at a time: one, if threads share it more evenly."""
    cdef int within = plan_product(&g.product, n_threads)
    cdef int beside = useful_threads(groups * work_of(&g.product), WORK_PER_THREAD, n_threads)
    beside = <int> min(<Py_ssize_t> beside, groups)
    return beside if (groups + beside - 1) // beside * within <= groups else 1


cdef inline int multiply_groups(Groups* g, Py_ssize_t groups, int n_threads) except -1 nogil:
    """The products of all groups, several at a time where that keeps more threads busy."""
    cdef int beside = 1
    cdef uint8_t* scratch = NULL
    cdef Group own
    cdef Py_ssize_t index
    g.scratch_size = g.joined_size
    if groups > 1 and n_threads > 1:
        beside = threads_beside(g, groups, n_threads)
    if beside > 1:
        plan_product(&g.product, 1)
        g.scratch_size += g.product.scratch_size
    if g.scratch_size > 0:
        scratch = <uint8_t*> malloc(scratch_of_all(g.scratch_size, beside))
        if scratch == NULL:
            with gil:
                raise MemoryError()
    try:
        g.scratch = <uint8_t*> next_line(scratch)
        if beside > 1:
            parallel_for(group_task, g, groups, beside)
        else:
            for index in range(groups):
                take_group(g, index, <int8_t*> g.scratch, &own)
                multiply(&own.product, n_threads)
    finally:
        free(scratch)
    return 0


cdef inline int each_group(
    Image* image, Epilogue* e, const int8_t* weights, Py_ssize_t rows, Py_ssize_t outputs,
    Py_ssize_t groups, Py_ssize_t joined, uint8_t* out, int n_threads,
) except -1 nogil:
    """One matrix product a group; ``outputs`` of each."""
    cdef Groups g
    cdef Product* p = &g.product
    cdef Segments segments
    cdef Py_ssize_t[MOST_STEPS] offsets
    cdef int8_t* padded = NULL
    g.image, g.epilogue, g.weights, g.outputs, g.joined = image, e, weights, outputs, joined
    p.rows, p.columns, p.quads = rows, outputs, (e.depth + 3) // 4
    p.give_rows, p.whole_rows, p.row_price = windows_copied, True, INFINITY
    p.give_rows_in_place, p.matrix, p.segments, p.has_edges = NULL, NULL, 1, False
    p.most_scratch = SCRATCH_BYTES
    memset(&p.spans, 0, sizeof(p.spans))
    if is_matrix(image):
        p.matrix_row = image.channels
    p.source, p.epilogue, p.panels = image, e, weights
    p.out, p.out_itemsize = out, bytes_of_result(e)
    p.out_stride = distance_of_results(image) // p.out_itemsize
    p.put_rows = p.fetch_rows = NULL
    if p.out_stride == 0:
        p.put_rows, p.out_stride = scatter_windows, outputs
        if e.store == ADDED:
            p.fetch_rows = fetch_windows
    cut_lines(image, &segments)
    if joined > 1 and segments.padded > segments.size:
        segments.size = 0             # joined weights are laid out without gaps
    if suits_spans(p, image):
        fill_spans(&p.spans, image, offsets)
    elif not suits_tiles(p) and lie_apart(image, &segments, e):
        p.give_rows_in_place = windows_in_place
        p.segments = image.kernel[0] * image.kernel[1] * segments.count
        p.quads, p.has_edges = p.segments * segments.padded // 4, has_edges(image, &segments)
    g.panels_size = (outputs + 15) // 16 * 64 * p.quads
    g.joined_size = g.panels_size if joined > 1 else 0
    try:
        if p.segments > 1 and segments.padded > segments.size:
            # Each segment begins with a quad of its own.
            padded = <int8_t*> malloc(g.panels_size + LINE)
            if padded == NULL:
                with gil:
                    raise MemoryError()
            p.panels = <int8_t*> next_line(padded)
            pad_segments(
                weights, outputs, (e.depth + 3) // 4, p.segments, segments.size, <int8_t*> p.panels
            )
        multiply_groups(&g, groups, n_threads)
    finally:
        free(padded)
    return 0
