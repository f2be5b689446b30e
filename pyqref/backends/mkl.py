"""Answers for the library MKL, which pyqref does not use: its own kernels and NumPy compute."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Always false.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.backends.mkl.is_available()
    False
    """
    return False
