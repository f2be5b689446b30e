"""Answers for the GPU of a Mac, which pyqref does not use: the CPU computes."""

from __future__ import annotations

__all__ = ["is_available", "is_built"]


def is_available() -> bool:
    """Always false.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.backends.mps.is_available()
    False
    """
    return False


def is_built() -> bool:
    """Always false.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.backends.mps.is_built()
    False
    """
    return False
