"""Whether the library MKL computes: pyqref's own kernels, and NumPy, do."""

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
