"""Ranges of integers, left at the nodes that quantize, for the layers that will do it instead."""

from __future__ import annotations

from pyqref._typing import AnyModule
from pyqref.fx import Node

__all__ = ["give_range", "is_given", "note_range"]

_RANGE, _GIVEN = "integer_range", "integer_range_given"


def note_range(node: Node, chosen: tuple[int, int]) -> None:
    """Leave a range at a node."""
    node.meta[_RANGE] = chosen


def give_range(node: Node, layer: AnyModule) -> None:
    """Let a quantized layer keep the range of the node that it replaces, if it can."""
    chosen = node.meta.get(_RANGE)
    if chosen is not None and layer._KEEPS_RANGE:
        layer.keep_range(*chosen)
        node.meta[_GIVEN] = True


def is_given(node: Node) -> bool:
    """Return True if a layer keeps the range of a node."""
    return _GIVEN in node.meta
