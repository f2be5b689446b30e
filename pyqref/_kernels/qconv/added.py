"""A convolution and the addition of a tensor, with one rounding for both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import empty
from pyqref._kernels.qgemm.finish import BYTES, Finish, fits, zero_points_or_none
from pyqref.numerics.affine import dequantize_per_tensor
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.fused_function import plus, requantize_function
from pyqref.numerics.requantize import accumulator_scale
from pyqref.numerics.types import FloatArray, IntArray

from .geometry import are_centred, in_space, part_of
from .pack import PackedConv
from .split_sums import reaches_far
from .structs import Addend, InputGrid
from .sums import conv_sums

__all__ = ["conv_add", "prepare_add"]

_UINT8 = np.dtype(np.uint8)


def conv_add(
    x: IntArray,
    x_grid: Grid,
    packed: PackedConv,
    weight_scales: FloatArray,
    weight_zero_points: IntArray,
    bias: FloatArray | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    added: IntArray,
    added_grid: Grid,
    out: Grid,
    relu: bool,
) -> IntArray:
    """Convolution and addition, requantized by ``numerics.fused_function.requantize_function``.

    Equation ``eq-requantize-function`` with the function :func:`~.fused_function.plus`.

    Parameters
    ----------
    x
        uint8 or int8 ``(B, C, *in)``.
    packed
        From :func:`pyqref._kernels.pack_conv2d`; knows the groups.
    weight_scales, weight_zero_points
        float64 and int64 ``(1,)`` or ``(N,)``.
    bias
        None or float32 ``(N,)``.
    stride, padding, dilation
        As of :func:`pyqref._kernels.conv2d`.
    added
        uint8 or int8 ``(B, N, *out)``.
    out
        Of the result, uint8; ``relu`` keeps sums from being negative.

    Returns
    -------
    uint8 ``(B, N, *out)``
        A view of memory in which the channels are last.
    """
    own = packed, weight_scales, weight_zero_points, bias, stride, padding, dilation
    return prepare_add(x, x_grid, *own, added, added_grid, out, relu)(x, added)


def prepare_add(
    x: IntArray,
    x_grid: Grid,
    packed: PackedConv,
    weight_scales: FloatArray,
    weight_zero_points: IntArray,
    bias: FloatArray | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    added: IntArray,
    added_grid: Grid,
    out: Grid,
    relu: bool,
) -> Callable[[Any, Any], Any]:
    """Make a function that convolves ``x`` and adds ``added``, or others of the same form.

    It holds the arrays that it is given, and runs the kernel that is in use now.
    """
    kernel = registry.twin("qconv")
    size, steps = added.shape[2:], (tuple(stride), tuple(padding), tuple(dilation))
    order = (0, added.ndim - 1, *range(1, added.ndim - 1))
    if kernel is None or not _is_product(packed, weight_zero_points):

        def run(x: IntArray, added: IntArray) -> IntArray:
            rows = _rows(added)
            result = empty(rows.shape, _UINT8)
            own = packed, weight_zero_points, *steps, size
            for at, sums in conv_sums(x, x_grid.zero_point, *own):
                real = dequantize_per_tensor(rows[at], added_grid.scale, added_grid.zero_point)
                result[at] = requantize_function(
                    sums,
                    x_grid.scale,
                    weight_scales[at[-1]] if weight_scales.size > 1 else weight_scales,
                    None if bias is None else bias[at[-1]],
                    plus(real, relu),
                    out.scale,
                    out.zero_point,
                )
            return result.transpose(order)

        return run
    zero_points = zero_points_or_none(weight_zero_points)
    geometry = in_space(x.shape[2:], packed.shape[2:], *steps, size, size)
    finish = Finish(
        zero_points,
        np.atleast_1d(accumulator_scale(x_grid.scale, weight_scales)),
        None if bias is None else np.ascontiguousarray(bias, np.float32),
        None,
        1.0,
        out.zero_point,
        out.quant_min,
        out.quant_max,
        BYTES,
    )
    shift = 0 if added.dtype == _UINT8 else 128
    convolution = kernel.Convolution(
        (part_of(packed, geometry, centred=are_centred(zero_points)),),
        InputGrid(x.shape[1], x.dtype == np.int8, x_grid.zero_point),
        finish,
        Addend(added_grid.scale, added_grid.zero_point + shift, out.scale, relu),
    )
    return partial(_run, convolution, order, shift)


def _rows(added: IntArray) -> IntArray:
    """Return the array with its channels last."""
    return added.transpose(0, *range(2, added.ndim), 1)


def _run(
    convolution: Any, order: tuple[int, ...], shift: int, x: IntArray, added: IntArray
) -> IntArray:
    rows = _rows(added)
    result = empty(rows.shape, _UINT8)
    # What is added lies where the results go; signed bytes as unsigned ones, 128 higher.
    np.copyto(result, rows.view(_UINT8))
    if shift:
        np.bitwise_xor(result, shift, out=result)
    convolution.run(x, result, threads.limit)
    return result.transpose(order)


def _is_product(packed: PackedConv, weight_zero_points: IntArray) -> bool:
    """Return True if it is one matrix product a group, whose sums 32 bits hold."""
    if packed.is_depthwise or packed.in_strips or reaches_far(packed):
        return False
    return fits(packed.depth, None, weight_zero_points)
