"""Activations that shrink towards zero, and smooth forms of others."""

from __future__ import annotations

from ..._typing import Tensor
from .. import functional as F
from .arguments import number
from .module import Module

__all__ = ["Hardshrink", "LogSigmoid", "Softplus", "Softshrink", "Softsign", "Tanhshrink"]


class Tanhshrink(Module):
    """``x - tanh(x)``.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Tanhshrink()
    >>> layer(pyqref.tensor([-1.5, 0.0, 2.0]))
    tensor([-0.5949,  0.0000,  1.0360])
    """

    def forward(self, input: Tensor) -> Tensor:
        """``input - tanh(input)``."""
        return F.tanhshrink(input)


class LogSigmoid(Module):
    """``log(sigmoid(x))``.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.LogSigmoid()
    >>> layer(pyqref.tensor([-1.5, 0.0, 2.0]))
    tensor([-1.7014, -0.6931, -0.1269])
    """

    def forward(self, input: Tensor) -> Tensor:
        """``log(sigmoid(input))``."""
        return F.logsigmoid(input)


class Softsign(Module):
    """``x / (1 + |x|)``.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Softsign()
    >>> layer(pyqref.tensor([-1.5, 0.0, 2.0]))
    tensor([-0.6000,  0.0000,  0.6667])
    """

    def forward(self, input: Tensor) -> Tensor:
        """``input / (1 + |input|)``."""
        return F.softsign(input)


class Softplus(Module):
    """``log(1 + exp(beta * x)) / beta``; ``x`` where ``beta * x > threshold``.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Softplus()
    >>> layer(pyqref.tensor([-1.5, 0.0, 2.0]))
    tensor([0.2014, 0.6931, 2.1269])
    """

    __constants__ = ["beta", "threshold"]

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = number(beta, "beta")
        self.threshold = number(threshold, "threshold")

    def forward(self, input: Tensor) -> Tensor:
        """A smooth ReLU."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """``beta`` and ``threshold``."""
        return f"beta={self.beta}, threshold={self.threshold}"


class Hardshrink(Module):
    """``x`` where ``|x| > lambd``, else 0.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Hardshrink()
    >>> layer(pyqref.tensor([-1.5, 0.0, 2.0]))
    tensor([-1.5000,  0.0000,  2.0000])
    """

    __constants__ = ["lambd"]

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = number(lambd, "lambd")

    def forward(self, input: Tensor) -> Tensor:
        """``input`` where it is large."""
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """``lambd``."""
        return f"{self.lambd}"


class Softshrink(Hardshrink):
    """``x`` moved towards 0 by ``lambd``; 0 where ``|x| <= lambd``.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Softshrink()
    >>> layer(pyqref.tensor([-1.5, 0.0, 2.0]))
    tensor([-1.0000,  0.0000,  1.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """``input`` moved towards 0."""
        return F.softshrink(input, self.lambd)
