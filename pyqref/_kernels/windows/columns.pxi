# Convolutions with the channels first: filters times windows as columns, some pixels at a time,
# straight into the planes of the result.

# ``filters (outputs, C * K)``; the result is ``(N, outputs, L)``. A task fills ``step`` pixels of
# ``share`` outputs of one image.
cdef struct Columns:
    Windows windows
    const float* filters
    const float* bias               # or NULL
    float* out
    float* columns                  # of a task, for each thread; NULL where pixels are the windows
    Py_ssize_t outputs, depth, length, step, share, blocks, parts


cdef inline void lay_column(
    const Windows* w, float* target, const float* plane, Py_ssize_t ky, Py_ssize_t kx,
    Py_ssize_t first, Py_ssize_t last
) noexcept nogil:
    """What one tap meets in one channel, for the windows from ``first`` to before ``last``."""
    cdef Py_ssize_t y = first // w.out_width
    cdef Py_ssize_t x = first - y * w.out_width
    cdef Py_ssize_t line, start, n, inside, end
    while first < last:
        n = min(w.out_width - x, last - first)
        line = y * w.stride_y - w.before_y + ky * w.dilation_y
        start = x * w.stride_x - w.before_x + kx * w.dilation_x
        inside = end = 0
        if 0 <= line < w.height:
            inside = places_before(-start, w.stride_x, n)
            end = places_before(w.width - start, w.stride_x, n)
        if end <= inside:
            zero_floats(target, n)
        else:
            zero_floats(target, inside)
            gather(
                target + inside, plane + line * w.width + start + inside * w.stride_x, w.stride_x,
                end - inside,
            )
            zero_floats(target + end, n - end)
        target += n
        first += n
        x = 0
        y += 1


cdef void columns_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef const Columns* p = <const Columns*> context
    cdef const Windows* w = &p.windows
    cdef Py_ssize_t image = index // (p.blocks * p.parts)
    cdef Py_ssize_t first = index // p.parts % p.blocks * p.step
    cdef Py_ssize_t output = index % p.parts * p.share
    cdef Py_ssize_t outputs = min(p.share, p.outputs - output)
    cdef Py_ssize_t n = min(p.step, p.length - first)
    cdef Py_ssize_t plane = w.height * w.width
    cdef const float* source = w.images + image * w.channels * plane
    cdef float* out = p.out + (image * p.outputs + output) * p.length + first
    cdef Py_ssize_t channel, ky, kx, i
    cdef float* target
    cdef float added
    cdef Matrix matrix
    if p.columns == NULL:
        matrix = matrix_of(<float*> source + first, plane, 1)
    else:
        target = p.columns + thread * p.step * p.depth
        matrix = matrix_of(target, n, 1)
        for channel in range(w.channels):
            if channel > 0 and is_ending():
                return
            for ky in range(w.kernel_y):
                for kx in range(w.kernel_x):
                    lay_column(w, target, source + channel * plane, ky, kx, first, first + n)
                    target += n
    multiply_matrices(
        matrix_of(<float*> p.filters + output * p.depth, p.depth, 1), matrix, out, outputs,
        p.depth, n, p.length,
    )
    if p.bias != NULL:
        for channel in range(outputs):
            added = p.bias[output + channel]
            target = out + channel * p.length
            for i in range(n):
                target[i] += added


def multiply_columns(
    cnp.ndarray images, cnp.ndarray filters, bias, cnp.ndarray out, tuple windows, tuple geometry,
    bint are_pixels, Py_ssize_t step, Py_ssize_t share, int n_threads
):
    """Fill ``out (N, outputs, *count)`` with filters ``(outputs, C * K)`` times the windows.

    All are float32, contiguous and not empty; ``bias (outputs,)`` or None is added. ``windows``
    and ``geometry`` as for :func:`multiply_windows`; ``step`` pixels of ``share`` outputs are a
    task, and where windows ``are_pixels``, the images are their columns.
    """
    cdef Columns p
    cdef cnp.npy_intp[4] sizes = [
        cnp.PyArray_DIM(images, 0), cnp.PyArray_DIM(filters, 0), windows[0], windows[1]
    ]
    require_output("out", out, OF_FLOAT32, 4, sizes)
    memset(&p, 0, sizeof(Columns))
    lay_out(&p.windows, images, windows, geometry, False)
    p.filters, p.out = <const float*> cnp.PyArray_DATA(filters), <float*> cnp.PyArray_DATA(out)
    if bias is not None:
        p.bias = <const float*> cnp.PyArray_DATA(bias)
    p.outputs, p.depth = sizes[1], cnp.PyArray_DIM(filters, 1)
    p.length, p.step, p.share = sizes[2] * sizes[3], step, share
    p.blocks, p.parts = (p.length + step - 1) // step, (p.outputs + share - 1) // share
    n_threads = useful_threads(
        <double> sizes[0] * p.length * p.outputs * p.depth, PRODUCTS_PER_THREAD, n_threads
    )
    if not are_pixels:
        p.columns = <float*> malloc(p.step * p.depth * n_threads * sizeof(float))
        if p.columns == NULL:
            raise MemoryError()
    with nogil:
        parallel_for(columns_task, &p, sizes[0] * p.blocks * p.parts, n_threads)
        free(p.columns)
