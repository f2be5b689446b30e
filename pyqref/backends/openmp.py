"""Whether kernels run on several threads by OpenMP."""

from __future__ import annotations

from .._kernels.threads import has_openmp

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether the kernels were compiled with it.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.backends.openmp.is_available() in (True, False)
    True
    """
    return has_openmp()
