"""The arguments of pooling, which every format reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..nn import modules as nn

__all__ = ["POOLS", "each_axis", "of_module", "windows"]

_SHARED = ("kernel_size", "stride", "padding")
_LARGEST = (*_SHARED, "dilation", "ceil_mode", "return_indices")
_AVERAGE = (*_SHARED, "ceil_mode", "count_include_pad", "divisor_override")

#: By name of a function without its "2d": the modules in one, two and three dimensions, and which
#: of their attributes are the arguments of the function.
POOLS: dict[str, tuple[tuple[type[nn.Module], ...], tuple[str, ...]]] = {
    "max_pool": ((nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d), _LARGEST),
    "avg_pool": ((nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d), _AVERAGE),
    "adaptive_avg_pool": (
        (nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d),
        (),
    ),
    "adaptive_max_pool": (
        (nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d, nn.AdaptiveMaxPool3d),
        (),
    ),
}


def each_axis(value: Any, count: int) -> tuple[int, ...]:
    """One number for each axis.

    Examples
    --------
    >>> each_axis(2, 3), each_axis((2,), 3), each_axis([1, 2], 2)
    ((2, 2, 2), (2, 2, 2), (1, 2))
    """
    values = tuple(value) if isinstance(value, tuple | list) else (value,)
    return tuple(int(each) for each in (values * count if len(values) == 1 else values))


def windows(kernel: Any, stride: Any, padding: Any, count: int) -> dict[str, tuple[int, ...]]:
    """The geometry of windows, with one number for each axis.

    Examples
    --------
    >>> windows(2, None, 1, 2)
    {'kernel': (2, 2), 'stride': (2, 2), 'padding': (1, 1)}
    """
    sizes = each_axis(kernel, count)
    moves = sizes if stride is None or stride in ((), []) else each_axis(stride, count)
    return {"kernel": sizes, "stride": moves, "padding": each_axis(padding, count)}


def of_module(function: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
    """The lowering of a module whose attributes are the arguments of a function.

    Examples
    --------
    >>> lower = of_module(lambda make, x, size: (x, size), ("kernel_size",))
    >>> lower(None, nn.MaxPool2d(3), "x")
    ('x', 3)
    """

    def lower(make: Any, module: Any, x: Any) -> Any:
        return function(make, x, *(getattr(module, name, None) for name in names))

    return lower
