"""Switches of oneDNN as a library for float layers: it is not there.

As an engine of quantized layers its *numbers* are, see :mod:`pyqref.backends.quantized`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from .flags import switched

__all__ = ["deterministic", "enabled", "flags", "is_available"]

enabled = True
deterministic = False


def is_available() -> bool:
    """Always false.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.backends.mkldnn.is_available()
    False
    """
    return False


def flags(
    enabled: bool = False, deterministic: bool = False, allow_tf32: bool = True
) -> AbstractContextManager[None]:
    """A ``with`` inside which the switches have these values; they change nothing.

    Examples
    --------
    >>> from pyqref.backends import mkldnn
    >>> with mkldnn.flags(enabled=False):
    ...     mkldnn.enabled
    False
    """
    return switched(__name__, {"enabled": enabled, "deterministic": deterministic})
