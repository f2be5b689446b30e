"""Convolutions of floats, and the largest of windows."""

cimport numpy as cnp
from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.stdint cimport uint8_t
from libc.string cimport memset
from pyqref._kernels._outputs cimport OF_FLOAT32, OF_UINT8, require_output
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.windows.across cimport across_task
from pyqref._kernels.windows.across_gradient cimport across_gradient_task
from pyqref._kernels.windows.convolution cimport convolution_task
from pyqref._kernels.windows.convolution_boxes cimport (
    BOX, OUTPUT_ROWS, POSITIONS, SUMS, Convolution, Place, choose_boxes, fill_axes, fill_offsets,
    fill_planes, floats_of_box,
)
from pyqref._kernels.windows.convolution_columns cimport convolve_columns, suits_columns
from pyqref._kernels.windows.convolution_weights cimport (
    FEWEST_TERMS, RESULTS, Span, WeightGradient, are_met_in_place, weight_gradient_task,
)
from pyqref._kernels.windows.depthwise cimport (
    Depthwise, depthwise_task, depthwise_weight_task, run_depthwise,
)
from pyqref._kernels.windows.gathering cimport PRODUCTS_PER_THREAD
from pyqref._kernels.windows.largest cimport Maxima, gradient_task, largest_task, run_maxima


def largest(
    cnp.ndarray x, cnp.ndarray out, cnp.ndarray winner, tuple kernel, tuple geometry,
    int n_threads,
):
    """Fill ``out`` and ``winner``, uint8, from float32 ``x``.

    All are ``(planes, *size)``, or ``(images, *size, channels)`` with two spatial axes.
    """
    cdef Maxima m
    cdef cnp.npy_intp[4] sizes = [cnp.PyArray_DIM(x, 0), 1, 1, 1]
    cdef int ndim = 4 if cnp.PyArray_NDIM(x) == 4 else 3
    fill_sizes(sizes, winner)
    if ndim == 4:
        sizes[3] = cnp.PyArray_DIM(x, 3)
    require_output("winner", winner, OF_UINT8, ndim, sizes)
    require_output("out", out, OF_FLOAT32, ndim, sizes)
    m.x, m.out = <const float*> cnp.PyArray_DATA(x), <float*> cnp.PyArray_DATA(out)
    m.winner, m.divisors = <uint8_t*> cnp.PyArray_DATA(winner), NULL
    if ndim == 4:
        run_maxima(
            &m, x, winner, kernel, geometry, across_task, sizes[0] * sizes[1], n_threads
        )
    else:
        run_maxima(&m, x, winner, kernel, geometry, largest_task, sizes[0], n_threads)


def means(
    cnp.ndarray x, cnp.ndarray divisors, cnp.ndarray out, tuple kernel, tuple geometry,
    int n_threads,
):
    """Fill ``out`` with the sums of windows of ``x``, both ``(images, *size, channels)``, divided.

    ``divisors``: one, or one for each window of an image.
    """
    cdef Maxima m
    cdef cnp.npy_intp[4] sizes = [cnp.PyArray_DIM(x, 0), 1, 1, cnp.PyArray_DIM(x, 3)]
    fill_sizes(sizes, out)
    require_output("out", out, OF_FLOAT32, 4, sizes)
    m.x, m.out = <const float*> cnp.PyArray_DATA(x), <float*> cnp.PyArray_DATA(out)
    m.divisors = <const float*> cnp.PyArray_DATA(divisors)
    m.has_one_divisor = cnp.PyArray_SIZE(divisors) == 1
    run_maxima(&m, x, out, kernel, geometry, across_task, sizes[0] * sizes[1], n_threads)


def gradient_of_largest(
    cnp.ndarray grad, cnp.ndarray winner, cnp.ndarray out, tuple kernel, tuple geometry,
    int n_threads,
):
    """Add the gradient of each window to its winner in ``out``, which is zero."""
    cdef Maxima m
    cdef cnp.npy_intp[4] sizes = [cnp.PyArray_DIM(grad, 0), 1, 1, 1]
    fill_sizes(sizes, out)
    require_output("out", out, OF_FLOAT32, 3, sizes)
    m.grad, m.out = <const float*> cnp.PyArray_DATA(grad), <float*> cnp.PyArray_DATA(out)
    m.winner = <uint8_t*> cnp.PyArray_DATA(winner)
    run_maxima(&m, out, winner, kernel, geometry, gradient_task, sizes[0], n_threads)


def gradient_across(
    cnp.ndarray grad, winner, cnp.ndarray out, tuple kernel, tuple geometry, int n_threads
):
    """Fill ``out``: of each window to its winner, or where that is None to all that it holds.

    All are ``(images, *size, channels)``.
    """
    cdef Maxima m
    cdef cnp.npy_intp[4] sizes = [cnp.PyArray_DIM(grad, 0), 1, 1, cnp.PyArray_DIM(grad, 3)]
    fill_sizes(sizes, out)
    require_output("out", out, OF_FLOAT32, 4, sizes)
    m.grad, m.out = <const float*> cnp.PyArray_DATA(grad), <float*> cnp.PyArray_DATA(out)
    m.winner = NULL if winner is None else <uint8_t*> cnp.PyArray_DATA(<cnp.ndarray> winner)
    run_maxima(
        &m, out, grad, kernel, geometry, across_gradient_task, sizes[0] * sizes[1], n_threads
    )


cdef void fill_sizes(cnp.npy_intp* sizes, cnp.ndarray x):
    """Spatial sizes of an array that may lack axes."""
    cdef int axis
    for axis in range(1, min(cnp.PyArray_NDIM(x), 3)):
        sizes[axis] = cnp.PyArray_DIM(x, axis)


def depthwise(
    cnp.ndarray x, cnp.ndarray weight, cnp.ndarray bias, cnp.ndarray out, tuple sizes,
    tuple geometry, tuple places, int n_threads
):
    """Fill ``out (batch, channels, *size)``, or some of it, from ``x`` and ``weight``.

    All are float32, contiguous and not empty; ``weight`` is ``(channels, taps)``, and ``bias`` has
    one number a channel, or is None. ``sizes``: height and width of x, of the results and of the
    kernel; ``geometry``: strides, dilations and how much is padded before, each along height and
    width. ``places``: along height, then width, the first place of the results in ``out``, how far
    apart they are, and how many places there are.
    """
    cdef Depthwise d
    cdef cnp.npy_intp[4] shape = [cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 1), 0, 0]
    memset(&d, 0, sizeof(Depthwise))
    d.first_y, d.step_y, d.places_y, d.first_x, d.step_x, d.places_x = places
    shape[2], shape[3] = d.places_y, d.places_x
    require_output("out", out, OF_FLOAT32, 4, shape)
    d.x, d.weight = <const float*> cnp.PyArray_DATA(x), <const float*> cnp.PyArray_DATA(weight)
    if bias is not None:
        d.bias = <const float*> cnp.PyArray_DATA(bias)
    d.out, d.channels = <float*> cnp.PyArray_DATA(out), shape[1]
    run_depthwise(&d, sizes, geometry, depthwise_task, shape[0] * shape[1], n_threads)


def depthwise_weight_gradient(
    cnp.ndarray grad, cnp.ndarray x, cnp.ndarray out, tuple sizes, tuple geometry, int n_threads
):
    """Fill ``out (batch, channels, taps)``, the gradient of the filters from each image."""
    cdef Depthwise d
    cdef Py_ssize_t taps = <Py_ssize_t> sizes[4] * <Py_ssize_t> sizes[5]
    cdef cnp.npy_intp[3] shape = [cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 1), taps]
    require_output("out", out, OF_FLOAT32, 3, shape)
    memset(&d, 0, sizeof(Depthwise))
    d.grad, d.x = <const float*> cnp.PyArray_DATA(grad), <const float*> cnp.PyArray_DATA(x)
    d.out, d.channels = <float*> cnp.PyArray_DATA(out), shape[1]
    run_depthwise(&d, sizes, geometry, depthwise_weight_task, shape[0] * shape[1], n_threads)


def convolve(
    cnp.ndarray x, cnp.ndarray weight, cnp.ndarray bias, cnp.ndarray out, tuple axes,
    tuple beside, tuple order, Py_ssize_t groups, int n_threads
):
    """Fill ``out (N, outputs, *places)``, or some of it, from ``x (N, channels, *size)``.

    All are float32, contiguous and not empty, with three spatial axes; ``weight`` is
    ``(outputs, channels / groups, taps)``, and ``bias (outputs,)`` or None. ``axes`` has for each
    axis the number of windows, their size, stride, dilation and how much is padded before, and of
    the results the first place along this axis, how far apart they are, and how many places the
    axis has. Results of as many outputs as ``beside`` names for each axis lie beside each other:
    those of taps without overlap. Where ``order`` is given, ``weight`` is
    ``(channels, outputs / groups, all taps)``, of which these are used in this order.
    """
    cdef Convolution p
    cdef Py_ssize_t[3] side_by_side = beside
    cdef Py_ssize_t images = cnp.PyArray_DIM(x, 0)
    cdef Py_ssize_t all_taps = cnp.PyArray_DIM(weight, 2)
    cdef cnp.npy_intp[5] shape = [images, 0, 1, 1, 1]
    cdef Py_ssize_t axis, tasks, terms, k
    memset(&p, 0, sizeof(Convolution))
    fill_axes(&p, x, axes)
    p.groups, p.channels = groups, cnp.PyArray_DIM(x, 1) // groups
    p.outputs, p.taps = cnp.PyArray_DIM(weight, 0) // groups, all_taps
    p.weight_row = p.channels * all_taps
    if order is not None:
        p.outputs, p.taps = cnp.PyArray_DIM(weight, 1), len(order)
        p.weight_row = all_taps
    p.weight_group = p.outputs * p.channels * all_taps
    shape[1] = groups * p.outputs // (side_by_side[0] * side_by_side[1] * side_by_side[2])
    for axis in range(3):
        shape[2 + axis] = p.axes[axis].out_places
    require_output("out", out, OF_FLOAT32, 5, shape)
    p.out_deep = shape[3] * shape[4]
    if shape[2] == cnp.PyArray_DIM(x, 2) == p.axes[0].kernel == 1:
        p.x_deep, p.out_deep = cnp.PyArray_DIM(x, 1) * p.x_channel, shape[1] * p.out_deep
        p.axes[0].size = p.axes[0].out_size = images
        images = 1
    p.x, p.weight = <const float*> cnp.PyArray_DATA(x), <const float*> cnp.PyArray_DATA(weight)
    p.out = <float*> cnp.PyArray_DATA(out)
    if bias is not None:
        p.bias = <const float*> cnp.PyArray_DATA(bias)
    tasks = images * groups
    terms = p.channels * p.taps
    n_threads = useful_threads(
        <double> tasks * p.outputs * terms
        * p.axes[0].out_size * p.axes[1].out_size * p.axes[2].out_size,
        PRODUCTS_PER_THREAD, n_threads,
    )
    p.offsets = <Py_ssize_t*> malloc((2 * terms + p.outputs) * sizeof(Py_ssize_t))
    if p.offsets == NULL:
        raise MemoryError()
    p.weights, p.planes = p.offsets + terms, p.offsets + 2 * terms
    for k in range(terms):
        p.weights[k] = k
    if order is not None:
        for k in range(p.taps):
            p.weights[k] = order[k]
        for k in range(p.taps, terms):
            p.weights[k] = p.weights[k - p.taps] + p.outputs * all_taps
    fill_planes(&p, side_by_side)
    choose_boxes(&p)
    if suits_columns(&p):
        if convolve_columns(&p, images, n_threads):
            free(p.offsets)
            return
        choose_boxes(&p)
    tasks *= p.axes[0].boxes * p.axes[1].boxes * p.axes[2].boxes
    # Tasks that are fewer than make threads equally busy are cut once more.
    p.shares = 1 if n_threads == 1 or tasks >= 4 * n_threads else 4 * n_threads // tasks
    p.share = max((p.outputs + p.shares - 1) // p.shares, min(p.outputs, <Py_ssize_t> OUTPUT_ROWS))
    p.shares = (p.outputs + p.share - 1) // p.share
    p.some = max(SUMS // (p.places * POSITIONS), <Py_ssize_t> OUTPUT_ROWS)
    p.some = min(p.share, p.some // OUTPUT_ROWS * OUTPUT_ROWS)
    p.buffer = p.copied + p.some * p.places * POSITIONS + 16
    p.tiles = <Place*> malloc(p.places * n_threads * sizeof(Place))
    p.scratch = <float*> malloc(p.buffer * n_threads * sizeof(float))
    if p.tiles == NULL or p.scratch == NULL:
        free(p.offsets)
        free(p.tiles)
        free(p.scratch)
        raise MemoryError()
    with nogil:
        fill_offsets(&p)
        parallel_for(convolution_task, &p, tasks * p.shares, n_threads)
        free(p.offsets)
        free(p.tiles)
        free(p.scratch)


def convolve_weights(
    cnp.ndarray grad, cnp.ndarray x, cnp.ndarray out, tuple axes, Py_ssize_t groups, int n_threads
):
    """Fill ``out (outputs, channels / groups, taps)``, the gradient of the filters.

    ``grad (N, outputs, *count)`` and ``x (N, channels, *size)`` are float32, contiguous and not
    empty, with three spatial axes; ``axes`` is as for :func:`convolve`.
    """
    cdef WeightGradient w
    cdef Convolution* p = &w.layer
    cdef cnp.npy_intp[3] shape = [
        cnp.PyArray_DIM(grad, 1), cnp.PyArray_DIM(x, 1) // groups, 1
    ]
    cdef Py_ssize_t axis
    memset(&w, 0, sizeof(WeightGradient))
    fill_axes(p, x, axes)
    w.length = 1
    for axis in range(3):
        shape[2] *= p.axes[axis].kernel
        p.axes[axis].box = p.axes[axis].out_size
        w.length *= p.axes[axis].out_size
    require_output("out", out, OF_FLOAT32, 3, shape)
    p.x, w.grad = <const float*> cnp.PyArray_DATA(x), <const float*> cnp.PyArray_DATA(grad)
    w.out = <float*> cnp.PyArray_DATA(out)
    w.images, w.all_channels = cnp.PyArray_DIM(x, 0), shape[1]
    p.groups, p.outputs, p.taps = groups, shape[0] // groups, shape[2]
    w.panels = (p.outputs + POSITIONS - 1) // POSITIONS
    n_threads = useful_threads(
        <double> w.images * w.length * shape[0] * shape[1] * shape[2], PRODUCTS_PER_THREAD,
        n_threads,
    )
    w.in_place = are_met_in_place(&w)
    run_weight_gradient(&w, n_threads)
    if p.met_infinity:
        w.in_place = False
        run_weight_gradient(&w, n_threads)


cdef int run_weight_gradient(WeightGradient* w, int n_threads) except -1:
    cdef Convolution* p = &w.layer
    cdef Py_ssize_t most
    # As many channels as are copied at a time, but so few that every thread has some.
    p.channels = 1
    most = BOX // (floats_of_box(p, True) if not w.in_place else p.x_channel)
    if n_threads > 1 and p.groups < 2 * n_threads:
        most = min(most, w.all_channels * p.groups // (2 * n_threads))
    p.channels = min(
        max(most, (FEWEST_TERMS + p.taps - 1) // p.taps, <Py_ssize_t> 1), w.all_channels
    )
    w.chunks = (w.all_channels + p.channels - 1) // p.channels
    p.channels = (w.all_channels + w.chunks - 1) // w.chunks
    w.step, p.copied = 1, floats_of_box(p, True) // 16 * 16 + 16
    if w.in_place:
        w.step, p.copied = p.taps, 0
        p.plane, p.pitch, p.channel = p.x_deep, p.axes[2].size, p.x_channel
    # A panel, the sums, and then the spans, of which there are at most as many as results.
    p.buffer = (
        p.copied + RESULTS * POSITIONS + w.panels * p.channels * p.taps * POSITIONS
        + RESULTS * sizeof(Span) // sizeof(float) + 16
    )
    p.offsets = <Py_ssize_t*> malloc(p.channels * p.taps * sizeof(Py_ssize_t))
    p.scratch = <float*> malloc(p.buffer * n_threads * sizeof(float))
    if p.offsets == NULL or p.scratch == NULL:
        free(p.offsets)
        free(p.scratch)
        raise MemoryError()
    with nogil:
        fill_offsets(p)
        parallel_for(weight_gradient_task, w, p.groups * w.chunks, n_threads)
        free(p.offsets)
        free(p.scratch)
    return 0
