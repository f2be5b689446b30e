"""A packed weight run in another arithmetic: windows as rows, then the stages of the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pyqref.numerics.convolution import transpose_canvas, transpose_weight, windows
from pyqref.numerics.noted import noted, noting

from .._typing import Packed, PackedConv
from .layer import layer_of

if TYPE_CHECKING:
    from pyqref.numerics.elementwise import Grid

__all__ = ["on_own_grid", "patches", "real_of", "run_of", "weight_rows"]

#: Elements of the windows that are laid out at once.
_PART = 2**22


def on_own_grid(model: Any, x: np.ndarray, reduce_range: bool) -> tuple[Grid, np.ndarray]:
    """The grid of the range of a real input (``eq-dynamic-input``), and its integers there.

    Parameters
    ----------
    model
        An :class:`~pyqref.arithmetic.Arithmetic`.
    x
        float32; its range is that of all of it.
    reduce_range
        Take one bit off, where the model does.
    """
    low, high = (x.min(), x.max()) if x.size else (0.0, 0.0)
    with noting():  # how the input is rounded is no stage of the layer
        grid = model.dynamic_grid(low, high, reduce_range)
        integers = np.asarray(model.on_dynamic_grid(x, grid))
    noted("scale of the input", grid.scale)
    noted("zero point of the input", grid.zero_point)
    return grid, noted("integers of the input", integers)


def run_of(
    model: Any, packed: Packed, x_grid: Grid, out: Grid, relu: bool
) -> Callable[[np.ndarray], np.ndarray]:
    """Make a function from the integers of the input to those of the output.

    Parameters
    ----------
    model
        An :class:`~pyqref.arithmetic.Arithmetic`.
    packed
        The packed weight of a linear layer or of a convolution.
    x_grid, out
        Grids of input and output.
    relu
        Clamp below at the zero point of the output.
    """
    low, high = packed.output_range
    if relu:
        low = max(low, out.zero_point)
    bias = None if packed.bias_tensor is None else packed.bias_tensor._array
    layer = layer_of(packed)
    zero_point = x_grid.zero_point

    def requantize(sums: np.ndarray) -> np.ndarray:
        scales = x_grid.scale, packed.weight_scales, out.scale
        integers = model.requantize(sums, bias, *scales, out.zero_point, low, high, layer)
        return np.asarray(integers.astype(np.uint8))

    return _prepared(model, packed, zero_point, requantize, np.uint8)


def real_of(
    model: Any, packed: Packed, x_grid: Grid, real: Callable[..., np.ndarray] | None = None
) -> Callable[[np.ndarray], np.ndarray]:
    """Make a function from the integers of the input to real results, not rounded to a grid.

    Parameters as of :func:`run_of`; ``real`` makes real numbers of sums, ``model.dequantize`` if it
    is left out.
    """
    real = real or model.dequantize
    bias = None if packed.bias_tensor is None else packed.bias_tensor._array

    def dequantize(sums: np.ndarray) -> np.ndarray:
        return np.asarray(real(sums, bias, x_grid.scale, packed.weight_scales))

    return _prepared(model, packed, x_grid.zero_point, dequantize, np.float32)


def _prepared(
    model: Any,
    packed: Any,
    zero_point: int,
    finish: Callable[[np.ndarray], np.ndarray],
    storage: Any,
) -> Callable[[np.ndarray], np.ndarray]:
    """From the integers of the input to what ``finish`` makes of the sums, channels last.

    ``storage`` is the type of a result without elements.
    """
    layer = layer_of(packed)
    weight, zero_points = weight_rows(packed)
    if packed.operation == "qgemm":
        own = weight[0], zero_points[0], layer
        return lambda x: finish(noted("accumulator", model.accumulate(x, zero_point, *own)))

    def accumulate(rows: list[np.ndarray], outside: np.ndarray | None) -> np.ndarray:
        sums = [
            model.accumulate(each, zero_point, *own, layer, outside)
            for each, *own in zip(rows, weight, zero_points, strict=True)
        ]
        return noted("accumulator", np.concatenate(sums, axis=-1))

    together: Callable[..., np.ndarray] = lambda *row: finish(accumulate(*row))  # noqa: E731
    return partial(_convolve, packed, zero_point, together, storage)


def _convolve(
    packed: Any, zero_point: int, finish: Callable[..., np.ndarray], storage: Any, x: np.ndarray
) -> np.ndarray:
    """Return the result of a convolution, transposed or not: ``(B, N, *out)``."""
    outputs = sum(len(each) for each in weight_rows(packed)[0])
    shape = x.shape[0], outputs, *packed.out_size(x.shape[2:])
    result = np.empty(shape, storage)
    for at, rows, outside in patches(packed, x, zero_point):
        part = np.moveaxis(finish(rows, outside), -1, 1)
        if result.dtype != part.dtype:  # of real results in double precision
            result = result.astype(part.dtype)
        result[at] = part
    return result


def weight_rows(packed: Packed) -> tuple[np.ndarray, np.ndarray]:
    """The weight as rows in the order of :func:`patches`, and its zero points, by groups.

    Returns
    -------
    weight
        int8 ``(groups, N / groups, K)``.
    zero_points
        int64 ``(groups, N / groups)``.

    Examples
    --------
    >>> import pyqref
    >>> weight_rows(pyqref.nn.quantized.Conv2d(4, 6, 3, groups=2)._packed_params)[0].shape
    (2, 3, 18)
    """
    weight, groups = packed._integers(), 1
    if packed.operation != "qgemm":
        groups = packed.groups
        if packed.transposed:
            weight = transpose_weight(weight, groups)
        weight = np.moveaxis(weight, 1, -1)
    zero_points = np.broadcast_to(packed.weight_zero_points, weight.shape[:1])
    each = weight.shape[0] // groups
    return weight.reshape(groups, each, -1), zero_points.reshape(groups, each)


def patches(
    packed: PackedConv, x: np.ndarray, zero_point: int
) -> Iterator[tuple[slice, list[np.ndarray], np.ndarray | None]]:
    """Yield the inputs of each output of a convolution, some images at a time.

    Yields
    ------
    at
        Which images.
    rows
        For each group ``(B, *out, K)``: the taps of a window one after the other, the channels of a
        tap side by side. Beside the image stands the zero point.
    outside
        ``(1, *out, taps)``: which taps lie beside the image. None if there are no such.

    Examples
    --------
    >>> import pyqref
    >>> packed = pyqref.nn.quantized.Conv1d(1, 1, 3, padding=1)._packed_params
    >>> (at, rows, outside), = patches(packed, np.uint8([[[1, 2, 3]]]), 9)
    >>> rows[0].tolist()
    [[[9, 1, 2], [1, 2, 3], [2, 3, 9]]]
    >>> outside.astype(int).tolist()
    [[[1, 0, 0], [0, 0, 0], [0, 0, 1]]]
    """
    taps = int(np.prod(packed.shape[2:]))
    size = packed.out_size(x.shape[2:])
    step = max(1, _PART // max(1, int(np.prod(size)) * taps * x.shape[1]))
    image = np.zeros((1, 1, *x.shape[2:]), np.uint8)
    beside = _windows(packed, image, 1).reshape(1, *size, taps) != 0
    outside = beside if beside.any() else None
    for first in range(0, x.shape[0], step):
        at = slice(first, first + step)
        view = _windows(packed, x[at], zero_point)
        # (B, C, *out, *kernel) -> (B, *out, *kernel, C)
        yield (
            at,
            [
                np.moveaxis(part, 1, -1).reshape(part.shape[0], *size, -1)
                for part in np.split(view, packed.groups, axis=1)
            ],
            outside,
        )


def _windows(packed: Any, x: np.ndarray, fill: int) -> np.ndarray:
    """``(B, C, *out, *kernel)``, with ``fill`` beside the image and between spread inputs."""
    kernel, stride, dilation = packed.shape[2:], packed.stride, packed.dilation
    if packed.transposed:
        margins = packed.padding, packed.output_padding, dilation
        canvas = transpose_canvas(x, fill, kernel, stride, *margins)
        return windows(canvas, kernel, [1] * len(kernel), dilation)
    margin = [(0, 0), (0, 0), *((p, p) for p in packed.padding)]
    return windows(np.pad(x, margin, constant_values=fill), kernel, stride, dilation)
