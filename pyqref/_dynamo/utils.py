"""Questions that libraries ask the compiler."""

from __future__ import annotations

__all__ = ["is_compile_supported"]


def is_compile_supported(device_type: object) -> bool:
    """Return False: models are not compiled for any type of device.

    Examples
    --------
    >>> is_compile_supported("cpu")
    False
    """
    return False
