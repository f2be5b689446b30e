"""Quantized convolution by the kernel in use. What no kernel covers goes to its twin in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from types import ModuleType
from typing import Any

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import empty
from pyqref._kernels.qgemm.finish import finish_of, fits, zero_points_or_none
from pyqref.numerics import convolution as reference
from pyqref.numerics.requantize import Requantization, columns_of, requantize
from pyqref.numerics.types import FloatArray, IntArray

from ..._typing import Array
from .geometry import are_centred, in_space, part_of
from .pack import PackedConv
from .reals import dequantize_in_place, of_equation, output_for_bytes
from .split_sums import reaches_far
from .structs import InputGrid, Part
from .sums import conv_sums

__all__ = ["Forward", "conv1d", "conv2d", "conv3d", "prepare", "run_parts", "run_sums"]

#: From the elements of an input to those of the output.
Forward = Callable[[Any], Any]

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
    """The size of the output, and the geometry that a kernel wants."""
    out_size = tuple(
        (i + 2 * p - d * (k - 1) - 1) // s + 1
        for i, p, d, k, s in zip(size, padding, dilation, window, stride, strict=True)
    )
    return out_size, in_space(size, window, stride, padding, dilation, out_size, out_size)


def run_parts(
    kernel: ModuleType,
    parts: tuple[Part, ...],
    grid: InputGrid,
    zero_points: np.ndarray | None,
    requant: Requantization,
    shape: tuple[int, ...],
    scale: float | None,
) -> Forward:
    """Make a function that computes a result ``(B, *out, N)`` and returns it as ``(B, N, *out)``.

    With a ``scale``, of real numbers into real numbers. Weights and results are described to the
    kernel here, once for all calls.
    """
    convolution = kernel.Convolution(parts, grid, finish_of(requant, zero_points))
    order = _CHANNELS_FIRST[len(shape)]
    if scale is not None:
        return partial(_run_of_reals, convolution, shape, order, scale, requant.output_zero_point)
    return partial(_run, convolution, shape, order, requant.storage)


def _run(
    convolution: Any, shape: tuple[int, ...], order: tuple[int, ...], storage: Any, x: IntArray
) -> Any:
    out = empty(shape, storage)
    convolution.run(x, out, threads.limit)
    return out.transpose(order)


def _run_of_reals(
    convolution: Any,
    shape: tuple[int, ...],
    order: tuple[int, ...],
    scale: float,
    zero_point: int,
    x: FloatArray,
) -> Any:
    result, out = output_for_bytes(shape)
    convolution.run(x, out, threads.limit)
    dequantize_in_place(result, scale, zero_point)
    return result.transpose(order)


def run_sums(
    parts: Iterable[tuple[tuple[slice, ...], Iterator[tuple[tuple[slice, ...], IntArray]]]],
    requant: Requantization,
    shape: tuple[int, ...],
    scale: float | None,
) -> Array:
    """Run parts of convolutions that are too large for scratch: unfinished sums of some places."""
    if scale is None:
        result = out = empty(shape, requant.storage)
    else:
        result, out = output_for_bytes(shape)
    for places, sums in parts:
        for at, some in sums:
            out[places][at] = requantize(some, columns_of(requant, at[-1]))
    if scale is not None:
        dequantize_in_place(result, scale, requant.output_zero_point)
    return result.transpose(_CHANNELS_FIRST[len(shape)])


def prepare(
    x: IntArray,
    x_zero_point: int,
    packed: PackedConv,
    weight_zero_points: int | Array,
    requant: Requantization,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    scale: float | None = None,
) -> Forward:
    """Make a function that convolves ``x``, or others of its form, as :func:`conv2d` does.

    It holds the arrays that it is given, and expects that they do not change. It runs the kernel
    that is in use now.
    """
    kernel = registry.twin("qconv")
    steps = tuple(stride), tuple(padding), tuple(dilation)
    if kernel is None:
        return partial(
            of_equation,
            lambda q: reference.quantized_conv(
                q, x_zero_point, packed.weight, weight_zero_points, requant, *steps, packed.groups
            ),
            zero_point=x_zero_point,
            scale=scale,
        )
    zero_points = zero_points_or_none(weight_zero_points)
    size, geometry = _geometry(x.shape[2:], packed.shape[2:], *steps)
    shape = (x.shape[0], *size, packed.shape[0])
    # Whether 32 bits hold all sums, and scratch what an output sees.
    if not fits(packed.depth, requant, weight_zero_points) or reaches_far(packed):
        points = np.asarray(weight_zero_points, np.int64).reshape(-1)
        return lambda x: run_sums(
            [((), conv_sums(x, x_zero_point, packed, points, *steps, size, scale))],
            requant,
            shape,
            scale,
        )
    grid = InputGrid(x.shape[1], x.dtype == np.int8, x_zero_point, scale or 1.0)
    part = part_of(packed, geometry, centred=are_centred(zero_points))
    return run_parts(kernel, (part,), grid, zero_points, requant, shape, scale)


def conv2d(
    x: IntArray,
    x_zero_point: int,
    packed: PackedConv,
    weight_zero_points: int | Array,
    requant: Requantization,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    scale: float | None = None,
) -> IntArray | FloatArray:
    """Fast form of :func:`pyqref.numerics.convolution.quantized_conv`, on packed weights.

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
    run = prepare(
        x, x_zero_point, packed, weight_zero_points, requant, stride, padding, dilation, scale
    )
    return run(x)


def conv1d(
    x: IntArray,
    x_zero_point: int,
    packed: PackedConv,
    weight_zero_points: int | Array,
    requant: Requantization,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    scale: float | None = None,
) -> IntArray | FloatArray:
    """One-dimensional form of :func:`conv2d`, for ``(B, C, W)``."""
    run = prepare(
        x, x_zero_point, packed, weight_zero_points, requant, stride, padding, dilation, scale
    )
    return run(x)


def conv3d(
    x: IntArray,
    x_zero_point: int,
    packed: PackedConv,
    weight_zero_points: int | Array,
    requant: Requantization,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    scale: float | None = None,
) -> IntArray | FloatArray:
    """Three-dimensional form of :func:`conv2d`, for ``(B, C, D, H, W)``."""
    run = prepare(
        x, x_zero_point, packed, weight_zero_points, requant, stride, padding, dilation, scale
    )
    return run(x)
