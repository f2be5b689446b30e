"""Tensors inside the arguments of a layer: which are quantized, what they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..fx.node import map_aggregate
from ..tensor import Tensor

__all__ = ["as_float", "is_quantized", "leaves", "on_floats", "same_elements", "with_first"]


def is_quantized(value: object) -> bool:
    """Return True for a quantized tensor."""
    return isinstance(value, Tensor) and value.is_quantized


def as_float(value: Any) -> Any:
    """The float tensor that a quantized tensor stands for; anything else as it is."""
    return value.dequantize() if is_quantized(value) else value


def on_floats(value: object) -> Any:
    """Arguments, or results, in which every quantized tensor became a float one."""
    if isinstance(value, Tensor):
        return as_float(value)
    return map_aggregate(value, as_float)


def leaves(value: object) -> list[Tensor]:
    """The tensors in nested tuples, lists and dicts, in order."""
    if isinstance(value, Tensor):
        return [value]
    found: list[Tensor] = []

    def keep(leaf: Any) -> Any:
        if isinstance(leaf, Tensor):
            found.append(leaf)
        return leaf

    map_aggregate(value, keep)
    return found


def with_first(value: object, first: Tensor) -> Any:
    """A result whose first tensor is replaced; what else it holds stays."""
    if isinstance(value, Tensor):
        return first
    found = [first]

    def put(leaf: Any) -> Any:
        return found.pop() if found and isinstance(leaf, Tensor) else leaf

    return map_aggregate(value, put)


def same_elements(one: object, other: object) -> bool:
    """Return True if two results hold the same real numbers, in the same shapes."""
    ours, theirs = leaves(one), leaves(other)
    return len(ours) == len(theirs) and all(
        np.array_equal(
            np.asarray(as_float(a.detach())), np.asarray(as_float(b.detach())), equal_nan=True
        )
        for a, b in zip(ours, theirs, strict=True)
    )
