"""Layers that compare elements along a dimension or learn a slope: softmax, GLU, PReLU."""

from __future__ import annotations

from ..._typing import Device, Dtype, Tensor
from ...tensor.arguments import as_integer
from ...tensor.creation import empty
from ...tensor.parameter import Parameter
from .. import functional as F
from .. import init
from .arguments import number, sizes
from .module import Module

__all__ = ["GLU", "LogSoftmax", "PReLU", "Softmax", "Softmax2d", "Softmin"]


class _Along(Module):
    """A function along a dimension."""

    __constants__ = ["dim"]

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = None if dim is None else as_integer(dim, "dim")

    def extra_repr(self) -> str:
        """The dimension."""
        return f"dim={self.dim}"


class Softmax(_Along):
    """``exp(x) / sum(exp(x))`` along ``dim``.

    Parameters
    ----------
    dim
        The dimension along which the elements sum to 1. None guesses one and warns.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.Softmax(dim=1)(pyqref.zeros(1, 4)).tolist()
    [[0.25, 0.25, 0.25, 0.25]]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Non-negative elements of sum 1 along the dimension."""
        return F.softmax(input, self.dim, _stacklevel=5)


class LogSoftmax(_Along):
    """``log(softmax(x))`` along ``dim``.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.LogSoftmax(dim=0)
    >>> layer(pyqref.tensor([-1.5, 0.0, 2.0]))
    tensor([-3.6532, -2.1532, -0.1532])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Logarithms of probabilities."""
        return F.log_softmax(input, self.dim, _stacklevel=5)


class Softmin(_Along):
    """``softmax(-x)`` along ``dim``.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Softmin(dim=0)
    >>> layer(pyqref.tensor([-1.5, 0.0, 2.0]))
    tensor([0.7979, 0.1780, 0.0241])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Non-negative elements of sum 1 along the dimension."""
        return F.softmin(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """Softmax over the channels of `(N, C, H, W)` or `(C, H, W)`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Softmax2d()
    >>> layer(pyqref.zeros(1, 4, 2, 1))[0, :, 0, 0]
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Channels of sum 1 at every pixel."""
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3, _stacklevel=5)


class GLU(Module):
    """The first half along ``dim`` times the sigmoid of the second half.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.GLU()
    >>> layer(pyqref.tensor([1.0, 2.0, 0.0, 3.0]))
    tensor([0.5000, 1.9051])
    """

    __constants__ = ["dim"]

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = as_integer(dim, "dim")

    def forward(self, input: Tensor) -> Tensor:
        """Half as long along the dimension."""
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        """The dimension."""
        return f"dim={self.dim}"


class PReLU(Module):
    """``x`` where it is positive, else ``weight * x``, with a learned weight.

    Parameters
    ----------
    num_parameters
        1, or the number of channels (dimension 1 of the input).
    init
        First value of the weight.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.PReLU()(pyqref.tensor([-2.0, 0.0, 2.0])).detach()
    tensor([-0.5000,  0.0000,  2.0000])
    """

    __constants__ = ["num_parameters"]

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        (num_parameters,) = sizes(num_parameters=num_parameters)
        self.num_parameters = num_parameters
        self.init = number(init, "init")
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weight to its first value."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """``max(input, 0) + weight * min(input, 0)``."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """The number of weights."""
        return f"num_parameters={self.num_parameters}"
