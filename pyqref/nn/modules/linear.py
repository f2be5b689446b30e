"""Linear and bilinear layers."""

from __future__ import annotations

import math

from ..._typing import Device, Dtype, Tensor
from ...tensor.arguments import as_flag
from ...tensor.creation import empty
from ...tensor.parameter import Parameter
from .. import functional as F
from .. import init
from .arguments import sizes
from .module import Module

__all__ = ["Bilinear", "Linear"]


class Linear(Module):
    """``y = x W^T + b``.

    Parameters
    ----------
    in_features, out_features
        Lengths of the last dimension of input and output.
    bias
        Whether there is a ``b``.

    Attributes
    ----------
    weight : Parameter
        Shape `(out_features, in_features)`, uniform in ``±1 / sqrt(in_features)``.
    bias : Parameter or None
        Shape `(out_features,)`, uniform in the same range.

    Notes
    -----
    Input `(*, in_features)`, output `(*, out_features)`.
    Source: documentation of ``torch.nn.Linear``.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Linear(20, 30)
    >>> layer
    Linear(in_features=20, out_features=30, bias=True)
    >>> layer(pyqref.zeros(128, 20)).shape
    pyqref.Size([128, 30])
    """

    __constants__ = ["in_features", "out_features"]

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        in_features, out_features = sizes(in_features=in_features, out_features=out_features)
        bias = as_flag(bias, "bias")
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(empty((out_features, in_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """`(*, in_features)` to `(*, out_features)`."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class NonDynamicallyQuantizableLinear(Linear):
    """The output projection of attention: a :class:`Linear` that dynamic quantization leaves."""


class Bilinear(Module):
    """``y_k = x1^T W_k x2 + b_k``.

    Parameters
    ----------
    in1_features, in2_features, out_features
        Lengths of the last dimensions of the two inputs and of the output.
    bias
        Whether there is a ``b``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.Bilinear(2, 3, 4)(pyqref.zeros(5, 2), pyqref.zeros(5, 3)).shape
    pyqref.Size([5, 4])
    """

    __constants__ = ["in1_features", "in2_features", "out_features"]

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        in1_features, in2_features, out_features = sizes(
            in1_features=in1_features, in2_features=in2_features, out_features=out_features
        )
        bias = as_flag(bias, "bias")
        if in1_features == 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        shape = (out_features, in1_features, in2_features)
        self.weight = Parameter(empty(shape, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew, uniform in ``±1 / sqrt(in1_features)``."""
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """`(*, in1_features)` and `(*, in2_features)` to `(*, out_features)`."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )
