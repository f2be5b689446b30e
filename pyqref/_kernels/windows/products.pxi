# Products of matrices with windows as rows, some images at a time, from laying out to folding
# back: threads that share the images never wait for Python's lock in between.

include "../../_insides/matmul_loop.pxi"

cdef enum:
    LONGEST_PRODUCT = 1 << 29   # multiplications at a time: what takes some 20 milliseconds
    HUGE_PAGE = 1 << 19         # floats that the system clears when the first is written
    MOST_CLEARED = 1 << 24      # floats that it may have to clear for a product


# A matrix, and how many floats from a row to the next and from a column to the next.
cdef struct Matrix:
    float* at
    Py_ssize_t row, column


cdef inline Matrix matrix_of(float* at, Py_ssize_t row, Py_ssize_t column) noexcept nogil:
    cdef Matrix m
    m.at, m.row, m.column = at, row, column
    return m


cdef void multiply_matrices(
    Matrix a, Matrix b, float* out, Py_ssize_t rows, Py_ssize_t depth, Py_ssize_t columns,
    Py_ssize_t out_row
) noexcept nogil:
    """``out = a @ b``, with rows ``out_row`` apart; some at a time, so that Ctrl-C is noticed."""
    cdef Py_ssize_t most = max(LONGEST_PRODUCT // (depth * columns) // 16 * 16, <Py_ssize_t> 128)
    cdef Py_ssize_t cleared = MOST_CLEARED // min(out_row, <Py_ssize_t> HUGE_PAGE) // 16 * 16
    cdef Py_ssize_t count
    most = min(most, max(cleared, <Py_ssize_t> 64))
    while rows > 0:
        count = min(rows, most)
        multiply_rows(a, b, out, count, depth, columns, out_row)
        rows -= count
        if rows > 0 and is_ending():
            return
        a.at += count * a.row
        out += count * out_row


cdef void multiply_rows(
    Matrix a, Matrix b, float* out, Py_ssize_t rows, Py_ssize_t depth, Py_ssize_t columns,
    Py_ssize_t out_row
) noexcept nogil:
    cdef void* operands[3]
    cdef cnp.npy_intp[4] sizes = [1, rows, depth, columns]
    cdef cnp.npy_intp[9] steps = [0, 0, 0, a.row, a.column, b.row, b.column, out_row, 1]
    cdef int i
    operands[0], operands[1], operands[2] = a.at, b.at, out
    for i in range(3, 9):
        steps[i] *= sizeof(float)
    matmul_loop(<char**> operands, sizes, steps, matmul_data)


# ``matrix (N * L, outputs)`` belongs to the windows of N images; filters are (outputs, depth).
# A task has ``step`` images. Pointers are NULL where nothing is wanted.
cdef struct Products:
    Windows unfolds, folds
    float* matrix
    float* filters
    float* sums
    float* rows                     # windows of a task as rows, for each thread
    Py_ssize_t images, step, length, outputs, depth


cdef void run_block(
    const Windows* windows, Task task, Py_ssize_t first, Py_ssize_t count, float* rows, int thread
) noexcept nogil:
    """Unfold some images to ``rows``, or fold those."""
    cdef Windows block = windows[0]
    cdef Py_ssize_t i
    block.images += first * block.channels * block.height * block.width
    block.rows = rows
    for i in range(count * block.strips):
        if i > 0 and is_ending():
            return
        task(&block, i, thread)


cdef void multiply_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef const Products* p = <const Products*> context
    cdef Py_ssize_t first = index * p.step
    cdef Py_ssize_t count = min(p.step, p.images - first)
    cdef float* rows = p.rows + thread * p.step * p.length * p.depth
    run_block(&p.unfolds, unfold_task, first, count, rows, thread)
    multiply_matrices(
        matrix_of(rows, p.depth, 1), matrix_of(p.filters, 1, p.depth),
        p.matrix + first * p.length * p.outputs, count * p.length, p.depth, p.outputs, p.outputs,
    )


cdef void gradients_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    cdef const Products* p = <const Products*> context
    cdef Py_ssize_t first = index * p.step
    cdef Py_ssize_t count = min(p.step, p.images - first)
    cdef float* rows = p.rows + thread * p.step * p.length * p.depth
    cdef float* part = p.matrix + first * p.length * p.outputs
    if p.filters != NULL:
        multiply_matrices(
            matrix_of(part, p.outputs, 1), matrix_of(p.filters, p.depth, 1), rows,
            count * p.length, p.outputs, p.depth, p.depth,
        )
        run_block(&p.folds, fold_task, first, count, rows, thread)
    if p.sums != NULL:
        run_block(&p.unfolds, unfold_task, first, count, rows, thread)
        multiply_matrices(
            matrix_of(part, 1, p.outputs), matrix_of(rows, p.depth, 1),
            p.sums + index * p.outputs * p.depth, p.outputs, count * p.length, p.depth,
            p.depth,
        )


cdef void run_products(
    Products* p, cnp.ndarray folded, cnp.ndarray images, tuple windows, tuple geometry, Task task,
    Py_ssize_t step, int n_threads
):
    cdef cnp.ndarray given = folded if images is None else images
    cdef Py_ssize_t buffer, rows
    p.images, p.step = cnp.PyArray_DIM(given, 0), step
    if images is not None:
        lay_out(&p.unfolds, images, windows, geometry, False)
    if folded is not None:
        lay_out(&p.folds, folded, windows, geometry, True)
    p.length = <Py_ssize_t> windows[0] * <Py_ssize_t> windows[1]
    n_threads = useful_threads(
        <double> p.images * p.length * p.outputs * p.depth, PRODUCTS_PER_THREAD, n_threads
    )
    rows = step * p.length * p.depth
    buffer = max(p.unfolds.buffer, p.folds.buffer)
    p.rows = <float*> malloc((rows + buffer) * n_threads * sizeof(float))
    if p.rows == NULL:
        raise MemoryError()
    # One thread may fold while another unfolds: each has its scratch, whichever of both it does.
    p.unfolds.buffer = p.folds.buffer = buffer
    p.unfolds.scratch = p.folds.scratch = p.rows + rows * n_threads
    with nogil:
        parallel_for(task, p, (p.images + step - 1) // step, n_threads)
        free(p.rows)


def has_products():
    """Whether this NumPy shows how it multiplies matrices."""
    return matmul_loop != NULL


def multiply_windows(
    cnp.ndarray images, cnp.ndarray filters, cnp.ndarray out, tuple windows, tuple geometry,
    Py_ssize_t step, int n_threads
):
    """Fill ``out (N * L, outputs)`` with windows times ``filters (outputs, K * C)``, transposed.

    All are float32, contiguous and not empty. ``windows``: how many there are along height and
    width, and their size. ``geometry`` as for :func:`unfold_rows`; ``step`` images are a task.
    """
    cdef Products p
    cdef Py_ssize_t rows = cnp.PyArray_DIM(images, 0) * <Py_ssize_t> windows[0]
    require_rows(
        "out", out, OF_FLOAT32, rows * <Py_ssize_t> windows[1], cnp.PyArray_DIM(filters, 0)
    )
    memset(&p, 0, sizeof(Products))
    p.matrix, p.filters = <float*> cnp.PyArray_DATA(out), <float*> cnp.PyArray_DATA(filters)
    p.outputs, p.depth = cnp.PyArray_DIM(filters, 0), cnp.PyArray_DIM(filters, 1)
    run_products(&p, None, images, windows, geometry, multiply_task, step, n_threads)


def gradients_of_products(
    cnp.ndarray grad, cnp.ndarray filters, cnp.ndarray grad_images, cnp.ndarray images,
    cnp.ndarray sums, tuple windows, tuple geometry, Py_ssize_t step, int n_threads
):
    """Fill the gradient of the images, and for each task that of the filters; or one of both.

    ``grad`` is ``(N * L, outputs)``, ``sums`` ``(tasks, outputs, K * C)``. ``filters`` and
    ``grad_images``, or ``images`` and ``sums``, are None where theirs is not wanted.
    """
    cdef Products p
    cdef Py_ssize_t taps = <Py_ssize_t> windows[2] * <Py_ssize_t> windows[3]
    cdef Py_ssize_t batch = (
        cnp.PyArray_DIM(grad, 0) // (<Py_ssize_t> windows[0] * <Py_ssize_t> windows[1])
    )
    cdef cnp.npy_intp[3] sizes = [(batch + step - 1) // step, cnp.PyArray_DIM(grad, 1), 0]
    if grad_images is not None:
        require_images("grad_images", grad_images, batch, cnp.PyArray_DIM(filters, 1) // taps)
    if sums is not None:
        sizes[2] = taps * cnp.PyArray_DIM(images, 1)
        require_output("sums", sums, OF_FLOAT32, 3, sizes)
    memset(&p, 0, sizeof(Products))
    p.matrix = <float*> cnp.PyArray_DATA(grad)
    p.outputs = cnp.PyArray_DIM(grad, 1)
    if filters is not None:
        p.filters, p.depth = <float*> cnp.PyArray_DATA(filters), cnp.PyArray_DIM(filters, 1)
    if sums is not None:
        p.sums, p.depth = <float*> cnp.PyArray_DATA(sums), cnp.PyArray_DIM(sums, 2)
    run_products(&p, grad_images, images, windows, geometry, gradients_task, step, n_threads)
