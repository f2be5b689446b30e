"""There is no CUDA here; scripts may ask."""

from __future__ import annotations

__all__ = ["device_count", "is_available", "manual_seed", "manual_seed_all"]


def is_available() -> bool:
    """Always false: everything runs on the CPU.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.is_available()
    False
    """
    return False


def device_count() -> int:
    """Always 0.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.device_count()
    0
    """
    return 0


def manual_seed(seed: int) -> None:
    """No device, no stream to seed.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.manual_seed(0)  # a script may say so
    """


def manual_seed_all(seed: int) -> None:
    """No device, no stream to seed.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.manual_seed_all(0)  # a script may say so
    """
