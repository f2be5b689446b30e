"""Float images channel by channel."""

cimport numpy as cnp
from libc.string cimport memset
from pyqref._kernels._outputs cimport OF_FLOAT32, require_output, require_output_beside
from pyqref._kernels._parallel cimport Task, parallel_for, useful_threads
from pyqref._kernels.channels.constants cimport WORK_PER_THREAD
from pyqref._kernels.channels.groups cimport Normalization, add_scaling, run_groups
from pyqref._kernels.channels.lines cimport (
    NUMBERS_A_TASK, SPREAD, STRIP, NormRows, columns_task, floats_of, rows_of, run_rows,
    total_across_task, total_columns_task,
)
from pyqref._kernels.channels.scales cimport (
    CENTER, DIVIDE, GRADIENT, MULTIPLY, SHIFT, Scaling, run_scaling,
)
from pyqref._kernels.channels.sums cimport PRODUCT, SQUARE, Sums, run_sums


def moments_of_channels(cnp.ndarray x, cnp.ndarray means, cnp.ndarray variances, int n_threads):
    """Mean and variance of each channel of ``x``."""
    cdef Sums s
    s.b, s.apart = NULL, False
    s.term, s.count = SQUARE, <double> (cnp.PyArray_DIM(x, 0) * cnp.PyArray_DIM(x, 2))
    run_sums(&s, x, "means", means, "variances", variances, n_threads)


def add_up(
    cnp.ndarray a, cnp.ndarray b, bint apart, cnp.ndarray centers, cnp.ndarray sums,
    cnp.ndarray products, int n_threads,
):
    """Sums of ``a``, and of ``a * (b - center)``, over each channel.

    Where their channels are last in memory, images may be added up apart.
    """
    cdef Sums s
    s.b, s.centers = <const float*> cnp.PyArray_DATA(b), <const float*> cnp.PyArray_DATA(centers)
    s.term, s.count, s.apart = PRODUCT, 1, apart
    run_sums(&s, a, "sums", sums, "products", products, n_threads)


def scale(
    cnp.ndarray x, bint across, cnp.ndarray scales, shifts, centers, cnp.ndarray out, bint divides,
    int n_threads,
):
    """``x * scale``, plus ``shift`` where there are any, of ``x - center``; or ``x / scale``.

    ``x`` is ``(images, channels, length)``, or where it is across ``(images, length, channels)``.
    """
    cdef Scaling s
    s.scales, s.rule = <const float*> cnp.PyArray_DATA(scales), DIVIDE if divides else MULTIPLY
    s.parameters = cnp.PyArray_SIZE(scales)
    if shifts is not None:
        s.shifts, s.rule = <const float*> cnp.PyArray_DATA(shifts), SHIFT
    if centers is not None:
        s.centers, s.rule = <const float*> cnp.PyArray_DATA(centers), CENTER
    run_scaling(&s, x, across, out, n_threads)


def gradient(
    cnp.ndarray grad, cnp.ndarray x, bint across, cnp.ndarray parameters, cnp.ndarray out,
    int n_threads,
):
    """``grad * scale - (x - center) * factor - shift``; ``parameters`` are these, kind by kind."""
    cdef Scaling s
    s.y, s.rule = <const float*> cnp.PyArray_DATA(x), GRADIENT
    s.parameters = cnp.PyArray_SIZE(parameters) // 4
    s.scales = <const float*> cnp.PyArray_DATA(parameters)
    s.centers = s.scales + s.parameters
    s.factors = s.centers + s.parameters
    s.shifts = s.factors + s.parameters
    run_scaling(&s, grad, across, out, n_threads)


def totals_of_rows(cnp.ndarray x, double count, cnp.ndarray out, int n_threads):
    """The sum of each row, over a number; a row is what lies behind the axes of ``out``."""
    cdef NormRows r
    cdef int axis
    cdef int kept = min(cnp.PyArray_NDIM(out), cnp.PyArray_NDIM(x))
    require_output("out", out, OF_FLOAT32, kept, cnp.PyArray_DIMS(x))
    memset(&r, 0, sizeof(r))
    r.x, r.out, r.count = floats_of(x), floats_of(out), count
    r.rows, r.n = cnp.PyArray_SIZE(out), 1
    for axis in range(kept, cnp.PyArray_NDIM(x)):
        r.n *= cnp.PyArray_DIM(x, axis)
    r.rows_a_task = max(NUMBERS_A_TASK // max(r.n, <Py_ssize_t> 1), <Py_ssize_t> 1)
    with nogil:
        run_rows(&r, n_threads)


def totals_of_columns(cnp.ndarray x, cnp.ndarray out, int n_threads):
    """The sums of ``x`` ``(groups, n, columns)`` over n."""
    run_columns(x, 1, out, total_columns_task, n_threads)


def totals_across(cnp.ndarray x, double count, cnp.ndarray out, int n_threads):
    """The sums of ``x`` ``(images, pixels, channels)`` over the pixels, over a number."""
    run_columns(x, count, out, total_across_task, n_threads)


cdef void run_columns(
    cnp.ndarray x, double count, cnp.ndarray out, Task task, int n_threads
) except *:
    cdef NormRows r
    cdef Py_ssize_t groups = cnp.PyArray_DIM(x, 0)
    cdef cnp.npy_intp[2] sizes
    sizes[0], sizes[1] = groups, cnp.PyArray_DIM(x, 2)
    require_output("out", out, OF_FLOAT32, 2, sizes)
    memset(&r, 0, sizeof(r))
    r.x, r.out, r.count = floats_of(x), floats_of(out), count
    r.rows, r.n = cnp.PyArray_DIM(x, 1), cnp.PyArray_DIM(x, 2)
    n_threads = useful_threads(<double> groups * r.rows * r.n, WORK_PER_THREAD, n_threads)
    with nogil:
        parallel_for(task, &r, groups * ((r.n + SPREAD - 1) // SPREAD), n_threads)


def moments_of_rows(cnp.ndarray x, cnp.ndarray means, cnp.ndarray variances, int n_threads):
    """Mean and variance of each row."""
    cdef NormRows r = rows_of(x, None, means, variances, None, None)
    r.has_mean = True
    with nogil:
        run_rows(&r, n_threads)


def moments_of_groups(
    cnp.ndarray x, bint across, Py_ssize_t groups, cnp.ndarray means, cnp.ndarray variances,
    int n_threads,
):
    """Mean and variance of each group of channels of each image of ``x``, as for :func:`scale`."""
    cdef Normalization n
    memset(&n, 0, sizeof(n))
    run_groups(&n, x, across, groups, means, variances, n_threads)


def normalize_groups(
    cnp.ndarray x, bint across, Py_ssize_t groups, weight, bias, double eps,
    cnp.ndarray means, cnp.ndarray variances, cnp.ndarray parameters, cnp.ndarray out,
    int n_threads,
):
    """Moments of groups, and ``x`` less the means, over the roots; times weight, plus bias.

    ``parameters (4, images, channels)``: what is taken from each channel, its factor without and
    with its weight, and what is added.
    """
    cdef Normalization n
    memset(&n, 0, sizeof(n))
    n.weight, n.bias, n.eps = floats_of(weight), floats_of(bias), eps
    add_scaling(&n, x, across, parameters, out)
    run_groups(&n, x, across, groups, means, variances, n_threads)


def normalize_rows(
    cnp.ndarray x, weight, bias, double eps, bint has_mean, cnp.ndarray out, cnp.ndarray centers,
    cnp.ndarray factors, int n_threads,
):
    """Rows less their means, if they have any, over what remains; times weight, plus bias."""
    cdef NormRows r = rows_of(x, None, centers, factors, out, weight)
    require_output_beside("out", out, OF_FLOAT32, x)
    r.bias, r.eps, r.has_mean = floats_of(bias), eps, has_mean
    with nogil:
        run_rows(&r, n_threads)


def gradient_of_rows(
    cnp.ndarray grad, cnp.ndarray x, weight, bint has_mean, cnp.ndarray centers,
    cnp.ndarray factors, cnp.ndarray out, int n_threads,
):
    """The gradient of rows that were normalized so."""
    cdef NormRows r = rows_of(x, grad, centers, factors, out, weight)
    require_output_beside("out", out, OF_FLOAT32, x)
    r.has_mean = has_mean
    with nogil:
        run_rows(&r, n_threads)


def gradient_of_columns(
    cnp.ndarray grad, cnp.ndarray x, cnp.ndarray centers, cnp.ndarray factors,
    cnp.ndarray of_weight, cnp.ndarray of_bias, int n_threads,
):
    """The gradients of the weight and of the bias."""
    cdef NormRows r = rows_of(x, grad, centers, factors, of_weight, None)
    require_output("of_weight", of_weight, OF_FLOAT32, 1, cnp.PyArray_DIMS(x) + 1)
    require_output("of_bias", of_bias, OF_FLOAT32, 1, cnp.PyArray_DIMS(x) + 1)
    r.more = floats_of(of_bias)
    n_threads = useful_threads(<double> r.rows * r.n, WORK_PER_THREAD, n_threads)
    with nogil:
        parallel_for(columns_task, &r, (r.n + STRIP - 1) // STRIP, n_threads)
