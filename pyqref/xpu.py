"""Intel's GPUs: there is none."""

from __future__ import annotations

from ._typing import Device

__all__ = ["device_count", "empty_cache", "is_available", "synchronize"]


def is_available() -> bool:
    """Always false: everything runs on the CPU.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.xpu.is_available()
    False
    """
    return False


def device_count() -> int:
    """Always 0.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.xpu.device_count()
    0
    """
    return 0


def synchronize(device: Device = None) -> None:
    """All work is done when an operation returns, so there is nothing to wait for.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.xpu.synchronize()
    """


def empty_cache() -> None:
    """No memory of a GPU is kept.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.xpu.empty_cache()
    """
