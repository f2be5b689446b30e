"""A packed weight computed in the arithmetic of another system (``pyqref.arithmetic``).

The model is data to this floor: an object with the stages ``accumulate`` and ``requantize``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from pyqref.numerics.convolution import transpose_canvas, transpose_weight, windows
from pyqref.numerics.elementwise import Grid

__all__ = ["modelled", "patches"]

#: Elements of the windows that are laid out at once.
_PART = 2**24


def modelled(
    model: Any, packed: Any, own: Grid, out: Grid, relu: bool
) -> Callable[[np.ndarray], np.ndarray]:
    """Make a function from the integers of the input to those of the output.

    Parameters
    ----------
    model
        A :class:`pyqref.arithmetic.Arithmetic`.
    packed
        The packed weight of a linear layer or of a convolution.
    own, out
        Grids of input and output.
    relu
        Clamp below at the zero point of the output.
    """
    low, high = packed.output_range
    if relu:
        low = max(low, out.zero_point)
    bias = None if packed.bias_tensor is None else packed.bias_tensor._array

    def requantize(sums: np.ndarray) -> np.ndarray:
        scales = own.scale, packed.weight_scales, out.scale
        integers = model.requantize(sums, bias, *scales, out.zero_point, low, high)
        return np.asarray(integers.astype(np.uint8))

    if packed.operation == "qgemm":
        weight, zero_points = packed._integers(), packed.weight_zero_points
        return lambda x: requantize(model.accumulate(x, own.zero_point, weight, zero_points))
    return partial(_convolve, model, packed, own.zero_point, requantize)


def _convolve(
    model: Any,
    packed: Any,
    zero_point: int,
    requantize: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
) -> np.ndarray:
    """The integers ``(B, N, *out)`` of a convolution, transposed or not."""
    weight, zero_points = packed._integers(), packed.weight_zero_points
    if packed.transposed:
        weight = transpose_weight(weight, packed.groups)
    groups = packed.groups
    rows_of_weight = np.moveaxis(weight, 1, -1).reshape(groups, weight.shape[0] // groups, -1)
    zero_points = np.broadcast_to(zero_points, weight.shape[:1]).reshape(groups, -1)
    result = np.empty((x.shape[0], weight.shape[0], *packed.out_size(x.shape[2:])), np.uint8)
    for at, groups_of_rows in patches(packed, x, zero_point):
        sums = [
            model.accumulate(rows, zero_point, *own)
            for rows, *own in zip(groups_of_rows, rows_of_weight, zero_points, strict=True)
        ]
        result[at] = np.moveaxis(requantize(np.concatenate(sums, axis=-1)), -1, 1)
    return result


def patches(
    packed: Any, x: np.ndarray, zero_point: int
) -> Iterator[tuple[slice, list[np.ndarray]]]:
    """What each output of a convolution sees: for some images, ``(B, *out, K)`` for each group.

    The taps of a window come one after the other, the channels of a tap side by side.
    """
    kernel = packed.shape[2:]
    stride, dilation = packed.stride, packed.dilation
    taps = int(np.prod(kernel))
    outputs = int(np.prod(packed.out_size(x.shape[2:])))
    step = max(1, _PART // max(1, outputs * taps * x.shape[1]))
    for first in range(0, x.shape[0], step):
        at = slice(first, first + step)
        if packed.transposed:
            margins = packed.padding, packed.output_padding, dilation
            canvas = transpose_canvas(x[at], zero_point, kernel, stride, *margins)
            view = windows(canvas, kernel, [1] * len(kernel), dilation)
        else:
            margin = [(0, 0), (0, 0), *((p, p) for p in packed.padding)]
            padded = np.pad(x[at], margin, constant_values=zero_point)
            view = windows(padded, kernel, stride, dilation)
        # (B, C, *out, *kernel) -> (B, *out, *kernel, C)
        yield (
            at,
            [
                np.moveaxis(part, 1, -1).reshape(
                    *part.shape[:1], *part.shape[2 : 2 + len(kernel)], -1
                )
                for part in np.split(view, packed.groups, axis=1)
            ],
        )
