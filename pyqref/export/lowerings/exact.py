"""Sums, products, functions and means with which every runtime gives the same integers.

The style ``"exact"`` computes them as tables, or as sums of whole numbers and a few roundings.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, Union

import numpy as np

from ... import arithmetic
from ..._typing import TensorOrNumber
from ...arithmetic.onnx_operations import is_constant
from ...numerics.elementwise import Grid
from ...numerics.pooling import averaged_windows
from ...numerics.requantize import accumulator_scale
from ...quantization.diagnostics import NoEffectWarning
from ...tensor import Tensor
from ...tensor.quantized.tensor import make_quantized
from ..maker import Maker
from ..table import title
from ..wire import Wire, is_tensor
from .whole import requantized

__all__ = ["function_of_one", "function_of_two", "matrix_product", "window_mean", "whole_mean"]

#: A function, a module, or the name of a method.
Operation = Callable[..., Any] | str
Operand: TypeAlias = Union[Wire, TensorOrNumber]  # noqa: UP007 (TensorOrNumber is Any at run time)
#: The arithmetic whose integers the file gives.
NAME = "onnx"
#: Functions and modules that compute each element from one: names in small letters, without "_".
FUNCTIONS = frozenset(
    (
        *("sigmoid", "tanh", "hardswish", "hardsigmoid", "leakyrelu", "elu", "gelu", "silu"),
        *("mish", "softplus", "softsign", "add", "iadd", "sub", "isub", "mul", "imul", "div"),
        *("truediv", "addrelu", "mulrelu", "addscalar", "addscalarrelu", "mulscalar"),
        "mulscalarrelu",
    )
)


def function_of_one(
    make: Maker, what: Operation, args: Sequence[object], kwargs: Mapping[str, object]
) -> str | None:
    """The 256 results of a function of one element as a table, and a look-up.

    None where the operation is no such function, or its input or result is not quantized.
    """
    out, given = make.out, [*args, *kwargs.values()]
    wires = [each for each in given if isinstance(each, Wire)]
    if title(what).replace("_", "").lower() not in FUNCTIONS or len(wires) != 1:
        return None
    (x,) = wires
    if not (x.is_quantized and out.is_quantized) or any(map(is_tensor, given)):
        return None

    def placed(each: object) -> object:
        return make_quantized(_every(x), x.grid) if each is x else each

    table = _computed(what, tuple(map(placed, args)), {n: placed(e) for n, e in kwargs.items()})
    out.scale, out.zero_point = make.grid(out.grid)
    index = make.node("Cast", [x.name], to=6)
    return make.node("Gather", [make.constant("table", table), index])


def _every(x: Wire) -> np.ndarray:
    """All integers of a wire, in the order of their bytes: -1 is the last."""
    return np.arange(256, dtype=np.uint8).view(x.grid.grid.storage)


def _computed(what: Operation, args: Sequence[object], kwargs: Mapping[str, object]) -> np.ndarray:
    """The integers that an operation gives in the arithmetic."""
    with arithmetic.use(NAME), warnings.catch_warnings():
        warnings.simplefilter("ignore", NoEffectWarning)  # said when the model runs
        if isinstance(what, str):
            made = getattr(args[0], what)(*args[1:], **kwargs)
        else:
            made = what(*args, **kwargs)
    return np.asarray(made.int_repr().numpy())


def function_of_two(make: Maker, method: str, x: Operand, y: Operand, relu: bool) -> str | None:
    """The 65,536 results of a sum or product of two elements as a table, and a look-up.

    None where one of the three tensors is not quantized.

    Parameters
    ----------
    method
        Of :class:`pyqref.arithmetic.Arithmetic`: ``"add"`` or ``"mul"``.
    """
    out = make.out
    pair = [each for each in (x, y) if isinstance(each, Wire | Tensor) and each.is_quantized]
    if len(pair) < 2 or not out.is_quantized:
        return None
    first, second = pair
    a_grid, b_grid, out_grid = _grid(first), _grid(second), _grid(out)
    a, b = (np.arange(256, dtype=np.uint8).view(each.storage) for each in (a_grid, b_grid))
    a = a[:, None]
    if method != "add" or not is_constant(tuple(first.shape), out.shape):
        a, b = np.broadcast_arrays(a, b)  # a column would be exchanged with the row (eq-onnx-add)
    table = np.empty(65536, out_grid.storage)
    place = a.astype(np.int64) * 256 + b  # a negative one counts from the end, as in Gather
    table[place] = getattr(arithmetic.get(NAME), method)(a, a_grid, b, b_grid, out_grid, relu)
    out.scale, out.zero_point = make.grid(out.grid)
    row, column = (make.node("Cast", [_integers(make, each)], to=6) for each in pair)
    row = make.node("Mul", [row, make.scalar("columns", 256, np.int32)])
    index = make.node("Add", [row, column])
    return make.node("Gather", [make.constant("table", table), index])


def _grid(value: Wire | Tensor) -> Grid:
    """Scale, zero point and range of a wire or of a tensor."""
    grid: Grid = (value.grid if isinstance(value, Wire) else value._quantizer).grid
    return grid


def _integers(make: Maker, value: Wire | Tensor) -> str:
    """The name of the integers of a wire or of a tensor of the model."""
    if isinstance(value, Wire):
        return value.name
    return make.constant("constant", value.int_repr().numpy())


def matrix_product(make: Maker, x: Operand, y: Operand) -> str | None:
    """The product of two quantized matrices (``eq-requantize-onnx``); None if they are real."""
    out = make.out
    if not (isinstance(x, Wire) and isinstance(y, Wire)):
        return None
    if not (x.is_quantized and y.is_quantized and out.is_quantized):
        return None
    out.scale, out.zero_point = make.grid(out.grid)
    inputs = [x.name, y.name, x.zero_point, y.zero_point]
    unit = accumulator_scale(x.grid.scale, y.grid.scale)
    return requantized(make, make.node("MatMulInteger", inputs), np.asarray(unit))


def whole_mean(make: Maker, x: Wire, axes: Sequence[int], keepdims: bool) -> str | None:
    """The mean over the last axes (``eq-onnx-global-average``); None over others."""
    rank, out, scale = len(x.shape), make.out, np.float32(x.grid.scale)
    if sorted(axes) != list(range(rank - len(axes), rank)) or set(axes) & set(x.dynamic):
        return None
    count = math.prod(x.shape[axis] for axis in axes)
    out.scale, out.zero_point = make.grid(out.grid)
    total = make.node("Cast", [x.name], to=6)
    total = make.node("ReduceSum", [total, make.shape(*axes)], keepdims=int(keepdims))
    zeros = make.scalar("zeros", count * x.grid.zero_point, np.int32)
    total = make.node("Cast", [make.node("Sub", [total, zeros])], to=1)
    scaled = make.node("Mul", [total, make.scalar("multiplier", scale / (scale * count))])
    return make.node("QuantizeLinear", [scaled, make.scalar("one", 1), out.zero_point])


def window_mean(
    make: Maker,
    x: Wire,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> str | None:
    """The mean of windows, one place after the other (``eq-onnx-average``)."""
    sizes, outs, out = x.shape[2:], make.out.shape[2:], make.out
    axes = range(2, len(x.shape))
    if tuple(kernel) == tuple(sizes) and not any(padding):
        return whole_mean(make, x, axes, True)
    how = kernel, stride, padding, ceil_mode, count_include_pad
    count = averaged_windows(np.zeros((1, 1, *sizes), np.uint8), 0, *how)[1]
    spans = [(n - 1) * step + 1 for n, step in zip(outs, stride, strict=True)]
    after = [
        max(0, span + taps - 1 - size - before)
        for span, taps, size, before in zip(spans, kernel, sizes, padding, strict=True)
    ]
    real = make.real(x)
    if any(padding) or any(after):
        pads = make.shape(0, 0, *padding, 0, 0, *after)
        real = make.node("Pad", [real, pads, make.scalar("value", 0)])
    total = ""
    for start in np.ndindex(*kernel):
        ends = [first + span for first, span in zip(start, spans, strict=True)]
        places = [make.shape(*each) for each in (start, ends, axes, stride)]
        tap = make.node("Slice", [real, *places])
        total = make.node("Add", [total, tap]) if total else tap
    out.scale, out.zero_point = make.grid(out.grid)
    mean = make.node("Div", [total, make.constant("count", np.asarray(count, np.float32))])
    scaled = make.node("Div", [mean, make.scalar("scale", x.grid.scale)])
    zero_point = np.asarray(x.grid.zero_point)
    shifted = make.node("Add", [scaled, make.scalar("shift", zero_point)])
    zero = make.scalar("zero", 0, _grid(out).storage)
    return make.node("QuantizeLinear", [shifted, make.scalar("one", 1), zero])
