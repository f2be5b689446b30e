"""Functions of single elements, sums and products, on real numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import dtypes
from ..._typing import Node
from ...nn import modules as nn
from ...tensor import abs as abs_
from ...tensor import (
    add,
    amax,
    amin,
    ceil,
    clamp,
    cos,
    div,
    eq,
    erf,
    exp,
    floor,
    gt,
    log,
    logical_and,
    logical_or,
    lt,
    maximum,
    mean,
    minimum,
    mul,
    neg,
    reciprocal,
    sign,
    sin,
    sqrt,
    sub,
    where,
)
from ...tensor import pow as pow_
from ...tensor import round as round_
from ...tensor import sum as sum_
from .importer import Given, Importer, Made, Unsupported, importing
from .layers import tensor_of
from .source import Operator

__all__: list[str] = []

_MODULES: dict[str, Any] = {
    "Relu": nn.ReLU,
    "Sigmoid": nn.Sigmoid,
    "Tanh": nn.Tanh,
    "HardSwish": nn.Hardswish,
    "Softplus": nn.Softplus,
    "Softsign": nn.Softsign,
    "Mish": nn.Mish,
}
_FUNCTIONS: dict[str, Any] = {
    "Exp": exp,
    "Log": log,
    "Sqrt": sqrt,
    "Abs": abs_,
    "Neg": neg,
    "Erf": erf,
    "Reciprocal": reciprocal,
    "Floor": floor,
    "Ceil": ceil,
    "Round": round_,
    "Sign": sign,
    "Sin": sin,
    "Cos": cos,
}
_OF_TWO: dict[str, Any] = {
    "Sub": sub,
    "Mul": mul,
    "Div": div,
    "Pow": pow_,
    "Equal": eq,
    "Less": lt,
    "Greater": gt,
    "And": logical_and,
    "Or": logical_or,
}
#: Of TensorProto.DataType.
TYPES = {
    1: dtypes.float32,
    2: dtypes.uint8,
    3: dtypes.int8,
    6: dtypes.int32,
    7: dtypes.int64,
    9: dtypes.bool_,
    10: dtypes.float16,
    11: dtypes.float64,
}


def _enter() -> None:
    for kind, module in _MODULES.items():
        importing(kind)(_layer(module))
    for kind, function in _FUNCTIONS.items():
        importing(kind)(_call(function))
    for kind, function in _OF_TWO.items():
        importing(kind)(_call(function))


def _layer(kind: Any) -> Callable[..., Any]:
    def become(importer: Importer, operator: Operator, x: Given) -> Any:
        return importer.module(kind(), importer.node(x))

    return become


def _call(function: Any) -> Callable[..., Any]:
    def become(importer: Importer, operator: Operator, *given: Given) -> Any:
        if all(each.array is not None for each in given):
            parts = [tensor_of(each.array, np.asarray(each.array).dtype) for each in given]
            return Given(array=function(*parts).numpy())
        return importer.call(function, *(_number_or_node(importer, each) for each in given))

    return become


def _number_or_node(importer: Importer, given: Given) -> Any:
    """A constant of one number as that number: such operations need no grid."""
    if given.array is not None and np.size(given.array) == 1 and np.ndim(given.array) == 0:
        return np.asarray(given.array).item()
    return importer.node(given)


_enter()


@importing("HardSigmoid")
def hardsigmoid(importer: Importer, operator: Operator, x: Given) -> Made:
    """``clip(alpha x + beta, 0, 1)``."""
    alpha, beta = (operator.attributes.get(name, n) for name, n in (("alpha", 0.2), ("beta", 0.5)))
    if abs(alpha - 1 / 6) < 1e-7 and beta == 0.5:
        return importer.module(nn.Hardsigmoid(), importer.node(x))
    line = importer.call(add, importer.call(mul, importer.node(x), alpha), beta)
    return importer.call(clamp, line, 0.0, 1.0)


@importing("LeakyRelu")
def leaky_relu(importer: Importer, operator: Operator, x: Given) -> Made:
    """``x``, or a part of it where it is negative."""
    return importer.module(nn.LeakyReLU(operator.attributes.get("alpha", 0.01)), importer.node(x))


@importing("Elu")
def elu(importer: Importer, operator: Operator, x: Given) -> Made:
    """``x``, or an exponential less one where it is negative."""
    return importer.module(nn.ELU(operator.attributes.get("alpha", 1.0)), importer.node(x))


@importing("Gelu")
def gelu(importer: Importer, operator: Operator, x: Given) -> Made:
    """``x`` times the normal distribution function."""
    return importer.module(
        nn.GELU(operator.attributes.get("approximate", "none")), importer.node(x)
    )


@importing("PRelu")
def prelu(importer: Importer, operator: Operator, x: Given, slope: Given) -> Made:
    """``x``, or a part of it where it is negative, learned for each channel."""
    weight = importer.constant(slope, "the slope").reshape(-1)
    layer = nn.PReLU(weight.size)
    layer.weight.data = tensor_of(weight)
    return importer.module(layer, importer.node(x))


@importing("Softmax", "LogSoftmax")
def softmax(importer: Importer, operator: Operator, x: Given) -> Made:
    """Exponentials that sum to one along an axis."""
    kind = nn.Softmax if operator.kind == "Softmax" else nn.LogSoftmax
    return importer.module(kind(operator.attributes.get("axis", -1)), importer.node(x))


@importing("Clip")
def clip(importer: Importer, operator: Operator, x: Given, *ends: Given) -> Made:
    """Clip to one end or two; integers stay on their grid."""
    values = operator.attributes
    limits: list[Any] = [values.get("min"), values.get("max")]
    for n, each in enumerate(ends):
        if each.array is not None:
            limits[n] = np.asarray(each.array).item()
        elif each.node is not None:
            raise Unsupported("an end that is computed while the model runs")
    if x.grid is not None:
        scale, zero_point = float(x.grid.scale), int(x.grid.zero_point)
        limits = [None if each is None else (each - zero_point) * scale for each in limits]
        return Given(importer.call(clamp, importer.node(x), *limits), grid=x.grid)
    if limits == [0.0, 6.0]:
        return importer.module(nn.ReLU6(), importer.node(x))
    return importer.call(clamp, importer.node(x), *limits)


@importing("Max", "Min")
def largest(importer: Importer, operator: Operator, *given: Given) -> Made:
    """The largest or smallest of several tensors."""
    function = maximum if operator.kind == "Max" else minimum
    nodes = [importer.node(each) for each in given]
    result = nodes[0]
    for each in nodes[1:]:
        result = importer.call(function, result, each)
    return result


@importing("Sum")
def several(importer: Importer, operator: Operator, *given: Given) -> Made:
    """The sum of several tensors."""
    nodes = [importer.node(each) for each in given]
    result = nodes[0]
    for each in nodes[1:]:
        result = importer.call(add, result, each)
    return result


@importing("Where")
def chosen(importer: Importer, operator: Operator, *given: Given) -> Made:
    """Elements of one tensor or another."""
    return importer.call(where, *(importer.node(each) for each in given))


@importing("Cast")
def cast(importer: Importer, operator: Operator, x: Given) -> Node | Given:
    """Another number format."""
    target = TYPES.get(operator.attributes["to"])
    if target is None:
        raise Unsupported("its number format")
    if x.array is not None:
        return Given(array=np.asarray(x.array).astype(target.numpy_dtype))
    return importer.method("to", importer.stored(x), target)


def _reduction(function: Any) -> Callable[..., Any]:
    def become(importer: Importer, operator: Operator, x: Given, *axes: Given) -> Any:
        values = operator.attributes
        dims = values.get("axes")
        if axes and axes[0].array is not None:
            dims = [int(each) for each in importer.constant(axes[0], "axes")]
        keep = bool(values.get("keepdims", 1))
        if dims is None:
            dims = list(range(importer.rank(operator.inputs[0])))
        return importer.call(function, importer.node(x), tuple(dims), keep)

    return become


importing("ReduceMean")(_reduction(mean))
importing("ReduceSum")(_reduction(sum_))
importing("ReduceMax")(_reduction(amax))
importing("ReduceMin")(_reduction(amin))


@importing("Dropout", "Identity")
def same(importer: Importer, operator: Operator, x: Given, *unused: Given) -> list[Given]:
    """The input itself."""
    return [x, Given()]


@importing("Constant")
def constant(importer: Importer, operator: Operator) -> Given:
    """A tensor of the file."""
    values = operator.attributes
    for name in ("value", "value_float", "value_floats", "value_int", "value_ints"):
        if name in values:
            kind = np.float32 if "float" in name else np.int64
            array = values[name] if name == "value" else np.asarray(values[name], kind)
            return Given(array=np.asarray(array))
    raise Unsupported("a constant of texts, or a sparse one")
