"""Sums of products that no runtime rounds, and how they end on a grid."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..maker import Maker
from ..problems import Unsupported
from ..table import Layer
from ..wire import Wire

__all__ = ["beside", "convolved", "multiplied", "requantized", "scaled_once"]

#: float32 holds every whole number up to here, so that sums that stay below are exact.
LARGEST = 2**24


def convolved(
    make: Maker, layer: Layer, x: Wire, less: np.ndarray, kind: str, attributes: dict[str, Any]
) -> str:
    """The accumulators of a convolution as int32 (``eq-linear-accumulator``).

    They are sums of whole numbers in float32. Where these may pass :data:`LARGEST`, the channels
    of the input are taken in several parts, whose sums are added as integers.

    Parameters
    ----------
    less
        The weight less its zero points, in the order of the layer.
    kind, attributes
        Of the operator.
    """
    groups, own = int(layer.groups), make.whole(x)
    if groups == 1 or kind == "Conv":
        return _added(make, own, x, less, kind, attributes)
    # onnx's evaluator mixes up the channels of transposed convolutions in groups.
    sizes = make.shape(*[x.shape[1] // groups] * groups)
    given = make.node("Split", [own, sizes], outputs=groups, axis=1)
    attributes = attributes | {"group": 1}
    each = zip(given, np.split(less, groups), strict=True)
    parts = [_added(make, real, x, weight, kind, attributes) for real, weight in each]
    return make.node("Concat", parts, axis=1)


def multiplied(make: Maker, x: Wire, less: np.ndarray) -> str:
    """The accumulators of a linear layer as int32, as :func:`convolved` has those of another.

    ``less`` is the weight less its zero points, ``(N, K)``.
    """
    own, result = make.whole(x), ""
    parts = _parts(less.T[np.newaxis], x)
    for at in parts:
        given = own
        if len(parts) > 1:
            columns = np.arange(at.start, at.stop)
            given = make.node("Gather", [own, make.constant("columns", columns)], axis=-1)
        real = make.node("Cast", [make.constant("weight", _narrowed(less.T[at]))], to=1)
        total = make.node("Cast", [make.node("MatMul", [given, real])], to=6)
        result = make.node("Add", [result, total]) if result else total
    return result


def _added(
    make: Maker, own: str, x: Wire, less: np.ndarray, kind: str, attributes: dict[str, Any]
) -> str:
    """The sums of all parts; ``own`` is the input less its zero point."""
    groups, transposed, result = attributes["group"], kind == "ConvTranspose", ""
    grouped = _grouped(less, groups, transposed)
    parts = _parts(grouped, x)
    for at in parts:
        given, weight = own, grouped[:, at]
        if len(parts) > 1:
            channels = np.arange(groups * grouped.shape[1]).reshape(groups, -1)[:, at].ravel()
            given = make.node("Gather", [own, make.constant("channels", channels)], axis=1)
        if transposed:
            weight = weight.reshape(-1, *less.shape[1:])
        else:
            weight = np.moveaxis(weight, 2, 1).reshape(less.shape[0], -1, *less.shape[2:])
        real = make.node("Cast", [make.constant("weight", _narrowed(weight))], to=1)
        total = make.node("Cast", [make.node(kind, [given, real], **attributes)], to=6)
        result = make.node("Add", [result, total]) if result else total
    return result


def _grouped(less: np.ndarray, groups: int, transposed: bool) -> np.ndarray:
    """A weight as ``(groups, C / groups, N / groups, *kernel)``."""
    first, second, *kernel = less.shape
    grouped = less.reshape(groups, first // groups, second, *kernel)
    return grouped if transposed else np.moveaxis(grouped, 2, 1)


def _parts(grouped: np.ndarray, x: Wire) -> list[slice]:
    """The channels of a group in parts whose sums float32 holds, whatever the input."""
    dtype, zero_point = x.grid.dtype, x.grid.zero_point
    products = np.stack(
        [grouped * (end - zero_point) for end in (dtype.quant_min, dtype.quant_max)]
    )
    products = products.reshape(*products.shape[:4], -1)
    # The largest and the smallest sum of the products of each channel: (C / groups, 2 N).
    most, least = products.max(0).sum(-1), products.min(0).sum(-1)
    bounds = np.abs(np.concatenate([most, least], -1)).swapaxes(0, 1).reshape(grouped.shape[1], -1)
    if bounds.max(initial=0) > LARGEST:
        raise Unsupported(
            "a sum over one channel may pass 2**24, up to which float32 holds all whole numbers"
        )
    parts, first, total = [], 0, np.zeros_like(bounds[0])
    for channel, bound in enumerate(bounds):
        total = total + bound
        if total.max() > LARGEST:
            parts.append(slice(first, channel))
            first, total = channel, bound
    return [*parts, slice(first, len(bounds))]


def _narrowed(integers: np.ndarray) -> np.ndarray:
    """The smallest type that holds integers."""
    fits = integers.min(initial=0) >= -128 and integers.max(initial=0) <= 127
    return integers.astype(np.int8 if fits else np.int32)


def beside(channels: np.ndarray, axes: int) -> np.ndarray:
    """Numbers of channels, followed by ``axes`` axes of length 1."""
    return channels.reshape(-1, *(1,) * axes) if channels.ndim else channels


def requantized(make: Maker, total: str, unit: np.ndarray, axes: int = 0) -> str:
    """Integers on the grid of the result from accumulators (``eq-requantize-onnx``).

    Parameters
    ----------
    total
        int32, bias included.
    unit
        float32, one number or ``(N,)``.
    axes
        How many axes follow that of the channels.
    """
    multiplier = make.constant("multiplier", beside(unit / np.float32(make.out.grid.scale), axes))
    scaled = make.node("Mul", [make.node("Cast", [total], to=1), multiplier])
    return str(make.node("QuantizeLinear", [scaled, make.scalar("one", 1), make.out.zero_point]))


def scaled_once(
    make: Maker, total: str, x: Wire, scale: np.ndarray, term: np.ndarray | None, axes: int
) -> str:
    """Real results of accumulators, rounded once, and the bias (``eq-requantize-qdq``).

    Parameters
    ----------
    scale
        Of the weight, float32.
    term
        The bias as real numbers, or None.
    """
    unit = np.float64(np.float32(x.grid.scale)) * scale.astype(np.float64)
    double = make.node("Cast", [total], to=11)
    real = make.node("Mul", [double, make.constant("unit", beside(unit, axes))])
    real = make.node("Cast", [real], to=1)
    if term is not None:
        real = make.node("Add", [real, make.constant("bias_real", beside(term, axes))])
    return real
