"""Quantities that an equation passes through on its way, kept for who asks.

An equation says ``noted("sum", a + b)`` for a quantity that a device computes too. Outside of
:func:`noting` nothing is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

__all__ = ["noted", "noting"]

T = TypeVar("T")
_found: ContextVar[dict[str, list[Any]] | None] = ContextVar("_found", default=None)


def noted(name: str, value: T) -> T:
    """Return the value; inside of :func:`noting`, keep it under its name.

    Examples
    --------
    >>> noted("sum", 26)
    26
    """
    found = _found.get()
    if found is not None:
        found.setdefault(name, []).append(value)
    return value


@contextmanager
def noting() -> Iterator[dict[str, list[Any]]]:
    """Keep what equations note inside: for each name, the values in the order in which they come.

    Examples
    --------
    >>> import numpy as np
    >>> from pyqref.numerics.elementwise import Grid, mul
    >>> with noting() as found:
    ...     q = mul(np.uint8([3]), Grid(0.5, 1), np.uint8([5]), Grid(0.5, 1), Grid(1.0, 0))
    >>> found["product"], found["scaled"]
    ([array([8])], [array([2.], dtype=float32)])
    """
    found: dict[str, list[Any]] = {}
    before = _found.set(found)
    try:
        yield found
    finally:
        _found.reset(before)
