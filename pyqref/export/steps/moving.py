"""Operations that move integers and compute nothing, and joining."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import arithmetic
from ..._typing import AnyModule
from ...nn import modules as nn
from ...numerics import elementwise
from ...tensor.arguments import described
from ...tensor.base import wrap
from ..plan import Value
from ..planner import NUMBERS, Planner, grid_of, steps
from ..problems import Unsupported
from ..table import title
from ..wire import Wire, wires_of

__all__: list[str] = []


@steps.lowering("view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze")
def reshape(plan: Planner, x: Wire, *unused: object, **others: object) -> Value:
    """Another shape: the same integers in the same order."""
    return plan.same(plan.value(x))


@steps.lowering(nn.Flatten, nn.Unflatten)
def reshape_module(plan: Planner, module: AnyModule, x: Wire) -> Value:
    """Another shape."""
    return reshape(plan, x)


def _moved(plan: Planner, x: Wire) -> Any:
    """One step for each result; each says for every place along each axis where it reads."""
    found = plan.value(x)
    places = wrap(np.arange(math.prod(x.shape)).reshape(x.shape))
    results = plan.replayed(places, x)
    single = isinstance(plan.out, Wire)
    pairs = zip([results] if single else results, wires_of(plan.out), strict=True)
    made = [_step(plan, found, result, wire) for result, wire in pairs]
    return made[0] if single else made


def _step(plan: Planner, found: Value, result: Any, wire: Wire) -> Value:
    index = np.asarray(result._array)
    if tuple(index.shape) != wire.shape:
        raise Unsupported(f"its result has no shape of its own: {described(wire.shape)}")
    flat = index.reshape(-1)
    if flat.size == math.prod(found.shape) and (flat == np.arange(flat.size)).all():
        return Value(plan.path, wire.shape, found.grid, found.buffer, found.origin)
    index = index.reshape([n for n in index.shape if n > 1] or [1])
    if index.ndim > 4:
        raise Unsupported("its result has more than four axes that are longer than one")
    first = int(index[(0,) * index.ndim])
    axes = []
    for axis in range(index.ndim):
        line = index[(0,) * axis + (slice(None),) + (0,) * (index.ndim - axis - 1)]
        axes.append(line - (first if axis else 0))
    if not (index == sum(np.ix_(*axes))).all():
        raise Unsupported("it moves elements in no regular way")
    labels = ("eq-quantized-nearest",) if _is_resize(plan) else ()
    return plan.step("move", [found], *labels, out=wire, axes=axes)


def _is_resize(plan: Planner) -> bool:
    return title(plan.operation[0]) in ("interpolate", "upsample", "upsample_nearest", "Upsample")


@steps.lowering("permute", "transpose", "swapaxes", "t", "getitem", "__getitem__", "select")
@steps.lowering("narrow", "expand", "expand_as", "flip", "chunk", "split", "tensor_split")
@steps.lowering("unbind", "channel_shuffle", "pixel_shuffle", "pixel_unshuffle")
def move(plan: Planner, x: Wire, *unused: object, **others: object) -> Any:
    """Integers at other places."""
    return _moved(plan, x)


@steps.lowering(nn.ChannelShuffle, nn.PixelShuffle, nn.PixelUnshuffle)
def move_module(plan: Planner, module: AnyModule, x: Wire) -> Any:
    """Integers at other places."""
    return _moved(plan, x)


@steps.lowering("interpolate", "upsample", "upsample_nearest")
def interpolate(
    plan: Planner,
    x: Wire,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    *unused: object,
    **others: object,
) -> Any:
    """Another size, by the nearest element."""
    if mode not in ("nearest", "nearest-exact"):
        raise Unsupported(f"mode={mode!r} has no C: use 'nearest'")
    if plan.arithmetic is None and not x.is_quantized:
        plan.integers(x)
    return _moved(plan, x)


@steps.lowering(nn.Upsample, nn.UpsamplingNearest2d, nn.UpsamplingBilinear2d)
def upsample(plan: Planner, module: AnyModule, x: Wire) -> Any:
    """Another size."""
    return interpolate(plan, x, mode=module.mode)


@steps.lowering("cat", "concat", "cat_relu")
def cat(plan: Planner, tensors: Any, dim: int = 0, *unused: object, **others: int) -> Value:
    """Tensors side by side on the grid of the result."""
    axis = int(others.get("axis", dim) or 0) % len(plan.out.shape)
    wires = list(tensors)
    if any(not isinstance(each, Wire) for each in wires):
        raise Unsupported("one of its tensors is a constant")
    inputs = [plan.value(each) for each in wires]
    tables = [_table(plan, each, wires) for each in wires]
    return plan.step("join", inputs, "eq-quantized-cat", axis=axis, tables=tables)


def _table(plan: Planner, wire: Wire, wires: list[Wire]) -> np.ndarray | None:
    """Return the table for the bytes of one tensor, or None if they stay."""
    if not wire.is_quantized:
        grid = plan.value(wire).grid
        origin = plan.value(wire).origin
        if any((v.grid, v.origin) != (grid, origin) for v in map(plan.value, wires)):
            raise Unsupported("its real numbers stand on several grids: quantize them first")
        return None
    grid = grid_of(wire.value)
    out = grid_of(plan.out.value)
    made: Any = NUMBERS
    if grid[:2] != out[:2]:
        if plan.arithmetic is not None:
            made = arithmetic.get(plan.arithmetic).rescale(NUMBERS, grid, out)
        else:
            made = elementwise.cat([NUMBERS], [grid], 0, out)
    if title(plan.operation[0]) == "cat_relu":
        made = np.maximum(made, out.zero_point)
    return None if (made == NUMBERS).all() else np.asarray(made, np.uint8)
