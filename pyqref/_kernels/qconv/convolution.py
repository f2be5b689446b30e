"""Quantized convolution by the kernel in use. What no kernel covers goes to its twin in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from pyqref._kernels import lines, registry, threads
from pyqref._kernels.arrays import contiguous
from pyqref._kernels.qgemm.finish import bias_terms, fits, zero_points_or_none
from pyqref.numerics import convolution as reference
from pyqref.numerics.requantize import Requantization
from pyqref.numerics.types import IntArray

from .pack import PackedConv, pack_apart

__all__ = ["conv1d", "conv2d", "conv3d"]

#: For each number of dimensions, the order that puts the channels last, and the one back.
_ORDERS = {
    1: ((0, 2, 1), (0, 2, 1)),
    2: ((0, 2, 3, 1), (0, 3, 1, 2)),
    3: ((0, 2, 3, 4, 1), (0, 4, 1, 2, 3)),
}


@lru_cache(maxsize=1024)
def _geometry(
    size: tuple[int, ...],
    window: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The size of the output, and what a kernel walks by: six times depth, height and width."""
    unit, zero = (1,) * (3 - len(size)), (0,) * (3 - len(size))
    out_size = tuple(
        (i + 2 * p - d * (k - 1) - 1) // s + 1
        for i, p, d, k, s in zip(size, padding, dilation, window, stride, strict=True)
    )
    return out_size, (
        *(*unit, *size),
        *(*unit, *window),
        *(*unit, *stride),
        *(*zero, *padding),
        *(*unit, *dilation),
        *(*unit, *out_size),
    )


def _conv(
    x: IntArray,
    x_zero_point: int,
    packed: PackedConv,
    weight_zero_points: object,
    requant: Requantization,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> IntArray:
    kernel = registry.twin("qconv")
    if kernel is None or not fits(packed.depth, requant):
        return reference.quantized_conv(
            x,
            x_zero_point,
            packed.weight,
            weight_zero_points,
            requant,
            stride,
            padding,
            dilation,
            packed.groups,
        )
    zero_points = zero_points_or_none(weight_zero_points)
    dense = packed.groups == 1 and not packed.is_depthwise
    centred = dense or zero_points is None or not np.count_nonzero(zero_points)
    is_depthwise = packed.is_depthwise and centred
    if (packed.joined > 1 or packed.in_strips) and not centred:
        packed = pack_apart(packed)
    out_size, geometry = _geometry(
        x.shape[2:], packed.shape[2:], tuple(stride), tuple(padding), tuple(dilation)
    )
    last, first = _ORDERS[len(out_size)]
    channels_last = x.transpose(last)
    if not channels_last.flags.c_contiguous:
        # Seldom: between layers they are last in memory already.
        channels_last = lines.empty(channels_last.shape, x.dtype)
        kernel.put_channels_last(contiguous(x), channels_last, threads.get_num_threads())
    out = lines.empty((x.shape[0], *out_size, packed.shape[0]), requant.storage)
    bias, integer_bias = bias_terms(requant)
    kernel.conv(
        channels_last,
        x.dtype == np.int8,
        x_zero_point,
        geometry,
        packed.groups // packed.joined,
        packed.joined,
        is_depthwise,
        packed.in_strips,
        _as_groups(packed) if packed.is_depthwise and not centred else packed.panels,
        packed.sums,
        zero_points,
        requant.multiplier,
        bias,
        integer_bias,
        requant.bias_multiplier,
        requant.output_zero_point,
        requant.lower,
        requant.upper,
        out,
        threads.get_num_threads(),
    )
    return out.transpose(first)


def _as_groups(packed: PackedConv) -> IntArray:
    """Panels of a depthwise weight as of any grouped one, for weights with zero points."""
    quads, taps = -(-packed.depth // 4), packed.panels.reshape(packed.depth, -1)
    panels = np.zeros((packed.groups, quads, 16, 4), np.int8)
    padded = np.zeros((quads * 4, packed.groups), np.int8)
    padded[: packed.depth] = taps[:, : packed.groups]
    panels[:, :, 0, :] = padded.T.reshape(packed.groups, quads, 4)
    return panels.reshape(-1)


def conv2d(
    x: IntArray,
    x_zero_point: int,
    packed: PackedConv,
    weight_zero_points: object,
    requant: Requantization,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> IntArray:
    """As :func:`pyqref.numerics.convolution.quantized_conv`, on packed weights.

    Equations ``eq-conv-accumulator``, ``eq-requantize-bias`` and ``eq-requantize``.

    Parameters
    ----------
    x
        uint8 or int8 ``(B, C, H, W)``; fastest with the channels last in memory.
    x_zero_point
        Its zero point, which the padding holds too.
    packed
        From :func:`pyqref._kernels.pack_conv2d`; knows the groups.
    weight_zero_points
        A scalar, ``(1,)`` or ``(N,)``.
    requant
        From :func:`pyqref.numerics.requantize.requantization`.
    stride, padding, dilation
        Two numbers each.

    Returns
    -------
    ``(B, N, out_H, out_W)`` of the type ``requant.storage``: a view of memory in which
    the channels are last.
    """
    return _conv(x, x_zero_point, packed, weight_zero_points, requant, stride, padding, dilation)


def conv1d(
    x: IntArray,
    x_zero_point: int,
    packed: PackedConv,
    weight_zero_points: object,
    requant: Requantization,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> IntArray:
    """As :func:`conv2d` for ``(B, C, W)``, with one number each."""
    return _conv(x, x_zero_point, packed, weight_zero_points, requant, stride, padding, dilation)


def conv3d(
    x: IntArray,
    x_zero_point: int,
    packed: PackedConv,
    weight_zero_points: object,
    requant: Requantization,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> IntArray:
    """As :func:`conv2d` for ``(B, C, D, H, W)``, with three numbers each."""
    return _conv(x, x_zero_point, packed, weight_zero_points, requant, stride, padding, dilation)
