"""Strides, dilations and paddings as the kernels of windows in a plane take them."""

from __future__ import annotations

from typing import Any

from pyqref.numerics.windows import Windows

__all__ = ["geometry_of"]


def geometry_of(windows: Windows) -> tuple[int, ...]:
    """Stride, dilation and padding before, each along height and width."""
    before = tuple(each[0] for each in windows.padding)
    one: Any = () if len(before) == 2 else (1,)
    none: Any = () if len(before) == 2 else (0,)
    return (*one, *windows.stride, *one, *windows.dilation, *none, *before)
