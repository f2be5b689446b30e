"""Answer whether kernels run on several threads by OpenMP."""

from __future__ import annotations

from importlib import import_module

__all__ = ["is_available"]


def is_available() -> bool:
    """Return True if the kernels were compiled with OpenMP.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.backends.openmp.is_available() in (True, False)
    True
    """
    return bool(import_module("pyqref._kernels.threads").has_openmp())
