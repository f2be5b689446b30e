"""The tensors in a value that was loaded, with what a reader asks of each; and everything else."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pyqref.nn.modules.state_kind import kind_of_state
from pyqref.serialization import ScriptArchive
from pyqref.serialization.torch_files.inert import printable
from pyqref.tensor.base import TensorBase

__all__ = ["Contents", "Row", "contents"]

BINS = 64
#: Where scripts put the state dict of the model.
_ENTRIES = ("state_dict", "model_state_dict", "model", "net", "module", "weights", "params")


@dataclass
class Row:
    """One tensor.

    Attributes
    ----------
    name
        Its path: keys with dots between, places in a list or tuple in brackets.
    shape, dtype
        Its own.
    size
        Bytes now; 0 where its memory was counted with another tensor.
    int8_size
        Bytes after its elements became int8, where it is a weight of a float model, of two or
        more dimensions: each row has a scale and a zero point. As ``size`` where it stays what
        it is.
    scales, zero_points
        Of a quantized tensor, one or one a channel; else empty.
    low, high
        Smallest and largest finite number; None if there is none.
    not_finite
        How many elements are nan or infinite.
    counts
        Histogram of the finite numbers, from ``low`` to ``high``.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    size: int
    int8_size: int
    scales: list[float]
    zero_points: list[float]
    low: float | None
    high: float | None
    not_finite: int
    counts: list[int]


@dataclass
class Contents:
    """Contents of a file.

    Attributes
    ----------
    rows
        Its tensors.
    others
        Everything else: path, type, and the beginning of it.
    states
        Kinds of the state dicts in it, by path: ``{"": "quantized"}``.
    module_types
        Of a TorchScript archive, the class of each module by path.
    notes
        What loading told, such as dtypes that were widened.
    """

    rows: list[Row]
    others: list[tuple[str, str, str]]
    states: dict[str, str]
    module_types: dict[str, str]
    notes: list[str] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Bytes of all tensors."""
        return sum(row.size for row in self.rows)

    @property
    def int8_size(self) -> int:
        """Bytes of all tensors with the float weights as int8."""
        return sum(row.int8_size for row in self.rows)

    @property
    def elements(self) -> int:
        """Elements of all tensors."""
        return sum(int(np.prod(row.shape, dtype=np.int64)) for row in self.rows)


def contents(value: Mapping[str, Any]) -> Contents:
    """The tensors and other values in what :func:`pyqref.load` gave.

    Examples
    --------
    >>> import pyqref
    >>> found = contents({"weight": pyqref.ones(2, 3), "epoch": 3})
    >>> found.rows[0].name, found.rows[0].size, found.rows[0].int8_size
    ('weight', 24, 22)
    >>> found.others, found.states
    ([('epoch', 'int', '3')], {'': 'float'})
    """
    types = getattr(value, "module_types", {})
    made = Contents([], [], {}, {printable(k): printable(v) for k, v in types.items()})
    made.states = {path: state_kind(state) for path, state in state_dicts(value).items()}
    float_states = tuple(
        f"{path}." if path else "" for path, kind in made.states.items() if kind == "float"
    )
    seen: set[tuple[int, int]] = set()
    for name, each in _leaves(value, ""):
        if isinstance(each, TensorBase):
            made.rows.append(_row(name, each, seen, name.startswith(float_states)))
        else:
            made.others.append((printable(name), type(each).__name__, _short(each)))
    if isinstance(value, ScriptArchive):
        for name, each in value.attributes.items():
            if each is None:
                continue  # such as hooks that are not there
            made.others.append((printable(name), type(each).__name__, _short(each)))
        for index, each in enumerate(value.constants):
            if isinstance(each, TensorBase):
                made.rows.append(_row(f"constants[{index}]", each, seen, True))
    return made


def state_dicts(value: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The state dicts of models in a value, by path; the likeliest one comes first.

    A checkpoint has them as entries, most often under one of a few names.
    """
    if not isinstance(value, Mapping):
        return {}
    found = {str(key): each for key, each in value.items() if _is_state(each)}
    order = {name: place for place, name in enumerate(_ENTRIES)}
    found = dict(sorted(found.items(), key=lambda item: order.get(item[0], len(order))))
    return {"": value} if not found and _is_state(value) else found


def _is_state(value: Any) -> bool:
    """Return True if a value maps names to tensors or packed tensors."""
    return isinstance(value, Mapping) and any(
        isinstance(each, TensorBase) or _is_packed(each) for each in value.values()
    )


def _is_packed(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) > 0 and isinstance(value[0], TensorBase)


def state_kind(state: Mapping[str, Any]) -> str:
    """Return the result of :func:`kind_of_state`, with dynamic quantization told apart."""
    kind = kind_of_state(state)
    if kind != "quantized":
        return kind
    scales = [
        each._array.reshape(-1).tolist()
        for key, each in state.items()
        if isinstance(each, TensorBase) and key.rpartition(".")[2] == "scale"
    ]
    packed = any(_is_packed(each) or "_packed" in key for key, each in state.items())
    return "dynamic" if packed and all(each == [1.0] for each in scales) else kind


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        if not value and path:
            yield path, value
        for key, each in value.items():
            yield from _leaves(each, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple) and any(
        isinstance(each, TensorBase | Mapping | list | tuple) for each in value
    ):
        for index, each in enumerate(value):
            yield from _leaves(each, f"{path}[{index}]")
    else:
        yield path, value


def _row(name: str, tensor: Any, seen: set[tuple[int, int]], is_weight: bool) -> Row:
    array = tensor._array
    place = array.__array_interface__["data"][0], array.nbytes
    size = 0 if place in seen and array.size else array.nbytes
    seen.add(place)
    if tensor.is_quantized:
        size = -(-size * tensor.dtype.bits // (8 * tensor.dtype.itemsize))
    scales, zero_points = _grid(tensor)
    small = size
    if size and is_weight and array.dtype.kind == "f" and array.ndim >= 2:
        small = min(size, array.size + 8 * array.shape[0])
    numbers = tensor.dequantize()._array if tensor.is_quantized else array
    finite = numbers[np.isfinite(numbers)] if numbers.dtype.kind == "f" else numbers.reshape(-1)
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (None, None)
    counts: list[int] = []
    if low is not None and high is not None and high > low:
        scaled = finite.astype(np.float64) / max(abs(low), abs(high))
        bins = min(BINS, max(8, 2 * math.isqrt(finite.size)))
        counts = np.histogram(scaled, bins)[0].tolist()
    return Row(
        printable(name),
        tuple(array.shape),
        tensor.dtype._name,
        size,
        small,
        scales,
        zero_points,
        low,
        high,
        int(numbers.size - finite.size),
        counts,
    )


def _grid(tensor: Any) -> tuple[list[float], list[float]]:
    if not tensor.is_quantized:
        return [], []
    if "per_tensor" in str(tensor.qscheme()):
        return [tensor.q_scale()], [tensor.q_zero_point()]
    return tensor.q_per_channel_scales().tolist(), tensor.q_per_channel_zero_points().tolist()


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
