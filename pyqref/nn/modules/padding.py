"""Padding layers: constants, or elements of the input itself, around the last dimensions.

``padding`` is an int, or the numbers before and after the last dimension, before and after
the one before it, and so on.
"""

from __future__ import annotations

from ..._typing import Ints, Tensor
from .. import functional as F
from .module import Module

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class _Pad(Module):
    """Pad the last ``_axes`` dimensions."""

    __constants__ = ["padding"]
    _axes: int
    _mode = "constant"

    def __init__(self, padding: Ints) -> None:
        super().__init__()
        numbers = tuple(padding) if isinstance(padding, list | tuple) else (padding,)
        if len(numbers) == 1:
            numbers = numbers * (2 * self._axes)
        if len(numbers) != 2 * self._axes:
            raise ValueError(
                f"{type(self).__name__}: padding must be an int or {2 * self._axes} ints, "
                f"got {padding!r}"
            )
        self.padding = numbers

    def forward(self, input: Tensor) -> Tensor:
        """The last dimensions grow by the padding."""
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        """The padding."""
        return f"{self.padding}"


class _ConstantPad(_Pad):
    """Pad with a constant."""

    __constants__ = ["padding", "value"]

    def __init__(self, padding: Ints, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """The last dimensions grow by the padding."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """Padding and value."""
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_ConstantPad):
    """Pad with zeros."""

    def __init__(self, padding: Ints) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """The padding."""
        return f"{self.padding}"


class ConstantPad1d(_ConstantPad):
    """Put a constant around `(N, C, L)`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.ConstantPad1d(1, 9.0)
    >>> layer(pyqref.tensor([[[1.0, 2.0, 3.0]]]))
    tensor([[[9., 1., 2., 3., 9.]]])
    """

    _axes = 1


class ConstantPad2d(_ConstantPad):
    """Put a constant around `(N, C, H, W)`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.ConstantPad2d(1, 9.0)
    >>> layer(pyqref.tensor([[[[1.0, 2.0], [3.0, 4.0]]]]))
    tensor([[[[9., 9., 9., 9.],
              [9., 1., 2., 9.],
              [9., 3., 4., 9.],
              [9., 9., 9., 9.]]]])
    """

    _axes = 2


class ConstantPad3d(_ConstantPad):
    """Put a constant around `(N, C, D, H, W)`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.ConstantPad3d(1, 9.0)
    >>> layer(pyqref.ones(1, 1, 2, 2, 2)).shape
    pyqref.Size([1, 1, 4, 4, 4])
    """

    _axes = 3


class ZeroPad1d(_ZeroPad):
    """Put zeros around `(N, C, L)`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.ZeroPad1d(1)
    >>> layer(pyqref.tensor([[[1.0, 2.0, 3.0]]]))
    tensor([[[0., 1., 2., 3., 0.]]])
    """

    _axes = 1


class ZeroPad2d(_ZeroPad):
    """Put zeros around `(N, C, H, W)`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.ZeroPad2d(1)
    >>> layer(pyqref.tensor([[[[1.0, 2.0], [3.0, 4.0]]]]))
    tensor([[[[0., 0., 0., 0.],
              [0., 1., 2., 0.],
              [0., 3., 4., 0.],
              [0., 0., 0., 0.]]]])
    """

    _axes = 2


class ZeroPad3d(_ZeroPad):
    """Put zeros around `(N, C, D, H, W)`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.ZeroPad3d(1)
    >>> layer(pyqref.ones(1, 1, 2, 2, 2)).shape
    pyqref.Size([1, 1, 4, 4, 4])
    """

    _axes = 3


class ReflectionPad1d(_Pad):
    """Continue `(N, C, L)` by its mirror image; the border is not repeated.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.ReflectionPad1d(1)
    >>> layer(pyqref.tensor([[[1.0, 2.0, 3.0]]]))
    tensor([[[2., 1., 2., 3., 2.]]])
    """

    _axes = 1
    _mode = "reflect"


class ReflectionPad2d(_Pad):
    """Continue `(N, C, H, W)` by its mirror image; the border is not repeated.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.ReflectionPad2d(1)
    >>> layer(pyqref.tensor([[[[1.0, 2.0], [3.0, 4.0]]]]))
    tensor([[[[4., 3., 4., 3.],
              [2., 1., 2., 1.],
              [4., 3., 4., 3.],
              [2., 1., 2., 1.]]]])
    """

    _axes = 2
    _mode = "reflect"


class ReflectionPad3d(_Pad):
    """Continue `(N, C, D, H, W)` by its mirror image; the border is not repeated.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.ReflectionPad3d(1)
    >>> layer(pyqref.ones(1, 1, 2, 2, 2)).shape
    pyqref.Size([1, 1, 4, 4, 4])
    """

    _axes = 3
    _mode = "reflect"


class ReplicationPad1d(_Pad):
    """Continue `(N, C, L)` by its border elements.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.ReplicationPad1d(1)
    >>> layer(pyqref.tensor([[[1.0, 2.0, 3.0]]]))
    tensor([[[1., 1., 2., 3., 3.]]])
    """

    _axes = 1
    _mode = "replicate"


class ReplicationPad2d(_Pad):
    """Continue `(N, C, H, W)` by its border elements.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.ReplicationPad2d(1)
    >>> layer(pyqref.tensor([[[[1.0, 2.0], [3.0, 4.0]]]]))
    tensor([[[[1., 1., 2., 2.],
              [1., 1., 2., 2.],
              [3., 3., 4., 4.],
              [3., 3., 4., 4.]]]])
    """

    _axes = 2
    _mode = "replicate"


class ReplicationPad3d(_Pad):
    """Continue `(N, C, D, H, W)` by its border elements.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.ReplicationPad3d(1)
    >>> layer(pyqref.ones(1, 1, 2, 2, 2)).shape
    pyqref.Size([1, 1, 4, 4, 4])
    """

    _axes = 3
    _mode = "replicate"


class CircularPad1d(_Pad):
    """Continue `(N, C, L)` by its other end.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.CircularPad1d(1)
    >>> layer(pyqref.tensor([[[1.0, 2.0, 3.0]]]))
    tensor([[[3., 1., 2., 3., 1.]]])
    """

    _axes = 1
    _mode = "circular"


class CircularPad2d(_Pad):
    """Continue `(N, C, H, W)` by its other end.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.CircularPad2d(1)
    >>> layer(pyqref.tensor([[[[1.0, 2.0], [3.0, 4.0]]]]))
    tensor([[[[4., 3., 4., 3.],
              [2., 1., 2., 1.],
              [4., 3., 4., 3.],
              [2., 1., 2., 1.]]]])
    """

    _axes = 2
    _mode = "circular"


class CircularPad3d(_Pad):
    """Continue `(N, C, D, H, W)` by its other end.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.CircularPad3d(1)
    >>> layer(pyqref.ones(1, 1, 2, 2, 2)).shape
    pyqref.Size([1, 1, 4, 4, 4])
    """

    _axes = 3
    _mode = "circular"
