"""Weighted sums: linear layers and convolutions, transposed ones included."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import arithmetic
from ..._typing import Packed, PackedConv
from ..draft import Draft, Picture, explains
from ..record import Value
from ..rows import OneOutput, in_order, weight_in_order
from ..steps import Operand
from .requantization import Layer, requantized
from .sum_parts import show_parts

__all__ = [
    "Places",
    "accumulate",
    "accumulate_integers",
    "layer_and_places",
    "linear_places",
    "places_of_conv",
    "weighted_parts",
]


class Places:
    """Elements of the input, and the elements of the weight that they meet.

    Attributes
    ----------
    inputs, weights : ndarray
        Positions in the flattened arrays, pair by pair.
    inside : ndarray
        Of the shape of the window, ``(C, *kernel)``: where it does not lie in the padding.
    """

    def __init__(self, inputs: np.ndarray, weights: np.ndarray, inside: np.ndarray) -> None:
        self.inputs, self.weights, self.inside = inputs, weights, inside


def linear_places(shape: tuple[int, ...], index: tuple[int, ...]) -> Places:
    """Return the places for output ``index`` of a linear layer with an input of this shape."""
    length = shape[-1]
    row = int(np.ravel_multi_index(index[:-1], shape[:-1])) if shape[:-1] else 0
    along = np.arange(length)
    return Places(row * length + along, index[-1] * length + along, np.ones(length, bool))


def places_of_conv(packed: PackedConv, shape: tuple[int, ...], index: tuple[int, ...]) -> Places:
    """Return the places for output ``index`` of a convolution with an input of this shape."""
    image, channel, *at = index
    kernel = packed.shape[2:]
    axes, inside = [], []
    for axis, (o, size, k) in enumerate(zip(at, shape[2:], kernel, strict=True)):
        step, pad = packed.stride[axis], packed.padding[axis]
        taps = np.arange(k) * packed.dilation[axis]
        if packed.transposed:
            reached = o + pad - taps
            place, fits = reached // step, reached % step == 0
        else:
            place, fits = o * step - pad + taps, np.ones(k, bool)
        axes.append(place)
        inside.append(fits & (place >= 0) & (place < size))
    if packed.transposed:
        per_group = packed.shape[0] // packed.groups
        group, own = divmod(channel, packed.shape[1])
        channels = group * per_group + np.arange(per_group)
        of_weight = [channels, np.array([own]), *(np.arange(k) for k in kernel)]
    else:
        per_group = packed.shape[1]
        group = channel // (packed.shape[0] // packed.groups)
        channels = group * per_group + np.arange(per_group)
        of_weight = [np.array([channel]), np.arange(per_group), *(np.arange(k) for k in kernel)]
    window = (per_group, *kernel)
    seen = np.ones(window, bool)
    for axis, fits in enumerate(inside, 1):
        seen &= fits.reshape([-1 if each == axis else 1 for each in range(len(window))])
    grid = np.meshgrid(channels, *axes, indexing="ij")
    weights = np.meshgrid(*of_weight, indexing="ij")
    chosen = [np.full(int(seen.sum()), image), *(each[seen] for each in grid)]
    return Places(
        np.ravel_multi_index(chosen, shape),
        np.ravel_multi_index([each.reshape(window)[seen] for each in weights], packed.shape),
        seen,
    )


def accumulate(
    draft: Draft, x: Value, x_zero: int, packed: Packed, layer: Layer, places: Places, label: str
) -> Operand:
    """The accumulator of one output, with its extremes on the way."""
    inputs = draft.elements("x", x, places.inputs)
    zero = Operand("z_x", x_zero)
    total = accumulate_integers(draft, inputs, zero, packed, layer, places, label)
    weights = next(each for each in draft.steps[-1].operands if each.symbol == "w")
    show_parts(draft, x, places.inputs, inputs, weights, (x_zero, layer.weight_zero_point))
    return total


def accumulate_integers(
    draft: Draft,
    inputs: Operand,
    x_zero: Operand,
    packed: Packed,
    layer: Layer,
    places: Places,
    label: str,
) -> Operand:
    """Add up products like :func:`accumulate`, of integers that were chosen before."""
    weight = np.ascontiguousarray(packed._integers()).reshape(-1)[places.weights]
    total = draft.steps.add(
        "accumulator",
        "dot",
        inputs,
        x_zero,
        Operand("w", weight),
        Operand("z_w", layer.weight_zero_point),
        symbol="a",
        label=label,
    )
    left = np.asarray(inputs.value).astype(np.int64) - x_zero.value
    right = weight.astype(np.int64) - layer.weight_zero_point
    way = np.cumsum(left * right)
    least, most = int(way.min(initial=0)), int(way.max(initial=0))
    padded = int(places.inside.size - places.inside.sum())
    said = f"{left.size} products, between {least} and {most} on the way"
    draft.steps.decide(said + (f"; {padded} more in the padding, which are 0" if padded else ""))
    window = [np.zeros(places.inside.shape, np.int64) for _ in range(2)]
    for each, values in zip(window, (left, right), strict=True):
        each[places.inside] = values
    draft.picture = Picture(window[0], window[1], ~places.inside)
    return total


def weighted_parts(draft: Draft) -> tuple[Value, Any, Layer, Places, str]:
    """Input and weight of a layer, and what meets at the output that is explained."""
    x = draft.argument("X", "qx")
    packed = draft.argument("W_prepack", "packed_weight", "packed")
    return (x, packed, *layer_and_places(packed, x, draft.index, x.scale))


def layer_and_places(
    packed: Any, x: Value, index: tuple[int, ...], scale: float
) -> tuple[Layer, Places, str]:
    """Return the layer and the products that meet at one output, with the label of the equation."""
    if not hasattr(packed, "stride"):
        layer = Layer(packed, index[-1], scale)
        return layer, linear_places(x.shape, index), "eq-linear-accumulator"
    name = "eq-conv-transpose-accumulator" if packed.transposed else "eq-conv-accumulator"
    return Layer(packed, index[1], scale), places_of_conv(packed, x.shape, index), name


_STATIC = ("linear", "conv1d", "conv2d", "conv3d")
_TRANSPOSED = tuple(f"quantized.conv_transpose{n}d" for n in (1, 2, 3))


@explains(*(f"quantized.{name}{relu}" for name in _STATIC for relu in ("", "_relu")), *_TRANSPOSED)
def weighted_sum(draft: Draft) -> None:
    """Accumulate, then requantize."""
    other = draft.record.settings["arithmetic"]
    if other is not None:
        raise LookupError(
            f"why: {draft.record.layer} ran in the arithmetic {other.name!r}; call explain outside "
            "of arithmetic.use, with its name in arithmetics"
        )
    x, packed, layer, places, label = weighted_parts(draft)
    total = accumulate(draft, x, x.zero_point, packed, layer, places, label)
    relu = draft.record.operation.endswith("_relu")
    q = requantized(draft, total, layer, draft.output.scale, draft.output.zero_point, relu)
    draft.dequantized(q, draft.output)
    for name in draft.arithmetics:
        draft.others[name] = _in_arithmetic(draft, name, x, packed, layer, relu)


def _in_arithmetic(
    draft: Draft, name: str, x: Value, packed: Any, layer: Layer, relu: bool
) -> tuple[Any, ...]:
    """The steps of another system, from the same integers."""
    picture, out = draft.picture, draft.output
    assert picture is not None
    one = OneOutput(packed, layer, draft.index, picture.padded)
    low, high = packed.output_range
    return tuple(
        arithmetic.get(name).steps(
            in_order(packed, picture.inputs) + x.zero_point,
            x.zero_point,
            weight_in_order(packed, draft.index),
            layer.weight_zero_point,
            None if layer.bias is None else float(layer.bias),
            x.scale,
            one.scale,
            out.scale,
            out.zero_point,
            max(low, out.zero_point) if relu else low,
            high,
            one.place,
            one.outside,
        )
    )
