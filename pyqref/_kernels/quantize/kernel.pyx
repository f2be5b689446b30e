"""Quantize and dequantize."""

cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t
from pyqref._kernels._outputs cimport OF_FLOAT32, OF_INTEGERS, output_beside
from pyqref._kernels.axes cimport elements_per_channel, is_in_c_order, require_channels
from pyqref._kernels.quantize.chunks cimport Affine, doubles, each_strip
from pyqref._kernels.quantize.integers cimport run_per_channel, run_per_tensor
from pyqref._kernels.quantize.reals cimport dequantize_channels_task, run_dequantize
from pyqref._kernels.quantize.rows cimport dequantized_rows, quantized_rows


def quantize_per_tensor(
    x, out, float scale, float zero_point, int64_t quant_min, int64_t quant_max, int n_threads
):
    """Quantize float32 ``x`` into ``out`` of 1 or 4 bytes an element, or a new array of that dtype.

    Returns the result, or None if ``x`` or the dtype is another or ``x`` lies in no order that
    results lie in, nor row by row.
    """
    cdef cnp.ndarray q = output_beside(x, OF_FLOAT32, out, OF_INTEGERS, False)
    if q is not None:
        run_per_tensor(x, q, scale, zero_point, quant_min, quant_max, n_threads)
    elif isinstance(x, cnp.ndarray) and isinstance(out, cnp.dtype):
        return quantized_rows(x, out, scale, zero_point, quant_min, quant_max, n_threads)
    return q


def quantize_per_channel(
    x, out, scales, zero_points, int axis, int64_t quant_min, int64_t quant_max, int n_threads
):
    """Quantize ``x`` in C order, with a scale and a zero point for each index of an axis."""
    cdef cnp.ndarray q = None
    if is_in_c_order(x):
        q = output_beside(x, OF_FLOAT32, out, OF_INTEGERS, False)
    if q is not None:
        run_per_channel(x, q, scales, zero_points, axis, quant_min, quant_max, n_threads)
    return q


def dequantize_per_tensor(q, out, float scale, int64_t zero_point, int n_threads):
    """Dequantize ``q`` of 1 or 4 bytes an element into ``out`` of float32, or a new array.

    Returns the result, or None if ``q`` is of another type or lies in no order that results lie in,
    nor row by row.
    """
    cdef cnp.ndarray x = output_beside(q, OF_INTEGERS, out, OF_FLOAT32, False)
    if x is not None:
        run_dequantize(q, x, scale, zero_point, n_threads)
    elif isinstance(q, cnp.ndarray) and isinstance(out, cnp.dtype):
        return dequantized_rows(q, out, scale, zero_point, n_threads)
    return x


def dequantize_per_channel(q, out, scales, zero_points, int axis, int n_threads):
    """Dequantize ``q`` in C order, with a scale and a zero point for each index of an axis."""
    cdef Affine a
    cdef cnp.ndarray each_scale, each_zero_point
    cdef cnp.ndarray x = None
    if is_in_c_order(q):
        x = output_beside(q, OF_INTEGERS, out, OF_FLOAT32, False)
    if x is None:
        return None
    each_scale, each_zero_point = doubles(scales), doubles(zero_points)
    require_channels(q, axis, each_scale, each_zero_point)
    a.x = <float*> cnp.PyArray_DATA(x)
    a.q = <uint8_t*> cnp.PyArray_DATA(q)
    a.wide, a.is_signed = cnp.PyArray_ITEMSIZE(q) > 1, cnp.PyArray_TYPE(q) == cnp.NPY_INT8
    a.size, a.channels = cnp.PyArray_SIZE(q), cnp.PyArray_SIZE(each_scale)
    a.inner = elements_per_channel(q, axis)
    a.scales = <const double*> cnp.PyArray_DATA(each_scale)
    a.zero_points = <const double*> cnp.PyArray_DATA(each_zero_point)
    each_strip(&a, dequantize_channels_task, n_threads)
    return x
