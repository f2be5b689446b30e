"""Module that is running, for messages of functions on tensors, which know no modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

__all__ = ["LayerUnderWay", "layer_under_way", "set_layer_under_way"]


class LayerUnderWay(NamedTuple):
    """The innermost module that is being called.

    Attributes
    ----------
    path
        Its path from the outermost module that is being called; empty for that one itself.
    described
        Path and type, as messages show them.
    is_own
        Whether it is a layer of this library, not a user's module.
    """

    path: str
    described: str
    is_own: bool


def _nobody_knows() -> LayerUnderWay | None:
    return None


_layer_under_way: Callable[[], LayerUnderWay | None] = _nobody_knows


def layer_under_way() -> LayerUnderWay | None:
    """The innermost module that is being called; None if none is.

    Examples
    --------
    >>> layer_under_way() is None
    True
    """
    return _layer_under_way()


def set_layer_under_way(function: Callable[[], LayerUnderWay | None]) -> None:
    """Let the floor of modules say what :func:`layer_under_way` gives.

    Examples
    --------
    >>> before = _layer_under_way
    >>> set_layer_under_way(lambda: LayerUnderWay("head", "head (Linear)", True))
    >>> layer_under_way().path
    'head'
    >>> set_layer_under_way(before)
    """
    global _layer_under_way
    _layer_under_way = function
