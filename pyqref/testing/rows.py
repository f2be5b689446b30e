"""A layer with a weight as a matrix product: what each output sees is a row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..numerics.convolution import transpose_canvas, transpose_weight, windows
from ..numerics.linear import linear_accumulator
from .operation import Arguments

__all__ = ["Accumulate", "Rows", "accumulators", "rows_of"]

#: Sums of products of rows and columns: (M, K), zero point, (N, K), zero point -> (M, N).
Accumulate = Callable[[Any, Any, Any, Any], Any]


class Rows(NamedTuple):
    """Stored integers as rows, one entry for each group.

    The taps of a window follow one another, the channels of a tap side by side.

    Attributes
    ----------
    inputs
        ``(..., K)`` each.
    weights
        ``(N / groups, K)`` each.
    """

    inputs: list[np.ndarray]
    weights: list[np.ndarray]


def rows_of(arguments: Arguments, fill: int | None = None) -> Rows:
    """The rows of a layer; beside the image stands ``fill``, or else the zero point."""
    x, weight = arguments["x"], arguments["weight"]
    if "stride" not in arguments:
        return Rows([x], [weight])
    fill = arguments["x_zero_point"] if fill is None else fill
    groups, kernel = arguments["groups"], weight.shape[2:]
    stride, padding, dilation = (arguments[name] for name in ("stride", "padding", "dilation"))
    if "output_padding" in arguments:
        margins = padding, arguments["output_padding"], dilation
        canvas = transpose_canvas(x, fill, kernel, stride, *margins)
        view = windows(canvas, kernel, [1] * len(kernel), dilation)
        weight = transpose_weight(weight, groups)
    else:
        border = [(0, 0), (0, 0), *((p, p) for p in padding)]
        view = windows(np.pad(x, border, constant_values=fill), kernel, stride, dilation)
    size = view.shape[2 : 2 + len(kernel)]
    inputs = [
        np.moveaxis(part, 1, -1).reshape(len(x), *size, -1)
        for part in np.split(view, groups, axis=1)
    ]
    columns = np.moveaxis(weight, 1, -1).reshape(len(weight), -1)
    return Rows(inputs, np.split(columns, groups))


def accumulators(
    arguments: Arguments, accumulate: Accumulate = linear_accumulator, fill: int | None = None
) -> np.ndarray:
    """Sums of products of all groups, ``(..., N)``."""
    zero_points = arguments["x_zero_point"], arguments["weight_zero_point"]
    found = []
    for row, weight in zip(*rows_of(arguments, fill), strict=True):
        flat = row.reshape(-1, row.shape[-1])
        sums = accumulate(flat, zero_points[0], weight, zero_points[1])
        found.append(np.asarray(sums).reshape(*row.shape[:-1], len(weight)))
    return np.concatenate(found, axis=-1)
