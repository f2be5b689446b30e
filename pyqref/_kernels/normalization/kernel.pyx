"""Normalization of bytes."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t
from pyqref._kernels._outputs cimport (
    OF_BOOL, OF_BYTES, OF_INT8, OF_INT64, OF_UINT8, require_output, require_output_beside,
)
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.memory cimport buffer
from pyqref._kernels.normalization.order cimport BYTES_PER_THREAD, SIDE, Turn, transpose_task
from pyqref._kernels.normalization.moments cimport (
    TASK, WORK_PER_THREAD, Rows, channels_task, row_sums, row_task,
)
from pyqref._kernels.simd.partial cimport load_n_f32, store_n_f32
from pyqref._kernels.simd.primitives cimport *


def put_channels_first(cnp.ndarray x, cnp.ndarray out, int n_threads):
    """Bytes ``(batch, pixels, channels)`` to ``(batch, channels, pixels)``; 16 channels or more."""
    cdef Turn t
    cdef Py_ssize_t batch = cnp.PyArray_DIM(x, 0)
    cdef cnp.npy_intp[3] sizes = [batch, cnp.PyArray_DIM(x, 2), cnp.PyArray_DIM(x, 1)]
    require_output("out", out, OF_BYTES | OF_BOOL, 3, sizes)
    t.x, t.out = <const uint8_t*> cnp.PyArray_DATA(x), <uint8_t*> cnp.PyArray_DATA(out)
    t.pixels, t.channels = cnp.PyArray_DIM(x, 1), cnp.PyArray_DIM(x, 2)
    t.tasks_an_image = max(<Py_ssize_t> 1, t.channels // SIDE)
    n_threads = useful_threads(<double> cnp.PyArray_SIZE(x), BYTES_PER_THREAD, n_threads)
    with nogil:
        parallel_for(transpose_task, &t, batch * t.tasks_an_image, n_threads)


def layer_norm(
    cnp.ndarray x, bint is_signed, float scale, float eps, weight, bias, Py_ssize_t period,
    Py_ssize_t inner, float inverse_out, int32_t zero_point, int32_t lower, int32_t upper,
    cnp.ndarray out, int n_threads, sums=None, Py_ssize_t count=0,
):
    """Normalize each row of ``x (rows, n)``.

    ``weight`` and ``bias`` are ``(period, n / inner)`` or None. Where rows are parts of one that
    is longer, ``sums`` of its ``count`` integers and their squares are int64 ``(2,)``.
    """
    cdef Rows r
    cdef Py_ssize_t rows = cnp.PyArray_DIM(x, 0)
    require_output_beside("out", out, OF_INT8 if is_signed else OF_UINT8, x)
    r.x, r.out = <const uint8_t*> cnp.PyArray_DATA(x), <uint8_t*> cnp.PyArray_DATA(out)
    r.n, r.period, r.inner, r.is_signed = cnp.PyArray_DIM(x, 1), period, inner, is_signed
    r.scale, r.eps, r.inverse_out = scale, eps, inverse_out
    r.weight = r.bias = NULL
    r.sums, r.count = NULL, count
    if sums is not None:
        r.sums = <const int64_t*> cnp.PyArray_DATA(<cnp.ndarray> sums)
    if weight is not None:
        r.weight = <const float*> cnp.PyArray_DATA(weight)
    if bias is not None:
        r.bias = <const float*> cnp.PyArray_DATA(bias)
    r.zero_point = zero_point
    r.lower, r.upper = lower - zero_point, upper - zero_point
    n_threads = useful_threads(<double> cnp.PyArray_SIZE(x), WORK_PER_THREAD, n_threads)
    with nogil:
        parallel_for(row_task, &r, rows, n_threads)


def batch_norm(
    cnp.ndarray x, bint is_signed, float x_zero_point, cnp.ndarray alpha, cnp.ndarray beta,
    Py_ssize_t period, Py_ssize_t inner, int32_t zero_point, int32_t lower, int32_t upper,
    cnp.ndarray out, int n_threads,
):
    """Scale each row of ``x (rows, n)`` by ``alpha`` and ``beta``, both ``(period, n / inner)``.

    That is :func:`layer_norm` with the zero point for a mean and one for the deviations.
    """
    cdef Rows r
    require_output_beside("out", out, OF_INT8 if is_signed else OF_UINT8, x)
    r.x, r.out = <const uint8_t*> cnp.PyArray_DATA(x), <uint8_t*> cnp.PyArray_DATA(out)
    r.rows, r.n = cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 1)
    r.period, r.inner, r.is_signed = period, inner, is_signed
    r.scale, r.eps, r.inverse_out, r.sums = x_zero_point, 0, 1, NULL
    r.weight = <const float*> cnp.PyArray_DATA(alpha)
    r.bias = <const float*> cnp.PyArray_DATA(beta)
    r.count = max(TASK // max(r.n, <Py_ssize_t> 1), <Py_ssize_t> 1)
    r.zero_point = zero_point
    r.lower, r.upper = lower - zero_point, upper - zero_point
    n_threads = useful_threads(<double> cnp.PyArray_SIZE(x), WORK_PER_THREAD, n_threads)
    with nogil:
        parallel_for(channels_task, &r, (r.rows + r.count - 1) // r.count, n_threads)


def batch_norm_coefficients(
    cnp.ndarray mean, cnp.ndarray variance, cnp.ndarray weight, cnp.ndarray bias, float eps,
    double input_scale, double output_scale,
):
    """``alpha`` and ``beta`` of ``eq-batch-norm-coefficients``, as rows; all are contiguous."""
    cdef cnp.npy_intp[2] shape = [2, cnp.PyArray_SIZE(mean)]
    cdef cnp.ndarray result = buffer(2, shape, mean.descr)
    cdef float* alpha = <float*> cnp.PyArray_DATA(result)
    cdef float* beta = alpha + shape[1]
    cdef const float* m = <const float*> cnp.PyArray_DATA(mean)
    cdef const float* v = <const float*> cnp.PyArray_DATA(variance)
    cdef const float* w = <const float*> cnp.PyArray_DATA(weight)
    cdef const float* b = <const float*> cnp.PyArray_DATA(bias)
    cdef f64v scale = set_f64(input_scale)
    cdef f64v unit = set_f64(output_scale)
    cdef f32v slope, offset
    cdef Py_ssize_t c, n
    for c in range(0, shape[1], SIMD_LANES):
        n = min(shape[1] - c, <Py_ssize_t> SIMD_LANES)
        slope = sqrt_f32(add_f32(load_n_f32(v + c, n), set_f32(eps)))
        slope = mul_f32(div_f32(set_f32(1), slope), load_n_f32(w + c, n))
        offset = sub_f32(load_n_f32(b + c, n), mul_f32(load_n_f32(m + c, n), slope))
        store_n_f32(alpha + c, narrow_f64(div_f64(mul_f64(widen_f32(slope), scale), unit)), n)
        store_n_f32(beta + c, narrow_f64(div_f64(widen_f32(offset), unit)), n)
    return result


def add_sums(cnp.ndarray x, bint is_signed, cnp.ndarray sums):
    """Add the sums of contiguous bytes and of their squares to int64 ``sums (2,)``."""
    cdef int64_t* all_ = <int64_t*> cnp.PyArray_DATA(sums)
    cdef const uint8_t* first = <const uint8_t*> cnp.PyArray_DATA(x)
    cdef Py_ssize_t n = cnp.PyArray_SIZE(x)
    cdef int64_t total, squares
    cdef cnp.npy_intp two = 2
    require_output("sums", sums, OF_INT64, 1, &two)
    with nogil:
        row_sums(first, n, is_signed, &total, &squares)
        all_[0] += total
        all_[1] += squares
