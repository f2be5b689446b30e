"""Values that a line of the random caller names: tensors by a recipe, layers, edge numbers.

Every argument of a call is Python text, so that the line that is printed is the line that ran.
"""

from __future__ import annotations

import importlib
import math
from functools import lru_cache
from typing import Any

import numpy as np
from bad_input import modules_table, steps_table

import pyqref
from pyqref import Tensor

from .bits import Kept

__all__ = ["EDGES", "GRIDS", "KINDS", "LAYOUTS", "T", "inf", "layer", "nan", "np", "pyqref"]
__all__ += ["TILES", "Recipe", "codes", "kept", "step", "text_of"]

inf, nan = float("inf"), float("nan")
#: Sizes around the tiles of the kernels.
TILES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65)
#: Scalars and other objects, valid of some argument or of none.
EDGES = (
    *("nan", "inf", "-inf", "0", "1", "-1", "2", "3", "0.0", "-0.0", "0.4", "1.5", "-0.5"),
    *("1e-320", "1e-45", "1e39", "3e38", "2.0**24", "127", "128", "255", "256", "300"),
    *("2**31", "2**31 - 1", "-2**31", "2**40", "2**53 + 1", "2**63", "2**63 - 1", "-2**63"),
    *("2**64", "10**400", "1j", "np.float32(0.5)", "np.int64(3)", "np.int8(-1)"),
    *("None", "True", "False", "''", "'wrong'", "'0.5'", "b'1'", "[]", "()", "[None]", "['a']"),
    *("(0, 0)", "(1, 1)", "(-1, -1)", "(2**40, 2**40)", "(1.5, 1.5)", "[[1.0], [1.0, 2.0]]"),
    *("{'a': 1}", "{1}", "len", "object", "pyqref.qint8", "pyqref.float32", "pyqref.int64"),
    *("np.ones((2, 3), np.float32)", "pyqref.nn.ReLU()", "pyqref.per_tensor_affine"),
    *("slice(None)", "..."),
)
_FLOATS = {"float32": np.float32, "float64": np.float64, "float16": np.float16}
_INTEGERS = {"int64": np.int64, "int32": np.int32, "int16": np.int16, "int8": np.int8}
_INTEGERS |= {"uint8": np.uint8}
_QUANTIZED = ("quint8", "qint8", "qint32", "channels")
KINDS = (*_FLOATS, *_INTEGERS, "bool", *_QUANTIZED)
LAYOUTS = ("plain", "plain", "strided", "transposed", "channels_last", "expanded", "tail", "grad")
LAYOUTS += ("reversed",)
#: Scales and zero points, at the ends of what is allowed too; None is the middle of the range.
GRIDS = ((0.25, None), (0.05, "min"), (0.013, "max"), (1.0, 0), (3e-38, 0), (1e37, None), (7.3, 1))
#: Numbers that a calculation treats apart.
_HARD = (np.nan, np.inf, -np.inf, 3.4e38, -3.4e38, 1e-45, -0.0, 0.0, 0.5, 2.5, 1e9, -1.0)
#: Layers that were made.
_LAYERS: dict[tuple[str, bool], Kept] = {}
#: Those that a call has now.
_LENT: dict[int, tuple[tuple[str, bool], Kept]] = {}


class Recipe(str):
    """The text of a tensor, with the arguments of :func:`T` that it holds."""

    parts: tuple[Any, ...]

    @classmethod
    def of(cls, *parts: Any) -> Recipe:
        made = cls(f"T({', '.join(map(repr, parts))})")
        made.parts = parts
        return made


def T(  # short, as it stands in every line
    shape: tuple[int, ...],
    kind: str = "float32",
    fill: str = "normal",
    seed: int = 0,
    layout: str = "plain",
    grid: tuple[float, Any] = (0.25, None),
) -> Any:
    """A tensor of some kind whose numbers, layout and grid are told by words.

    ``fill`` is ``normal``, ``hard`` (nan, infinities, the ends of the range), ``indices``
    (0, 1 and 2) or ``zeros``.
    """
    if kind == "channels" and (layout in ("expanded", "tail") or len(shape) < 2):
        layout = "plain"  # the channels would be lost
    made = _stored(shape, layout)
    array = _numbers(kind, fill, seed, math.prod(made)).reshape(made)
    if kind in _QUANTIZED:
        tensor = pyqref.make_quantized(array, _quantizer(made, kind, *grid))
    else:
        tensor = pyqref.from_numpy(array)
    if layout == "reversed" and shape and kind in _QUANTIZED[:3]:
        # Tensors cannot be reversed; the integers that a quantized one is made of can be.
        return pyqref.make_quantized(tensor._array[::-1], tensor._quantizer)
    tensor = _laid(tensor, tuple(shape), layout)
    if layout == "grad" and kind in _FLOATS:
        tensor.requires_grad_()
    return tensor


def _numbers(kind: str, fill: str, seed: int, count: int) -> Any:
    """Numbers of a kind: a copy of a part of the same many."""
    many = _many(kind, fill)
    start = seed * 17 % 20_000
    if start + count > len(many):
        many = np.resize(many, start + count)
    return many[start : start + count].copy()


@lru_cache(None)
def _many(kind: str, fill: str, count: int = 50_000) -> Any:
    random = np.random.default_rng(0)
    if kind in _FLOATS:
        floats = {
            "hard": lambda: random.choice(_HARD, count),
            "indices": lambda: random.integers(0, 3, count),
            "zeros": lambda: np.zeros(count),
        }
        numbers = floats.get(fill, lambda: random.standard_normal(count) * 2)()
        with np.errstate(over="ignore"):
            return numbers.astype(_FLOATS[kind])
    if kind == "bool":
        return random.integers(0, 2, count).astype(np.bool_)
    if kind in _QUANTIZED:
        dtype = pyqref.qint8 if kind == "channels" else getattr(pyqref, kind)
        low, high = dtype.quant_min, dtype.quant_max
        array = random.integers(low, high + 1, count)
        if fill == "hard":
            array = np.where(array % 2 == 0, low, high)
        elif fill == "zeros":
            array = np.full(count, max(low, 0))
        elif kind == "qint32":
            array = array // 2**16
        return array.astype(dtype.numpy_dtype)
    info = np.iinfo(_INTEGERS[kind])
    if fill == "hard":
        ends = (info.min, info.min + 1, info.max, info.max - 1, 0, 1, 3)
        return np.array(ends, info.dtype)[random.integers(0, len(ends), count)]
    low = 0 if fill == "indices" or info.min == 0 else -9
    return random.integers(low, 3 if fill == "indices" else 9, count).astype(info.dtype)


@lru_cache(1000)
def _quantizer(shape: tuple[int, ...], kind: str, scale: float, at: Any) -> Any:
    dtype = pyqref.qint8 if kind == "channels" else getattr(pyqref, kind)
    low, high = dtype.quant_min, dtype.quant_max
    zero_point = {"min": low, "max": high, None: (low + high + 1) // 2}.get(at, at)
    if kind != "channels" or not shape:
        return pyqref.PerTensorQuantizer(dtype, scale, zero_point)
    scales = np.linspace(scale, scale * 2, shape[0])
    points = np.full(shape[0], zero_point, np.int64)
    return pyqref.PerChannelQuantizer(dtype, scales, points, 0)


def _stored(shape: tuple[int, ...], layout: str) -> tuple[int, ...]:
    """Shape of the tensor that one of ``shape`` is a view of."""
    if not shape:
        return ()
    if layout == "strided":
        return (*shape[:-1], shape[-1] * 2)
    if layout == "transposed":
        return (*shape[:-2], *shape[-2:][::-1])
    if layout == "channels_last" and len(shape) > 2:
        return (shape[0], *shape[2:], shape[1])
    if layout == "expanded":
        return (1, *shape[1:])
    return (shape[0] + 1, *shape[1:]) if layout == "tail" else tuple(shape)


def _laid(tensor: Any, shape: tuple[int, ...], layout: str) -> Any:
    if not shape:
        return tensor
    if layout == "strided":
        return tensor[..., ::2]
    if layout == "transposed" and len(shape) > 1:
        return tensor.transpose(-1, -2)
    if layout == "channels_last" and len(shape) > 2:
        return tensor.permute(0, len(shape) - 1, *range(1, len(shape) - 1))
    if layout == "expanded":
        return tensor.expand(*shape)
    return tensor[1:] if layout == "tail" else tensor


def codes(array: Any, dtype: Any, scale: Any, zero_point: Any, axis: int | None = None) -> Any:
    """A quantized tensor of given integers."""
    array = np.array(array, dtype.numpy_dtype)
    if axis is None:
        return pyqref.make_quantized(array, pyqref.PerTensorQuantizer(dtype, scale, zero_point))
    points = np.array(zero_point)
    quantizer = pyqref.PerChannelQuantizer(dtype, np.array(scale), points, axis)
    return pyqref.make_quantized(array, quantizer)


def layer(name: str, training: bool = False) -> Any:
    """A layer, always the same, by the name of its class in ``pyqref``."""
    kept = _LAYERS.pop((name, training), None) or Kept(_new_layer(name, training))
    _LENT[id(kept.layer)] = (name, training), kept
    return kept.layer


def give_back(layer: Any) -> None:
    """Keep a layer for :func:`layer`, as it was before the call.

    What it computes once, such as packed weights, is kept with it: it must not matter.
    """
    lent = _LENT.pop(id(layer), None)
    _LENT.clear()
    if lent and lent[1].put_back():
        _LAYERS[lent[0]] = lent[1]


def _new_layer(name: str, training: bool) -> Any:
    pyqref.manual_seed(0)
    package, _, short = name.rpartition(".")
    cls = getattr(importlib.import_module(f"pyqref.{package}"), short)
    if name in ("nn.quantized.LSTM", "nn.quantized.MultiheadAttention"):
        return modules_table.observed(name, cls)
    return modules_table.built(name, cls).train(training)


def step(number: int) -> Any:
    """A call of the table of second arguments in ``tests/bad_input/steps_table.py``."""
    return steps_table.ENTRIES[number].call


@lru_cache(None)
def _kept() -> list[Any]:
    return []


def kept(place: int) -> Any:
    """An object of the tables that no text makes, such as packed weights."""
    if not _kept():
        importlib.import_module("fuzz.catalogue").targets()
    return _kept()[place]


def text_of(value: Any) -> str:
    """Python text of a value of the tables."""
    if isinstance(value, Tensor):
        return _text_of_tensor(value)
    if isinstance(value, float):
        return repr(value)
    if type(value) in (tuple, list):
        inner = ", ".join(text_of(each) for each in value)
        if isinstance(value, list):
            return f"[{inner}]"
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if type(value) is dict:
        return "{" + ", ".join(f"{key!r}: {text_of(each)}" for key, each in value.items()) + "}"
    if value is None or isinstance(value, int | str | slice | pyqref.dtype | pyqref.qscheme):
        return repr(value)
    for place, each in enumerate(_kept()):
        if each is value:
            return f"kept({place})"
    _kept().append(value)
    return f"kept({len(_kept()) - 1})"


def _text_of_tensor(value: Any) -> str:
    shape, name = tuple(value.shape), str(value.dtype)
    if value.numel() > 60 or value.numel() == 0:
        kind = name.removeprefix("pyqref.")
        kind = kind if kind in KINDS else "quint8"
        return f"T({shape}, {kind!r})"
    if not value.is_quantized:
        return f"pyqref.tensor({value.tolist()}, dtype={name})"
    quantizer, array = value._quantizer, value.int_repr().tolist()
    if value.qscheme().is_per_channel:
        grid = f"{quantizer.scales.tolist()}, {quantizer.zero_points.tolist()}, {quantizer.axis}"
    else:
        grid = f"{quantizer.scale!r}, {quantizer.zero_point}"
    return f"codes({array}, {name}, {grid})"
