"""Questions that libraries ask the compiler."""

from __future__ import annotations

__all__ = ["is_compile_supported"]


def is_compile_supported(device_type: object) -> bool:
    """Whether models can be compiled for a type of device: for none.

    Examples
    --------
    >>> is_compile_supported("cpu")
    False
    """
    return False
