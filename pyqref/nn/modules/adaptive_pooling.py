"""Pooling layers to a size that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..._typing import Ints, Tensor
from .. import functional as F
from .module import Module

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
]


class _AdaptiveAvgPool(Module):
    """The mean of each of ``output_size`` windows."""

    __constants__ = ["output_size"]
    _function: Callable[..., Any]

    def __init__(self, output_size: int | Sequence[int | None]) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """`(N, C, *size)` to `(N, C, *output_size)`."""
        return type(self)._function(input, self.output_size)

    def extra_repr(self) -> str:
        """The output size."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """Means of windows that cover `(N, C, L)`; see :class:`AdaptiveAvgPool2d`.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.AdaptiveAvgPool1d(3)
    >>> m(pyqref.randn(2, 4, 8)).shape
    pyqref.Size([2, 4, 3])
    """

    _function = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """Means of windows that cover the input, whatever its size.

    Window ``i`` of ``n`` goes from ``floor(i H / n)`` to ``ceil((i + 1) H / n)``.

    Parameters
    ----------
    output_size
        One or two integers; None in their place keeps the length.

    Notes
    -----
    Input `(N, C, H, W)` or `(C, H, W)`, output `(N, C, *output_size)`.
    Source: documentation of ``torch.nn.AdaptiveAvgPool2d``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.AdaptiveAvgPool2d((5, None))(pyqref.zeros(1, 64, 8, 9)).shape
    pyqref.Size([1, 64, 5, 9])
    """

    _function = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """Means of windows that cover `(N, C, D, H, W)`; see :class:`AdaptiveAvgPool2d`.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.AdaptiveAvgPool3d(2)
    >>> m(pyqref.randn(2, 4, 4, 4, 4)).shape
    pyqref.Size([2, 4, 2, 2, 2])
    """

    _function = staticmethod(F.adaptive_avg_pool3d)


class _AdaptiveMaxPool(Module):
    """The largest element of each of ``output_size`` windows."""

    __constants__ = ["output_size", "return_indices"]
    _function: Callable[..., Any]

    def __init__(self, output_size: Ints, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Tensor:
        """`(N, C, *size)` to `(N, C, *output_size)`; with ``return_indices`` also their places."""
        return type(self)._function(input, self.output_size, self.return_indices)

    def extra_repr(self) -> str:
        """The output size."""
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """Largest elements of windows that cover `(N, C, L)`; see :class:`AdaptiveAvgPool2d`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.AdaptiveMaxPool1d(2)
    >>> layer(pyqref.ones(1, 1, 4)).shape
    pyqref.Size([1, 1, 2])
    """

    _function = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """Largest elements of windows that cover `(N, C, H, W)`; see :class:`AdaptiveAvgPool2d`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.AdaptiveMaxPool2d(2)
    >>> layer(pyqref.ones(1, 1, 4, 4)).shape
    pyqref.Size([1, 1, 2, 2])
    """

    _function = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """Largest elements of windows that cover `(N, C, D, H, W)`; see :class:`AdaptiveAvgPool2d`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.AdaptiveMaxPool3d(2)
    >>> layer(pyqref.ones(1, 1, 4, 4, 4)).shape
    pyqref.Size([1, 1, 2, 2, 2])
    """

    _function = staticmethod(F.adaptive_max_pool3d)
