# Windows of images as rows, and rows as images; matrices that are transposed.

cimport numpy as cnp
from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.stdint cimport uint8_t
from libc.string cimport memset
from pyqref._kernels._outputs cimport OF_FLOAT32, require_output
from pyqref._kernels._parallel cimport Task, is_ending, parallel_for, useful_threads

cdef extern from "simd/copy.h":
    void copy_bytes(uint8_t* target, const uint8_t* source, Py_ssize_t n) nogil

cdef extern from "simd/transpose.h":
    void transpose_f32(
        float* target, Py_ssize_t target_row, const float* source, Py_ssize_t source_row,
        Py_ssize_t rows, Py_ssize_t columns,
    ) nogil

cdef enum:
    WORK_PER_THREAD = 1 << 16   # elements that are worth a thread
    PRODUCTS_PER_THREAD = 1 << 20   # multiplications that are
    SCRATCH = 1 << 18           # floats of the lines of an image that scratch holds
    BLOCK = 64                  # rows of a matrix that a task transposes
    ASKS_AFTER = 1 << 12        # lines of windows, or numbers added, for which it asks is_ending


# --- Channels first and last --------------------------------------------------------------

cdef struct Matrices:
    const float* x
    float* out
    Py_ssize_t rows, columns, blocks


cdef inline void transpose_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some rows of one matrix."""
    cdef const Matrices* m = <const Matrices*> context
    cdef Py_ssize_t matrix = index // m.blocks
    cdef Py_ssize_t row = index % m.blocks * BLOCK
    cdef Py_ssize_t at = matrix * m.rows * m.columns
    transpose_f32(
        m.out + at + row, m.rows, m.x + at + row * m.columns, m.columns,
        min(<Py_ssize_t> BLOCK, m.rows - row), m.columns,
    )


# --- Windows ------------------------------------------------------------------------------

# Images (batch, channels, height, width) and rows (batch, *out_size, *kernel, channels).
cdef struct Windows:
    float* images
    float* rows
    Py_ssize_t channels, width, height
    Py_ssize_t kernel_y, kernel_x, stride_y, stride_x, dilation_y, dilation_x, before_y, before_x
    Py_ssize_t out_height, out_width
    Py_ssize_t strips, lines         # of one image: tasks, and lines that one of them goes over
    Py_ssize_t buffer                 # floats of the scratch of a thread
    float* scratch


cdef inline float* row_of(
    const Windows* w, Py_ssize_t image, Py_ssize_t y, Py_ssize_t x, Py_ssize_t ky, Py_ssize_t kx
) noexcept nogil:
    cdef Py_ssize_t pixel = (image * w.out_height + y) * w.out_width + x
    return w.rows + ((pixel * w.kernel_y + ky) * w.kernel_x + kx) * w.channels


cdef inline void copy_floats(float* target, const float* source, Py_ssize_t n) noexcept nogil:
    copy_bytes(<uint8_t*> target, <const uint8_t*> source, n * sizeof(float))


cdef inline void copy_window_line(
    const Windows* w, float* row, const float* line, Py_ssize_t start
) noexcept nogil:
    """The pixels of one line of a window that begins at ``start``; zeros beside the image."""
    cdef Py_ssize_t kx, x
    cdef Py_ssize_t n = w.channels
    if w.dilation_x == 1 and start >= 0 and start + w.kernel_x <= w.width:
        copy_floats(row, line + start * n, w.kernel_x * n)
        return
    for kx in range(w.kernel_x):
        x = start + kx * w.dilation_x
        if 0 <= x < w.width:
            copy_floats(row + kx * n, line + x * n, n)
        else:
            memset(row + kx * n, 0, n * sizeof(float))


cdef inline void unfold_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some lines of windows of one image."""
    cdef const Windows* w = <const Windows*> context
    cdef float* lines = w.scratch + thread * w.buffer
    cdef Py_ssize_t image = index // w.strips
    cdef Py_ssize_t first = index % w.strips * w.lines
    cdef Py_ssize_t last = min(first + w.lines, w.out_height)
    cdef Py_ssize_t top = max(first * w.stride_y - w.before_y, <Py_ssize_t> 0)
    cdef Py_ssize_t bottom = min(
        (last - 1) * w.stride_y - w.before_y + (w.kernel_y - 1) * w.dilation_y + 1, w.height
    )
    cdef Py_ssize_t plane = w.height * w.width
    cdef Py_ssize_t y, x, ky, line
    if bottom > top:
        transpose_f32(
            lines, w.channels, w.images + image * w.channels * plane + top * w.width, plane,
            w.channels, (bottom - top) * w.width,
        )
    for y in range(first, last):
        for ky in range(w.kernel_y):
            line = y * w.stride_y - w.before_y + ky * w.dilation_y
            for x in range(w.out_width):
                if x % ASKS_AFTER == ASKS_AFTER - 1 and is_ending():
                    return
                if 0 <= line < w.height:
                    copy_window_line(
                        w, row_of(w, image, y, x, ky, 0),
                        lines + (line - top) * w.width * w.channels,
                        x * w.stride_x - w.before_x,
                    )
                else:
                    memset(
                        row_of(w, image, y, x, ky, 0), 0,
                        w.kernel_x * w.channels * sizeof(float),
                    )


cdef inline void add_floats(float* target, const float* source, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        target[i] += source[i]


cdef inline void fold_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some lines of one image: what its windows hold is added place by place of the kernel."""
    cdef const Windows* w = <const Windows*> context
    cdef float* lines = w.scratch + thread * w.buffer
    cdef Py_ssize_t n = w.channels
    cdef Py_ssize_t image = index // w.strips
    cdef Py_ssize_t first = index % w.strips * w.lines
    cdef Py_ssize_t last = min(first + w.lines, w.height)
    cdef Py_ssize_t plane = w.height * w.width
    cdef Py_ssize_t line, ky, kx, y, x, at
    cdef float* target
    memset(lines, 0, (last - first) * w.width * n * sizeof(float))
    for line in range(first, last):
        target = lines + (line - first) * w.width * n
        for ky in range(w.kernel_y):
            y = line + w.before_y - ky * w.dilation_y
            if y < 0 or y % w.stride_y or y // w.stride_y >= w.out_height:
                continue
            y //= w.stride_y
            for kx in range(w.kernel_x):
                if w.out_width * n >= ASKS_AFTER and is_ending():
                    return
                at = kx * w.dilation_x - w.before_x
                for x in range(w.out_width):
                    if 0 <= at < w.width:
                        add_floats(target + at * n, row_of(w, image, y, x, ky, kx), n)
                    at += w.stride_x
    transpose_f32(
        w.images + image * n * plane + first * w.width, plane, lines, n,
        (last - first) * w.width, n,
    )


cdef inline void lay_out(Windows* w, cnp.ndarray images, tuple windows, tuple geometry, bint folds):
    """All but the rows and the scratch, of which each thread needs ``buffer`` floats."""
    cdef Py_ssize_t line, most, height, reach
    w.images = <float*> cnp.PyArray_DATA(images)
    w.channels = cnp.PyArray_DIM(images, 1)
    w.height, w.width = cnp.PyArray_DIM(images, 2), cnp.PyArray_DIM(images, 3)
    w.out_height, w.out_width, w.kernel_y, w.kernel_x = windows
    w.stride_y, w.stride_x, w.dilation_y, w.dilation_x, w.before_y, w.before_x = geometry
    # As many lines of the image as fit the scratch; windows need all that they reach over.
    line = w.width * w.channels
    most = max(SCRATCH // line, <Py_ssize_t> 1)
    reach = (w.kernel_y - 1) * w.dilation_y + 1
    height = w.height if folds else w.out_height
    w.lines = most if folds else max((most - reach) // w.stride_y + 1, <Py_ssize_t> 1)
    w.lines = min(w.lines, height)
    w.strips = (height + w.lines - 1) // w.lines
    w.buffer = line * (w.lines if folds else min((w.lines - 1) * w.stride_y + reach, w.height))


cdef inline int run_windows(
    cnp.ndarray images, cnp.ndarray rows, tuple geometry, bint folds, int n_threads
) except -1:
    cdef Windows w
    cdef Task task = fold_task if folds else unfold_task
    lay_out(&w, images, (<object> rows).shape[1:5], geometry, folds)
    w.rows = <float*> cnp.PyArray_DATA(rows)
    n_threads = useful_threads(<double> cnp.PyArray_SIZE(rows), WORK_PER_THREAD, n_threads)
    w.scratch = <float*> malloc(w.buffer * n_threads * sizeof(float))
    if w.scratch == NULL:
        raise MemoryError()
    with nogil:
        parallel_for(task, &w, cnp.PyArray_DIM(images, 0) * w.strips, n_threads)
        free(w.scratch)
    return 0


cdef inline int require_images(
    str name, cnp.ndarray images, Py_ssize_t batch, Py_ssize_t channels
) except -1:
    cdef cnp.npy_intp[4] sizes = [batch, channels, 1, 1]
    cdef int axis
    for axis in range(2, min(cnp.PyArray_NDIM(images), 4)):
        sizes[axis] = cnp.PyArray_DIM(images, axis)
    return require_output(name, images, OF_FLOAT32, 4, sizes)
