"""An operation of a quantized model with one ingredient replaced: weight, bias, grid, engine."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..backends import quantized as settings
from ..nn.modules import Module
from ..nn.quantized import QFunctional
from ..ops.quantized.packed import PackedLinear, PackedWeight
from ..ops.quantized.packed_conv import PackedConv, PackedConvTranspose
from ..tensor import Tensor
from ..tensor.quantized import make_per_channel, make_per_tensor
from .float_forms import packed_weight_of
from .running import Call

__all__ = ["Ingredients", "ingredients_of", "permutation", "permuted", "variant", "with_grid_of"]

#: What the scale and the zero point of the result are called, by functions and modules.
SCALES = ("scale", "output_scale", "Y_scale_i")
ZERO_POINTS = ("zero_point", "output_zero_point", "Y_zero_point_i")


class Ingredients(NamedTuple):
    """Everything that decides the integers of a layer with a weight, beside its input.

    Attributes
    ----------
    weight
        Quantized.
    bias
        Float, or None.
    scale, zero_point
        Of the result; None for a dynamic layer.
    ends
        The integers that the result is clamped to.
    engine
        Says how all of it is rounded.
    """

    weight: Any
    bias: Any
    scale: Any
    zero_point: Any
    ends: tuple[int, int]
    engine: str


def ingredients_of(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Ingredients | None:
    """The ingredients of a call; None if it has no packed weight of 8 bits."""
    packed = packed_weight_of(call.what, args)
    if packed is None or not isinstance(packed, (PackedLinear, PackedConv)):
        return None
    weight, bias = packed.weight, packed.bias()
    scale, zero_point = _grid(call, args, kwargs)
    return Ingredients(weight, bias, scale, zero_point, packed.output_range, packed.engine)


def _grid(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    owner = getattr(call.what, "__self__", call.what)
    if isinstance(owner, Module):
        scale, zero = getattr(owner, "scale", None), getattr(owner, "zero_point", None)
        if "dynamic" in type(owner).__module__ or scale is None:
            return None, None
        return float(scale), int(zero)  # type: ignore[arg-type]
    if not callable(call.what):
        return None, None
    given = inspect.signature(call.what).bind(*args, **kwargs).arguments
    found: list[Any] = [
        next((given[name] for name in names if name in given), None)
        for names in (SCALES, ZERO_POINTS)
    ]
    return (None, None) if None in found else (float(found[0]), int(found[1]))


@contextmanager
def _engine(name: str) -> Iterator[None]:
    before = settings.engine
    settings.engine = name
    try:
        yield
    finally:
        settings.engine = before


def variant(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any], given: Ingredients) -> Any:
    """Return the result of a call with other ingredients."""
    with _engine(given.engine):
        if isinstance(call.what, Module):
            layer: Any = copy.deepcopy(call.what)
            layer.set_weight_bias(given.weight, given.bias)
            if given.scale is not None:
                layer.scale, layer.zero_point = given.scale, given.zero_point
            layer._packed_weight().output_range = given.ends
            return type(layer).forward(layer, *args, **kwargs)
        return call.what(*_replaced(call.what, args, given), **_named(kwargs, given))


def _replaced(function: Any, args: tuple[Any, ...], given: Ingredients) -> list[Any]:
    names = list(inspect.signature(function).parameters)
    return [_other(name, value, given) for name, value in zip(names, args, strict=False)]


def _named(kwargs: dict[str, Any], given: Ingredients) -> dict[str, Any]:
    return {name: _other(name, value, given) for name, value in kwargs.items()}


def _other(name: str, value: Any, given: Ingredients) -> Any:
    if isinstance(value, PackedWeight):
        return _repacked(value, given)
    if name in SCALES and given.scale is not None:
        return given.scale
    return given.zero_point if name in ZERO_POINTS and given.zero_point is not None else value


def _repacked(packed: Any, given: Ingredients) -> PackedWeight:
    new: PackedWeight
    if isinstance(packed, PackedLinear):
        new = PackedLinear(given.weight, given.bias)
    elif isinstance(packed, PackedConvTranspose):
        ends = packed.output_padding, packed.dilation, packed.groups
        new = PackedConvTranspose(given.weight, given.bias, packed.stride, packed.padding, *ends)
    else:
        rest = packed.padding, packed.dilation, packed.groups
        new = PackedConv(given.weight, given.bias, packed.stride, *rest)
    new.output_range = given.ends
    return new


def with_grid_of(
    call: Call, args: tuple[Any, ...], kwargs: dict[str, Any], scale: float, zero_point: int
) -> Any:
    """Return the result of a call on another output grid.

    A call without a grid of its own runs unchanged.
    """
    owner = getattr(call.what, "__self__", call.what)
    if isinstance(owner, Module):
        if not hasattr(owner, "scale"):
            return call.run(*args, **kwargs)
        layer: Any = copy.deepcopy(owner)
        layer.__dict__.pop("forward", None)
        _set(layer, "scale", scale)
        _set(layer, "zero_point", zero_point)
        method = call.what.__name__ if isinstance(owner, QFunctional) else "forward"
        return getattr(type(layer), method)(layer, *args, **kwargs)
    if not callable(call.what):
        return call.run(*args, **kwargs)
    grid = Ingredients(None, None, scale, zero_point, (0, 0), "")
    return call.what(*_replaced(call.what, args, grid), **_named(kwargs, grid))


def _set(layer: Any, name: str, value: Any) -> None:
    """Set a number, which may be a buffer."""
    before = getattr(layer, name)
    if isinstance(before, Tensor):
        before.fill_(value)
    else:
        setattr(layer, name, value)


def permutation(ours: Tensor, theirs: Tensor, axis: int) -> np.ndarray[Any, Any] | None:
    """The order of channels that makes one weight the other; None if there is none.

    None as well where the two are equal, or two channels are.
    """
    a, b = (np.moveaxis(np.asarray(each.int_repr()), axis, 0) for each in (ours, theirs))
    if a.shape != b.shape or np.array_equal(a, b):
        return None
    places = {row.tobytes(): index for index, row in enumerate(a)}
    if len(places) < len(a):
        return None
    order = [places.get(row.tobytes(), -1) for row in b]
    return np.asarray(order) if sorted(order) == list(range(len(a))) else None


def permuted(given: Ingredients, order: np.ndarray[Any, Any], axis: int) -> Ingredients:
    """Return these ingredients with their output channels in another order."""
    weight = given.weight
    integers = np.ascontiguousarray(np.take(np.asarray(weight.int_repr()), order, axis))
    return given._replace(
        weight=on_grid_of(integers, weight, order),
        bias=None if given.bias is None else given.bias[order.tolist()],
    )


def on_grid_of(
    integers: np.ndarray[Any, Any], like: Tensor, order: np.ndarray[Any, Any] | None = None
) -> Tensor:
    """Integers on the grid of a quantized tensor, its channels in another order."""
    if not like.qscheme().is_per_channel:
        return make_per_tensor(integers, like.q_scale(), like.q_zero_point(), like.dtype)
    scales = np.asarray(like.q_per_channel_scales())
    zero_points = np.asarray(like.q_per_channel_zero_points())
    if order is not None:
        scales, zero_points = scales[order], zero_points[order]
    axis = like.q_per_channel_axis()
    return make_per_channel(integers, scales, zero_points, axis, like.dtype, like.qscheme())
