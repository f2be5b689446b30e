"""Products of two activations, softmax, extremes and order."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics import float_softmax
from ...tape.reduction import Std
from ..draft import Draft, explains
from ..functions import function
from ..record import Value
from ..steps import Operand
from .grids import on_grid
from .moves import moved, reduced


@explains("quantized.matmul")
def matmul(draft: Draft) -> None:
    """Sums of products of two inputs, quantized like any real number."""
    a, b = draft.argument("qa"), draft.argument("qb")
    steps, out = draft.steps, draft.output
    left = np.arange(a.array.size).reshape(a.shape)
    right = np.arange(b.array.size).reshape(b.shape)
    index = list(draft.index)
    column: Any = index.pop() if len(b.shape) > 1 else None
    row: Any = index.pop() if len(a.shape) > 1 else None
    rows = _batch(left, index, len(a.shape))
    columns = _batch(right, index, len(b.shape))
    x = draft.elements("a", a, rows if row is None else rows[row])
    w = draft.elements("b", b, columns if column is None else columns[:, column])
    total = steps.add(
        "sum of products",
        "dot",
        x,
        Operand("z_a", a.zero_point),
        w,
        Operand("z_b", b.zero_point),
        symbol="t",
    )
    s_a = steps.single("scale", "s_a", a.scale)
    s_b = steps.single("scale", "s_b", b.scale)
    unit = steps.add("unit of the products", "times32", s_a, s_b, symbol="A")
    single = steps.add("as float32", "single", total, symbol="f")
    real = steps.add(
        "in real numbers", "times32", single, unit, symbol="y", label="eq-quantized-matmul"
    )
    given = x.value[None], a.quantizer.grid, w.value[:, None], b.quantizer.grid
    draft.elsewhere = lambda model, note: model.matmul(*given, out.quantizer.grid, note)
    draft.dequantized(on_grid(draft, real, out), out)


def _batch(positions: np.ndarray, index: list[int], ndim: int) -> np.ndarray:
    """The matrix, or the vector, that takes part at an index of the leading axes."""
    own = positions.shape[:-2] if ndim > 1 else ()
    kept = index[len(index) - len(own) :]
    at = tuple(0 if size == 1 else place for size, place in zip(own, kept, strict=True))
    matrix: np.ndarray = positions[at]
    return matrix


def _softmax_at(row: Any, place: float) -> np.ndarray:
    powers = float_softmax.softmax(np.reshape(row, (1, -1)))
    return powers[0, int(place) : int(place) + 1]


function("softmax", _softmax_at)


@explains("quantized.softmax")
def softmax(draft: Draft) -> None:
    """Dequantize the row, divide one exponential by the sum of all, quantize."""
    x, axis = draft.argument("qx"), int(draft.argument("dim")) % max(len(draft.index), 1)
    chosen: list[Any] = list(draft.index)
    chosen[axis] = slice(None)
    places = np.arange(x.array.size).reshape(x.shape)[tuple(chosen)]
    y = _of_row(draft, x, places, "softmax", float(draft.index[axis]), label="eq-float-softmax")
    draft.dequantized(on_grid(draft, y, draft.output), draft.output)


def _of_row(
    draft: Draft, x: Value, places: np.ndarray, name: str, parameter: float, label: str = ""
) -> Operand:
    """A function of a row of real numbers."""
    steps = draft.steps
    row = draft.elements("x", x, places)
    s = steps.single("scale", "s", x.scale)
    z = Operand("z", x.zero_point)
    reals = steps.add(
        "real numbers", "each dequantized", row, z, s, symbol="y", label="eq-affine-dequantize"
    )
    named, more = Operand(name, name), Operand("p", np.float64(parameter))
    return steps.add(f"{name} of them", "function", named, reals, more, symbol="g", label=label)


def _std(row: Any, correction: float) -> np.ndarray:
    node = Std()
    node.needs = (False,) * 4
    return np.atleast_1d(node.forward(np.asarray(row), (0,), False, correction))


function("std", _std)


@explains("Std")
def std(draft: Draft) -> None:
    """Explain a standard deviation of real numbers, quantized again."""
    given, x = draft.record.arguments, draft.argument("tensor")
    places = reduced(x, draft.index, tuple(given["axes"]), bool(given["keepdim"]))
    y = _of_row(draft, x, places, "std", float(given["correction"]))
    draft.dequantized(on_grid(draft, y, draft.output), draft.output)


@explains("Amax", "Amin", "Max", "Min", "MaxDim", "MinDim")
def extreme(draft: Draft) -> None:
    """The largest or the smallest integer, which is that of the real numbers too."""
    x = draft.argument("tensor")
    args = draft.record.arguments["args"]
    axes = args[0] if isinstance(args[0], tuple | list) else (args[0],)
    places = reduced(x, draft.index, tuple(axes), bool(args[1]))
    values = draft.elements("x", x, places)
    rule = "largest" if "ax" in draft.record.operation else "smallest"
    q = draft.steps.add(f"{rule} of {places.size}", rule, values, symbol="q")
    find = np.argmax if rule == "largest" else np.argmin
    place = np.unravel_index(places[int(find(values.value))], x.shape)
    draft.steps.decide(f"at {[int(each) for each in place]}")
    draft.dequantized(q, draft.output)


@explains("Sort")
def sort(draft: Draft) -> None:
    """An element from elsewhere along the axis."""
    x, axis = draft.argument("tensor"), draft.record.arguments["axis"]
    index = list(draft.index)
    if index:
        index[axis] = int(draft.record.outputs[1].array[draft.index])
    place = int(np.ravel_multi_index(index, x.shape)) if index else 0
    draft.dequantized(moved(draft, x, place), draft.output)


@explains("Msort")
def msort(draft: Draft) -> None:
    """An element from elsewhere along the first axis."""
    x, index = draft.argument("tensor"), list(draft.index)
    if index:
        index[0] = int(np.argsort(x.array, axis=0, kind="stable")[draft.index])
    place = int(np.ravel_multi_index(index, x.shape)) if index else 0
    draft.dequantized(moved(draft, x, place), draft.output)
