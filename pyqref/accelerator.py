"""Accelerators: there is none."""

from __future__ import annotations

from ._typing import Device

__all__ = ["current_accelerator", "device_count", "is_available", "synchronize"]


def is_available() -> bool:
    """Always false: everything runs on the CPU.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.accelerator.is_available()
    False
    """
    return False


def current_accelerator(check_available: bool = False) -> None:
    """Return None: there is none.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.accelerator.current_accelerator()
    """
    return


def device_count() -> int:
    """Always 0.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.accelerator.device_count()
    0
    """
    return 0


def synchronize(device: Device = None) -> None:
    """All work is done when an operation returns, so there is nothing to wait for.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.accelerator.synchronize()
    """
