"""Why one layer gives other integers in two models, one ingredient after the other."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from ..nn.modules import Module
from ..tensor import Tensor
from .composed import set_weights
from .decisions import ARITHMETIC, decided
from .float_forms import packed_weight_of
from .report import LayerDifference
from .running import Call
from .stages import Stages, TensorQParams, grid_of
from .values import as_float, is_quantized, leaves
from .variants import (
    Ingredients,
    ingredients_of,
    on_grid_of,
    permutation,
    permuted,
    variant,
    with_grid_of,
)

__all__ = ["Seen", "difference", "on_grid"]

INPUT = "its input already differed"
PERMUTED = "channels permuted"
WEIGHT = "another weight"
BIAS = "another bias"
GRID = "another scale or zero point"
CLAMP = "clamp range"
DYNAMIC = "its input rounded as it runs"

Array = np.ndarray[Any, Any]


class Seen(NamedTuple):
    """One call of a model."""

    call: Call
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any


def on_grid(values: object, grid: TensorQParams | None) -> Any:
    """A result on the grid of the other one, if that one alone is quantized."""
    result = leaves(values)[0]
    if grid is None or is_quantized(result) or grid.axis is not None:
        return result
    return Stages.on_grid(result, grid)


def _numbers(value: Any) -> Array:
    """The integers of a quantized tensor; the numbers of a float one."""
    if is_quantized(value):
        return np.asarray(value.int_repr()).astype(np.int64)
    return np.asarray(value.detach(), dtype=np.float64)


def difference(ours: Seen, theirs: Seen) -> LayerDifference:
    """Compare one layer of two models, and decide why it differs."""
    first, last = leaves(ours.result)[0], leaves(theirs.result)[0]
    grid = next((grid_of(each) for each in (last, first) if is_quantized(each)), None)
    before, after = _numbers(on_grid(first, grid)), _numbers(on_grid(last, grid))
    differs = ~((before == after) | (np.isnan(before) & np.isnan(after)))
    causes: dict[str, int] = {}
    if differs.any():
        causes = _causes(ours, theirs, grid, before, after, differs)
    return LayerDifference(
        theirs.call.key[0] or "(model)", before, after, differs, causes, grid is not None
    )


def _causes(
    ours: Seen,
    theirs: Seen,
    grid: TensorQParams | None,
    before: Array,
    after: Array,
    differs: Array,
) -> dict[str, int]:
    """Count the elements that differ because of each ingredient."""
    values, names = [before], []
    for name, result in _steps(ours, theirs, grid):
        number = _numbers(on_grid(result, grid))
        if number.shape == before.shape and not np.array_equal(number, values[-1], equal_nan=True):
            values.append(number)
            names.append(name)
    counts: dict[str, int] = {}
    arithmetic = not np.array_equal(values[-1], after, equal_nan=True)
    moved = [np.abs(b - a) for a, b in zip(values, [*values[1:], after], strict=True)]
    if not arithmetic:
        moved = moved[:-1]
    largest = np.argmax(np.nan_to_num(np.stack(moved), nan=np.inf), axis=0)
    for index, name in enumerate(names):
        count = int(np.count_nonzero((largest == index) & differs))
        counts[name] = counts.get(name, 0) + count
    left = (largest == len(names)) & differs
    if arithmetic and left.any():
        reasons = np.full(before.shape, len(ARITHMETIC) - 1)
        if grid is not None and grid.axis is None:
            given = ingredients_of(theirs.call, theirs.args, theirs.kwargs)
            how = theirs.call, theirs.args, theirs.kwargs
            reasons = decided(*how, given, grid, values[-1], after)
        names_of = list(ARITHMETIC)
        if grid is None and (_is_dynamic(ours.call.what) or _is_dynamic(theirs.call.what)):
            names_of[-1] = DYNAMIC
        for index, name in enumerate(names_of):
            count = int(np.count_nonzero(left & (reasons == index)))
            counts[name] = counts.get(name, 0) + count
    return {name: count for name, count in counts.items() if count}


def _steps(ours: Seen, theirs: Seen, grid: TensorQParams | None) -> Any:
    """Results of the layer of one model that gets the ingredients of the other, one by one."""
    call = ours.call
    args, kwargs = _with_inputs_of(ours, theirs)
    yield INPUT, call.run(*args, **kwargs)
    one = ingredients_of(call, ours.args, ours.kwargs)
    other = ingredients_of(theirs.call, theirs.args, theirs.kwargs)
    if one is None or other is None:
        yield from _steps_without_weight(call, args, kwargs, theirs, other)
        return
    if tuple(one.weight.shape) != tuple(other.weight.shape):
        return
    for name, given in _exchanged(one, other, 1 if _transposed(theirs) else 0):
        yield name, variant(call, args, kwargs, given)
    if _kind(call.what) != _kind(theirs.call.what):
        given = other._replace(engine=one.engine)
        yield CLAMP, variant(theirs.call, theirs.args, theirs.kwargs, given)


def _exchanged(one: Ingredients, other: Ingredients, axis: int) -> Any:
    """The ingredients on the way from one to the other."""
    now = one
    order = permutation(one.weight, other.weight, axis)
    if order is not None:
        now = permuted(now, order, axis)
        yield PERMUTED, now
    integers = np.ascontiguousarray(np.asarray(other.weight.int_repr()))
    if not np.array_equal(np.asarray(now.weight.int_repr()), integers):
        now = now._replace(weight=on_grid_of(integers, now.weight))
        yield WEIGHT, now
    now = now._replace(weight=other.weight)
    yield GRID, now
    now = now._replace(bias=other.bias)
    yield BIAS, now
    now = now._replace(scale=other.scale, zero_point=other.zero_point)
    yield GRID, now
    yield CLAMP, now._replace(ends=other.ends)


def _steps_without_weight(
    call: Call, args: Any, kwargs: Any, theirs: Seen, other: Ingredients | None
) -> Any:
    if _has_several(call.what) and _has_several(theirs.call.what):
        yield from _steps_of_several(call, args, kwargs, theirs)
        return
    if other is not None:  # a fake-quantized layer: its weight is made of real numbers
        stages = Stages(theirs.call, theirs.args, theirs.result, None)
        yield WEIGHT, stages.exact("weight rounding", theirs.call, theirs.args, theirs.kwargs)
        return
    result = leaves(theirs.result)[0]
    if is_quantized(result) and not result.qscheme().is_per_channel and _has_grid(call):
        grid = float(result.q_scale()), int(result.q_zero_point())
        yield GRID, with_grid_of(call, args, kwargs, *grid)


def _has_several(what: Any) -> bool:
    """Return True for a dynamic layer of several weights, such as an LSTM."""
    if not isinstance(what, Module) or not _is_dynamic(what):
        return False
    weights: Any = getattr(what, "_weight_bias", None)
    return weights is not None and isinstance(weights(), dict)


def _steps_of_several(call: Call, args: Any, kwargs: Any, theirs: Seen) -> Any:
    """A dynamic layer that gets the integers, the scales and the biases of the other one."""
    layer: Any = copy.deepcopy(call.what)
    layer.__dict__.pop("forward", None)
    ours, others = layer._weight_bias(), theirs.call.what._weight_bias()
    moved = {
        name: on_grid_of(np.ascontiguousarray(np.asarray(each.int_repr())), ours["weight"][name])
        if is_quantized(each)
        else each
        for name, each in others["weight"].items()
    }
    for name, weights, biases in (
        (WEIGHT, moved, ours["bias"]),
        (GRID, others["weight"], ours["bias"]),
        (BIAS, others["weight"], others["bias"]),
    ):
        set_weights(layer, weights, biases)
        yield name, type(layer).forward(layer, *args, **kwargs)


def _has_grid(call: Call) -> bool:
    """Return True if an operation has a grid that can be set."""
    owner = getattr(call.what, "__self__", call.what)
    home = type(owner).__module__ if isinstance(owner, Module) else ""
    if not home and callable(owner):
        home = getattr(owner, "__module__", "") or ""
    return home.startswith(("pyqref.nn.quantized", "pyqref.nn.intrinsic.quantized", "pyqref.ops"))


def _is_dynamic(what: Any) -> bool:
    return ".dynamic." in f"{type(what).__module__}." or "dynamic" in getattr(what, "__name__", "")


def _transposed(seen: Seen) -> bool:
    packed = packed_weight_of(seen.call.what, seen.args)
    return bool(getattr(packed, "transposed", False))


def _kind(what: Any) -> str:
    return type(what).__name__ if isinstance(what, Module) else str(getattr(what, "__name__", what))


def _with_inputs_of(ours: Seen, theirs: Seen) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of one call with the tensors of the other, as it takes them."""
    mine = [each for each in leaves((ours.args, ours.kwargs)) if each.ndim]
    others = [each for each in leaves((theirs.args, theirs.kwargs)) if each.ndim]
    if len(mine) != len(others):
        return ours.args, ours.kwargs
    pairs = {id(m): _like(o, m) for m, o in zip(mine, others, strict=True)}

    def exchanged(value: Any) -> Any:
        if isinstance(value, Tensor):
            return pairs.get(id(value), value)
        if isinstance(value, (list, tuple)):
            return type(value)(map(exchanged, value))
        if isinstance(value, dict):
            return {name: exchanged(each) for name, each in value.items()}
        return value

    return exchanged(ours.args), exchanged(ours.kwargs)


def _like(value: Any, like: Any) -> Any:
    if is_quantized(like) == is_quantized(value):
        return value
    if not is_quantized(like):
        return as_float(value)
    if like.qscheme().is_per_channel:
        return like
    return on_grid(value, grid_of(like))
