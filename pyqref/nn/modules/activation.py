"""Activation layers: the functions of :mod:`pyqref.nn.functional` as modules.

Input and output have the same shape. ``inplace=True`` stores the output in the input.
"""

from __future__ import annotations

from typing import Any

from ..._typing import Tensor
from ...tensor.arguments import as_flag
from .. import functional as F
from .arguments import number
from .module import Module

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "Mish",
    "ReLU",
    "ReLU6",
    "SELU",
    "SiLU",
    "Sigmoid",
    "Tanh",
    "Threshold",
]


class _InPlace(Module):
    """An activation whose only choice is whether to store its result in its input."""

    __constants__ = ["inplace"]

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = as_flag(inplace, "inplace")

    def extra_repr(self) -> str:
        """``inplace=True``, or nothing."""
        return "inplace=True" if self.inplace else ""


def _inplace_suffix(module: Any) -> str:
    return ", inplace=True" if module.inplace else ""


class ReLU(_InPlace):
    """``max(x, 0)``.

    Source: documentation of ``torch.nn.ReLU``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.ReLU()(pyqref.tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        """``max(input, 0)``."""
        return F.relu(input, inplace=self.inplace)


class SiLU(_InPlace):
    """``x * sigmoid(x)``, also called swish.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.SiLU()
    >>> layer(pyqref.tensor([-1.5, 0.0, 2.0]))
    tensor([-0.2736,  0.0000,  1.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        """``input * sigmoid(input)``."""
        return F.silu(input, inplace=self.inplace)


class Mish(_InPlace):
    """``x * tanh(log(1 + exp(x)))``.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Mish()
    >>> layer(pyqref.tensor([-1.5, 0.0, 2.0]))
    tensor([-0.2981,  0.0000,  1.9440])
    """

    def forward(self, input: Tensor) -> Tensor:
        """``input * tanh(softplus(input))``."""
        return F.mish(input, inplace=self.inplace)


class SELU(_InPlace):
    """``scale * elu(x, alpha)`` with the constants that keep mean 0 and variance 1.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.SELU()
    >>> layer(pyqref.tensor([-1.5, 0.0, 2.0]))
    tensor([-1.3658,  0.0000,  2.1014])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The scaled ELU."""
        return F.selu(input, self.inplace)


class Hardswish(Module):
    """``x * relu6(x + 3) / 6``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.Hardswish()(pyqref.tensor([-4.0, 0.0, 4.0])).tolist()
    [-0.0, 0.0, 4.0]
    """

    __constants__ = ["inplace"]

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = as_flag(inplace, "inplace")

    def forward(self, input: Tensor) -> Tensor:
        """``input * relu6(input + 3) / 6``."""
        return F.hardswish(input, self.inplace)


class Hardsigmoid(Module):
    """``relu6(x + 3) / 6``.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Hardsigmoid()
    >>> layer(pyqref.tensor([-1.5, 0.0, 2.0]))
    tensor([0.2500, 0.5000, 0.8333])
    """

    __constants__ = ["inplace"]

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = as_flag(inplace, "inplace")

    def forward(self, input: Tensor) -> Tensor:
        """``relu6(input + 3) / 6``."""
        return F.hardsigmoid(input, self.inplace)


class Hardtanh(Module):
    """``min(max(x, min_val), max_val)``.

    Parameters
    ----------
    min_val, max_val
        The range, ``min_val < max_val``.

    Raises
    ------
    ValueError
        The range is empty.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Hardtanh(-1.0, 1.0)
    >>> layer(pyqref.tensor([-1.5, 0.0, 2.0]))
    tensor([-1.,  0.,  1.])
    """

    __constants__ = ["min_val", "max_val", "inplace"]

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = as_flag(inplace, "inplace")
        if not self.max_val > self.min_val:
            raise ValueError(
                f"Hardtanh: max_val must be greater than min_val, got {self.min_val} and "
                f"{self.max_val}"
            )

    def forward(self, input: Tensor) -> Tensor:
        """``input`` clamped to the range."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        """The range."""
        return f"min_val={self.min_val}, max_val={self.max_val}{_inplace_suffix(self)}"


class ReLU6(Hardtanh):
    """``min(max(x, 0), 6)``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.ReLU6()(pyqref.tensor([-2.0, 0.0, 2.0])).detach()
    tensor([0., 0., 2.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        """``inplace=True``, or nothing."""
        return "inplace=True" if self.inplace else ""


class LeakyReLU(Module):
    """``x`` where it is positive, else ``negative_slope * x``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.LeakyReLU(0.1)(pyqref.tensor([-2.0, 0.0, 2.0])).detach()
    tensor([-0.2000,  0.0000,  2.0000])
    """

    __constants__ = ["inplace", "negative_slope"]

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = number(negative_slope, "negative_slope")
        self.inplace = as_flag(inplace, "inplace")

    def forward(self, input: Tensor) -> Tensor:
        """``max(input, 0) + negative_slope * min(input, 0)``."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        """The slope."""
        return f"negative_slope={self.negative_slope}{_inplace_suffix(self)}"


class ELU(Module):
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.ELU()
    >>> layer(pyqref.tensor([-1.5, 0.0, 2.0]))
    tensor([-0.7769,  0.0000,  2.0000])
    """

    __constants__ = ["alpha", "inplace"]

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = number(alpha, "alpha")
        self.inplace = as_flag(inplace, "inplace")

    def forward(self, input: Tensor) -> Tensor:
        """The exponential linear unit."""
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        """``alpha``."""
        return f"alpha={self.alpha}{_inplace_suffix(self)}"


class CELU(ELU):
    """``max(0, x) + min(0, alpha * (exp(x / alpha) - 1))``.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.CELU()
    >>> layer(pyqref.tensor([-1.5, 0.0, 2.0]))
    tensor([-0.7769,  0.0000,  2.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """The continuously differentiable exponential linear unit."""
        return F.celu(input, self.alpha, self.inplace)


class Threshold(Module):
    """``x`` where it is above ``threshold``, else ``value``.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Threshold(0.5, 20.0)
    >>> layer(pyqref.tensor([-1.5, 0.0, 2.0]))
    tensor([20., 20.,  2.])
    """

    __constants__ = ["inplace", "threshold", "value"]

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = number(threshold, "threshold")
        self.value = number(value, "value")
        self.inplace = as_flag(inplace, "inplace")

    def forward(self, input: Tensor) -> Tensor:
        """``input`` where it is above the threshold."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        """Threshold and value."""
        return f"threshold={self.threshold}, value={self.value}{_inplace_suffix(self)}"


class GELU(Module):
    """``x`` times the normal distribution function of ``x``.

    Parameters
    ----------
    approximate
        ``"none"`` for the error function, ``"tanh"`` for the approximation by it.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.GELU()
    >>> layer(pyqref.tensor([-1.5, 0.0, 2.0]))
    tensor([-0.1002,  0.0000,  1.9545])
    """

    __constants__ = ["approximate"]

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """The Gaussian error linear unit."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """The approximation."""
        return f"approximate={self.approximate!r}"


class Sigmoid(Module):
    """``1 / (1 + exp(-x))``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.Sigmoid()(pyqref.tensor([-2.0, 0.0, 2.0])).detach()
    tensor([0.1192, 0.5000, 0.8808])
    """

    def forward(self, input: Tensor) -> Tensor:
        """``1 / (1 + exp(-input))``."""
        return F.sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.Tanh()(pyqref.tensor([-2.0, 0.0, 2.0])).detach()
    tensor([-0.9640,  0.0000,  0.9640])
    """

    def forward(self, input: Tensor) -> Tensor:
        """``tanh(input)``."""
        return F.tanh(input)
