"""Grids, functions of single elements, sums, products and softmax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._typing import AnyModule
from ...nn import modules as nn
from ...nn import quantized as nnq
from ...numerics.elementwise import Grid
from ...tensor.base import wrap
from ...tensor.quantized import make_per_tensor
from ...tensor.quantized.create import quantize_per_tensor
from ..plan import Reals, Value
from ..planner import NUMBERS, Planner, grid_of, steps
from ..problems import Unsupported
from ..wire import Wire

__all__: list[str] = []

# To a grid and back


@steps.lowering("quantize_per_tensor")
def quantize(plan: Planner, x: Wire, *unused: object, **others: object) -> Value:
    """Give an input its grid; put what has one on another."""
    grid, found = grid_of(plan.out.value), plan.values[x.name]
    if found.reals is not None:
        return _rounded(plan, found, found.reals)
    if found.origin is not None:
        _give_grid(plan, found.origin, grid)
    if found.grid == grid:
        return plan.same(found, grid)
    assert found.grid is not None
    table = _table_between(plan, found.grid, grid, plan.out.value)
    if (table == NUMBERS).all():
        return plan.same(found, grid)
    labels = "eq-affine-dequantize", "eq-affine-quantize"
    return plan.step("table", [found], *labels, table=table, in_place=True)


def _rounded(plan: Planner, found: Value, reals: Reals) -> Value:
    """Real numbers that are functions of bytes, as a table."""
    out = grid_of(plan.out.value)
    with plan.in_arithmetic():
        real, dtype = wrap(reals.numbers), plan.out.value.dtype
        table = quantize_per_tensor(real, out.scale, out.zero_point, dtype)._array
    labels = "eq-affine-dequantize", "eq-affine-quantize"
    made = plan.step("table", [found], *labels, table=np.array(table), in_place=True)
    plan.steps[-1].path, plan.steps[-1].title = reals.path, reals.title
    return made


def _give_grid(plan: Planner, origin: Value, grid: Grid) -> None:
    """Quantize an input before the model, for which the caller gives integers."""
    if origin.grid not in (None, grid):
        raise Unsupported("an input of the model is put on two grids: quantize it once")
    for each in (*plan.values.values(), *(step.out for step in plan.steps)):
        if each.origin is origin:
            each.grid = grid


def _table_between(plan: Planner, grid: Grid, out: Grid, value: Any) -> Any:
    """The bytes of one grid on another."""
    every = make_per_tensor(NUMBERS.copy(), grid.scale, grid.zero_point, value.dtype)
    with plan.in_arithmetic():
        real = every.dequantize()
        return quantize_per_tensor(real, out.scale, out.zero_point, value.dtype)._array


@steps.lowering(nnq.Quantize)
def quantize_module(plan: Planner, module: AnyModule, x: Wire) -> Value:
    """Quantize."""
    return quantize(plan, x)


@steps.lowering("dequantize", "detach", "clone", "contiguous", "cpu", "float", "_assert")
def same(plan: Planner, x: Wire, *unused: object, **others: object) -> Value:
    """Keep the integers; real numbers are those that they stand for."""
    found = plan.value(x)
    return plan.same(found)


@steps.lowering("to")
def to(plan: Planner, x: Wire, *unused: object, **others: object) -> Value:
    """Keep the integers, if the number format is the same."""
    if plan.out.value.dtype is not x.value.dtype:
        raise Unsupported(f"it changes {x.value.dtype} to {plan.out.value.dtype}")
    return same(plan, x)


@steps.lowering("dropout")
def dropout(plan: Planner, x: Wire, *unused: object, **others: object) -> Value:
    """Keep the integers."""
    return same(plan, x)


@steps.lowering(nnq.DeQuantize, nn.Identity)
@steps.lowering(nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout)
def same_module(plan: Planner, module: AnyModule, x: Wire) -> Value:
    """Keep the integers."""
    if module.training and isinstance(module, nn.Dropout | nn.Dropout1d | nn.Dropout2d):
        raise Unsupported("it is in training mode: call model.eval() first")
    return same(plan, x)


# Functions of single elements


@steps.lowering("relu", nn.ReLU)
def relu(plan: Planner, *args: Any, **unused: object) -> Value:
    """The zero point where an integer is below it."""
    wire = next(each for each in args if isinstance(each, Wire))
    if not wire.is_quantized:
        return plan.function(wire)
    found = plan.integers(wire)
    return plan.step("relu", [found], "eq-quantized-relu", in_place=True)


#: The equations of functions that become tables.
_LABELS = {
    "relu6": "eq-quantized-relu6",
    "hardswish": "eq-hardswish",
    "sigmoid": "eq-logistic",
    "tanh": "eq-tanh",
    "leaky_relu": "eq-leaky-relu",
    "elu": "eq-elu",
    "celu": "eq-elu",
    "hardsigmoid": "eq-hardsigmoid",
    "hardtanh": "eq-quantized-clamp",
    "clamp": "eq-quantized-clamp",
    "gelu": "eq-gelu",
    "prelu": "eq-quantized-prelu",
    "threshold": "eq-threshold",
}
_CLASSES = {
    "relu6": (nn.ReLU6,),
    "hardswish": (nn.Hardswish,),
    "sigmoid": (nn.Sigmoid,),
    "tanh": (nn.Tanh,),
    "leaky_relu": (nn.LeakyReLU,),
    "elu": (nn.ELU,),
    "hardsigmoid": (nn.Hardsigmoid,),
    "hardtanh": (nn.Hardtanh,),
    "gelu": (nn.GELU,),
    "prelu": (nnq.PReLU,),
    "threshold": (nn.Threshold,),
}


def _table(label: str) -> Callable[..., Value]:
    def lower(plan: Planner, *args: Any, **unused: object) -> Value:
        wires = [each for each in args if isinstance(each, Wire)]
        if len(wires) != 1:
            raise Unsupported("it is a function of one tensor here, and has several")
        if not wires[0].is_quantized:
            return plan.function(wires[0])
        found = plan.integers(wires[0])
        table = plan.table(wires[0])
        if (table == NUMBERS).all():
            return plan.same(found, grid_of(plan.out.value))
        return plan.step("table", [found], label, table=table, in_place=True)

    return lower


for _name, _label in _LABELS.items():
    _names = [_name, "clip"] if _name == "clamp" else [_name, *_CLASSES.get(_name, ())]
    steps.lowering(*_names)(_table(_label))


@steps.lowering("silu", "mish", "softplus", "softsign", "selu", "logsigmoid", "exp", "abs", "neg")
@steps.lowering(nn.SiLU, nn.Mish, nn.Softplus, nn.Softsign, nn.SELU, nn.LogSigmoid, nn.CELU)
def real_function(plan: Planner, *args: Any, **unused: object) -> Value:
    """A function of real numbers between two grids."""
    wires = [each for each in args if isinstance(each, Wire)]
    if wires[0].is_quantized:
        raise Unsupported(steps.missing)
    return plan.function(wires[0])


# Sums and products


def _of_two(kind: str, label: str, relu: bool = False) -> Callable[..., Value]:
    def lower(plan: Planner, a: Any, b: Any, *unused: object, **others: object) -> Value:
        if not (isinstance(a, Wire) and isinstance(b, Wire)):
            scalar = "eq-add-scalar" if kind == "add" else "eq-mul-scalar"
            return _table(scalar)(plan, a, b)
        pair = [plan.integers(a), plan.integers(b)]
        flat = all(each.shape == plan.out.shape for each in pair)
        return plan.step(kind, pair, label, relu=relu, in_place=flat)

    return lower


for _kind, _label in {"add": "eq-quantized-add", "mul": "eq-quantized-mul"}.items():
    for _suffix in ("", "_relu"):
        _lower = _of_two(_kind, _label, bool(_suffix))
        steps.lowering(f"{_kind}{_suffix}", f"{_kind}_scalar{_suffix}", f"i{_kind}")(_lower)


@steps.lowering("softmax")
def softmax(plan: Planner, x: Wire, dim: Any = None, *unused: object, **others: object) -> Value:
    """Exponentials that sum to one along an axis."""
    if dim is None:
        raise Unsupported("softmax without dim: say along which axis")
    found = plan.integers(x)
    if not plan.out.is_quantized:
        raise Unsupported("its result is no quantized tensor: give it a qconfig")
    return plan.step("softmax", [found], "eq-float-softmax", dim=int(dim) % len(found.shape))


@steps.lowering(nn.Softmax)
def softmax_module(plan: Planner, module: AnyModule, x: Wire) -> Value:
    """Softmax along the axis of the module."""
    return softmax(plan, x, module.dim)
