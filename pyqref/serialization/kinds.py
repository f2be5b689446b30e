"""Values of the floors above that files can hold, as those floors add them.

A kind says how a value is taken apart into what a file holds already, and how such parts are put
together again, after checking them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["Kind", "add_kind", "kind_named", "kind_of_value"]


class Kind(NamedTuple):
    """Values that a file holds under one name.

    Parameters
    ----------
    tag
        How the file calls them.
    owns
        Whether a value is of this kind.
    take_apart
        The parts of a value: numbers, texts, dtypes, tensors, and lists and dicts of them.
    put_together
        The value of such parts. It raises ValueError for parts that ``take_apart`` never gives.
    """

    tag: str
    owns: Callable[[Any], bool]
    take_apart: Callable[[Any], Any]
    put_together: Callable[[Any], Any]


#: Those that pyqref.quantization adds.
_OF_QUANTIZATION = ("qconfig", "recipe")
_KINDS: dict[str, Kind] = {}


def add_kind(kind: Kind) -> None:
    """Let files hold values of a kind."""
    _KINDS[kind.tag] = kind


def kind_of_value(value: object) -> Kind | None:
    """The kind of a value, None if no floor has added one."""
    return next((kind for kind in _KINDS.values() if kind.owns(value)), None)


def kind_named(tag: object) -> Kind | None:
    """The kind that a file names.

    Raises
    ------
    ValueError
        The module that adds it has not been imported; loading imports nothing.
    """
    kind = _KINDS.get(tag) if isinstance(tag, str) else None
    if kind is None and tag in _OF_QUANTIZATION:
        raise ValueError(f"holds a {tag}: import pyqref.quantization before loading it")
    return kind
