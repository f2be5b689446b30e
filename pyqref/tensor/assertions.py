"""Conditions that must hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__: list[str] = []


def _assert(condition: Any, message: str) -> None:
    """Raise ``AssertionError(message)`` unless ``condition`` is true; graphs record the call.

    Examples
    --------
    >>> import pyqref
    >>> pyqref._assert(pyqref.ones(2).sum() == 2, "it is 2")
    """
    if not condition:
        raise AssertionError(message)


def _check(cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise ``RuntimeError`` unless ``cond`` is true; ``message`` is a function of nothing.

    Examples
    --------
    >>> import pyqref
    >>> pyqref._check(False, lambda: "no such size")
    Traceback (most recent call last):
        ...
    RuntimeError: no such size
    """
    if not cond:
        default = "Expected cond to be True, but got False"
        raise RuntimeError(default if message is None else message())
