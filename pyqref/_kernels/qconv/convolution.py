"""Quantized convolution by the kernel in use. What no kernel covers goes to its twin in NumPy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import empty
from pyqref._kernels.qgemm.finish import bias_terms, fits, zero_points_or_none
from pyqref.numerics import convolution as reference
from pyqref.numerics.requantize import Requantization, columns_of, requantize
from pyqref.numerics.types import IntArray

from .geometry import are_centred, in_space, part_of
from .pack import PackedConv
from .reals import of_equation, output_for_bytes, spread_out
from .split_sums import reaches_far
from .sums import conv_sums

__all__ = ["conv1d", "conv2d", "conv3d", "run_parts", "run_sums"]

#: For each number of axes, the order that puts channels first that are last.
_CHANNELS_FIRST = {3: (0, 2, 1), 4: (0, 3, 1, 2), 5: (0, 4, 1, 2, 3)}


@lru_cache(maxsize=1024)
def _geometry(
    size: tuple[int, ...],
    window: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The size of the output, and what a kernel walks by."""
    out_size = tuple(
        (i + 2 * p - d * (k - 1) - 1) // s + 1
        for i, p, d, k, s in zip(size, padding, dilation, window, stride, strict=True)
    )
    return out_size, in_space(size, window, stride, padding, dilation, out_size, out_size)


def run_parts(
    kernel: ModuleType,
    x: IntArray,
    x_zero_point: int,
    parts: tuple[tuple[Any, ...], ...],
    zero_points: np.ndarray | None,
    requant: Requantization,
    shape: tuple[int, ...],
    scale: float | None,
) -> Any:
    """Compute all parts of a result ``(B, *out, N)``; it is returned as ``(B, N, *out)``.

    With a ``scale``, of real numbers into real numbers.
    """
    if scale is None:
        result = out = empty(shape, requant.storage)
    else:
        result, out = output_for_bytes(shape)
    bias, integer_bias = bias_terms(requant)
    kernel.conv(
        x,
        x.dtype == np.int8,
        x_zero_point,
        parts,
        zero_points,
        requant.multiplier,
        bias,
        integer_bias,
        requant.bias_multiplier,
        requant.output_zero_point,
        requant.lower,
        requant.upper,
        out,
        threads.limit,
        scale or 1.0,
    )
    if scale is not None:
        spread_out(result, scale, requant.output_zero_point)
    return result.transpose(_CHANNELS_FIRST[len(shape)])


def run_sums(
    parts: Iterable[tuple[tuple[slice, ...], Iterator[tuple[tuple[slice, ...], IntArray]]]],
    requant: Requantization,
    shape: tuple[int, ...],
    scale: float | None,
) -> Any:
    """As :func:`run_parts` of what has no room there: of places, and sums to be finished there."""
    if scale is None:
        result = out = empty(shape, requant.storage)
    else:
        result, out = output_for_bytes(shape)
    for places, sums in parts:
        for at, some in sums:
            out[places][at] = requantize(some, columns_of(requant, at[-1]))
    if scale is not None:
        spread_out(result, scale, requant.output_zero_point)
    return result.transpose(_CHANNELS_FIRST[len(shape)])


class _Call(NamedTuple):
    """What decides how a weight is used, and what a kernel takes for it.

    Between two calls of a layer little changes but the integers of its input.
    """

    requant: Requantization
    weight_zero_points: int | bytes
    geometry: tuple[tuple[int, ...], ...]
    has_buffer: bool  # 32 bits hold all sums, and scratch what an output sees
    zero_points: np.ndarray | None
    parts: tuple[tuple[Any, ...], ...]
    out: tuple[int, ...]


def _call(
    packed: PackedConv,
    weight_zero_points: object,
    requant: Requantization,
    geometry: tuple[tuple[int, ...], ...],
) -> _Call:
    """Prepare a call, or find that the last one was like it."""
    # By value, since an array may have been written to.
    key = (
        weight_zero_points
        if isinstance(weight_zero_points, int)
        else np.asarray(weight_zero_points, np.int64).tobytes()
    )
    for last in packed.kept:
        same = last.requant is requant and last.weight_zero_points == key
        if same and last.geometry == geometry:
            return last
    zero_points = zero_points_or_none(weight_zero_points)
    out_size, walk = _geometry(geometry[0], packed.shape[2:], *geometry[1:])
    part = part_of(packed, walk, centred=are_centred(zero_points))
    call = _Call(
        requant,
        key,
        geometry,
        fits(packed.depth, requant, weight_zero_points) and not reaches_far(packed),
        zero_points,
        (part,),
        (*out_size, packed.shape[0]),
    )
    # Weights that were laid out anew for this call are not kept.
    packed.kept[:] = [call] if part[5] is packed.panels else []
    return call


def _conv(
    x: IntArray,
    x_zero_point: int,
    packed: PackedConv,
    weight_zero_points: object,
    requant: Requantization,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    scale: float | None,
) -> Any:
    kernel = registry.twin("qconv")
    if kernel is None:
        return of_equation(
            lambda q: reference.quantized_conv(
                q,
                x_zero_point,
                packed.weight,
                weight_zero_points,
                requant,
                stride,
                padding,
                dilation,
                packed.groups,
            ),
            x,
            x_zero_point,
            scale,
        )
    geometry = (x.shape[2:], tuple(stride), tuple(padding), tuple(dilation))
    call = _call(packed, weight_zero_points, requant, geometry)
    shape = (x.shape[0], *call.out)
    if not call.has_buffer:
        zero_points = np.asarray(weight_zero_points, np.int64).reshape(-1)
        size = call.out[:-1]
        sums = conv_sums(
            x, x_zero_point, packed, zero_points, stride, padding, dilation, size, scale
        )
        return run_sums([((), sums)], requant, shape, scale)
    return run_parts(kernel, x, x_zero_point, call.parts, call.zero_points, requant, shape, scale)


def conv2d(
    x: IntArray,
    x_zero_point: int,
    packed: PackedConv,
    weight_zero_points: object,
    requant: Requantization,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    scale: float | None = None,
) -> Any:
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
    scale
        None, or ``x`` is float32 and so is the result: on the grid of ``x``, which is that of the
        output in ``requant`` (``eq-conv-dynamic``).

    Returns
    -------
    ``(B, N, out_H, out_W)`` of the type ``requant.storage``
        A view of memory in which the channels are last.
    """
    return _conv(
        x, x_zero_point, packed, weight_zero_points, requant, stride, padding, dilation, scale
    )


def conv1d(
    x: IntArray,
    x_zero_point: int,
    packed: PackedConv,
    weight_zero_points: object,
    requant: Requantization,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    scale: float | None = None,
) -> Any:
    """As :func:`conv2d` for ``(B, C, W)``, with one number each."""
    return _conv(
        x, x_zero_point, packed, weight_zero_points, requant, stride, padding, dilation, scale
    )


def conv3d(
    x: IntArray,
    x_zero_point: int,
    packed: PackedConv,
    weight_zero_points: object,
    requant: Requantization,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    scale: float | None = None,
) -> Any:
    """As :func:`conv2d` for ``(B, C, D, H, W)``, with three numbers each."""
    return _conv(
        x, x_zero_point, packed, weight_zero_points, requant, stride, padding, dilation, scale
    )
