"""Pooling layers with fixed windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._typing import Ints, Tensor
from .. import functional as F
from .module import Module

__all__ = [
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
]


class _MaxPool(Module):
    """The largest element of each window."""

    __constants__ = [
        "kernel_size",
        "stride",
        "padding",
        "dilation",
        "return_indices",
        "ceil_mode",
    ]
    _function: Callable[..., Any]

    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        dilation: Ints = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """`(N, C, *size)` to `(N, C, *count)`; with ``return_indices`` also their places."""
        return type(self)._function(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )

    def extra_repr(self) -> str:
        """The arguments."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool):
    """The largest element of each window of `(N, C, L)`; see :class:`MaxPool2d`.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.MaxPool1d(2)
    >>> m(pyqref.randn(2, 4, 8)).shape
    pyqref.Size([2, 4, 4])
    """

    _function = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPool):
    """The largest element of each window.

    Parameters
    ----------
    kernel_size, stride, padding, dilation
        An int or two; the stride is ``kernel_size`` by default, the padding, of minus infinity,
        at most half of it.
    return_indices
        Also return where in its flattened plane each element was.
    ceil_mode
        Let a last window reach past the end.

    Notes
    -----
    Input `(N, C, H, W)` or `(C, H, W)`, output `(N, C, H', W')` with
    ``H' = (H + 2 padding - dilation (kernel_size - 1) - 1) // stride + 1``.
    Source: documentation of ``torch.nn.MaxPool2d``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.MaxPool2d(3, stride=2)(pyqref.zeros(20, 16, 50, 32)).shape
    pyqref.Size([20, 16, 24, 15])
    """

    _function = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPool):
    """The largest element of each window of `(N, C, D, H, W)`; see :class:`MaxPool2d`.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.MaxPool3d(2)
    >>> m(pyqref.randn(2, 4, 4, 4, 4)).shape
    pyqref.Size([2, 4, 2, 2, 2])
    """

    _function = staticmethod(F.max_pool3d)


class AvgPool1d(Module):
    """The mean of each window of `(N, C, L)`; see :class:`AvgPool2d`.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.AvgPool1d(2)
    >>> m(pyqref.randn(2, 4, 8)).shape
    pyqref.Size([2, 4, 4])
    """

    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]

    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = _single(kernel_size)
        self.stride = _single(kernel_size if stride is None else stride)
        self.padding = _single(padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """`(N, C, L)` to `(N, C, L')`."""
        return F.avg_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )

    def extra_repr(self) -> str:
        """The window."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


def _single(value: Any) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


class _AvgPool(Module):
    """The mean of each window in two or three dimensions."""

    __constants__ = [
        "kernel_size",
        "stride",
        "padding",
        "ceil_mode",
        "count_include_pad",
        "divisor_override",
    ]
    _function: Callable[..., Any]

    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        """`(N, C, *size)` to `(N, C, *count)`."""
        return type(self)._function(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )

    def extra_repr(self) -> str:
        """The window."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(_AvgPool):
    """The mean of each window.

    Parameters
    ----------
    kernel_size, stride, padding
        An int or two; the stride is ``kernel_size`` by default, the padding, of zeros, at most
        half of it.
    ceil_mode
        Let a last window reach past the end.
    count_include_pad
        Whether the padding counts as elements.
    divisor_override
        Divide by this instead of the number of elements.

    Notes
    -----
    Input `(N, C, H, W)` or `(C, H, W)`. Source: documentation of ``torch.nn.AvgPool2d``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.AvgPool2d(2)(pyqref.ones(1, 1, 4, 6)).shape
    pyqref.Size([1, 1, 2, 3])
    """

    _function = staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPool):
    """The mean of each window of `(N, C, D, H, W)`; see :class:`AvgPool2d`.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.AvgPool3d(2)
    >>> m(pyqref.randn(2, 4, 4, 4, 4)).shape
    pyqref.Size([2, 4, 2, 2, 2])
    """

    _function = staticmethod(F.avg_pool3d)


class _LPPool(Module):
    """The norm of each window."""

    __constants__ = ["norm_type", "kernel_size", "stride", "ceil_mode"]
    _function: Callable[..., Any]

    def __init__(
        self,
        norm_type: float,
        kernel_size: Ints,
        stride: Ints | None = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """`(N, C, *size)` to `(N, C, *count)`."""
        function = type(self)._function
        return function(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        """The arguments."""
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPool):
    """The ``norm_type``-norm of each window of `(N, C, L)`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.LPPool1d(2, kernel_size=2)
    >>> layer(pyqref.ones(1, 1, 4)).flatten()[:2]
    tensor([1.4142, 1.4142])
    """

    _function = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPool):
    """The ``norm_type``-norm of each window of `(N, C, H, W)`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.LPPool2d(2, kernel_size=2)
    >>> layer(pyqref.ones(1, 1, 4, 4)).flatten()[:2]
    tensor([2., 2.])
    """

    _function = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPool):
    """The ``norm_type``-norm of each window of `(N, C, D, H, W)`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.LPPool3d(2, kernel_size=2)
    >>> layer(pyqref.ones(1, 1, 4, 4, 4)).flatten()[:2]
    tensor([2.8284, 2.8284])
    """

    _function = staticmethod(F.lp_pool3d)
