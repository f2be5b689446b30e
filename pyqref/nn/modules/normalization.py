"""Layer, group and root-mean-square normalization; local response normalization."""

from __future__ import annotations

from typing import Any

from ..._typing import Device, Dtype, Ints, Tensor
from ...tensor.arguments import as_flag, as_integer
from ...tensor.creation import empty
from ...tensor.parameter import Parameter
from .. import functional as F
from .. import init
from .arguments import number, sizes
from .module import Module

__all__ = ["GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


def _shape(normalized_shape: Any) -> tuple[int, ...]:
    several = isinstance(normalized_shape, list | tuple)
    lengths = normalized_shape if several else (normalized_shape,)
    return tuple(as_integer(each, "normalized_shape", 0) for each in lengths)


class LayerNorm(Module):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` over the last dimensions.

    Parameters
    ----------
    normalized_shape
        Lengths of these dimensions, an int for one.
    eps
        Added to the (biased) variance.
    elementwise_affine, bias
        Whether there are a weight and a bias, both of shape ``normalized_shape``.

    Notes
    -----
    Source: documentation of ``torch.nn.LayerNorm``; arXiv 1607.06450.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.LayerNorm([5, 10])
    >>> layer
    LayerNorm((5, 10), eps=1e-05, elementwise_affine=True, bias=True)
    """

    weight: Parameter
    bias: Parameter

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]

    def __init__(
        self,
        normalized_shape: Ints,
        eps: float = 1e-05,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        elementwise_affine = as_flag(elementwise_affine, "elementwise_affine")
        bias = as_flag(bias, "bias")
        self.normalized_shape = _shape(normalized_shape)
        self.eps = number(eps, "eps")
        self.elementwise_affine = elementwise_affine
        for name, present in (
            ("weight", elementwise_affine),
            ("bias", elementwise_affine and bias),
        ):
            value = empty(self.normalized_shape, device=device, dtype=dtype) if present else None
            self.register_parameter(name, None if value is None else Parameter(value))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weight to ones and bias to zeros."""
        if self.elementwise_affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """`(*, *normalized_shape)`; the shape stays."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The arguments."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class GroupNorm(Module):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` over groups of channels of a sample.

    Parameters
    ----------
    num_groups, num_channels
        The channels are split into as many groups, which must come out even.
    eps
        Added to the (biased) variance.
    affine, bias
        Whether there are a weight and a bias for each channel.

    Notes
    -----
    Input and output `(N, num_channels, *)`. Source: documentation of ``torch.nn.GroupNorm``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.GroupNorm(3, 6)
    GroupNorm(3, 6, eps=1e-05, affine=True, bias=True)
    """

    weight: Parameter
    bias: Parameter

    __constants__ = ["num_groups", "num_channels", "eps", "affine"]

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-05,
        affine: bool = True,
        device: Device = None,
        dtype: Dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        num_channels, num_groups = sizes(num_channels=num_channels, num_groups=num_groups)
        affine, bias = as_flag(affine, "affine"), as_flag(bias, "bias")
        if num_groups == 0 or num_channels % num_groups != 0:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups}), "
                "but a remainder is left"
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = number(eps, "eps")
        self.affine = affine
        for name, present in (("weight", affine), ("bias", affine and bias)):
            value = empty(num_channels, device=device, dtype=dtype) if present else None
            self.register_parameter(name, None if value is None else Parameter(value))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weight to ones and bias to zeros."""
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """`(N, num_channels, *)`; the shape stays."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The arguments."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """``x / sqrt(mean(x^2) + eps) * weight`` over the last dimensions.

    Parameters
    ----------
    normalized_shape
        Lengths of these dimensions, an int for one.
    eps
        That of the dtype if None.
    elementwise_affine
        Whether there is a weight.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.RMSNorm(2, eps=0.0)
    >>> layer(pyqref.tensor([[1.0, 7.0]])).shape
    pyqref.Size([1, 2])
    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]

    def __init__(
        self,
        normalized_shape: int,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = None if eps is None else number(eps, "eps")
        self.elementwise_affine = as_flag(elementwise_affine, "elementwise_affine")
        if self.elementwise_affine:
            self.weight = Parameter(empty(self.normalized_shape, device=device, dtype=dtype))
        else:
            self.register_parameter("weight", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weight to ones."""
        if self.elementwise_affine:
            init.ones_(self.weight)

    def forward(self, input: Tensor) -> Tensor:
        """`(*, *normalized_shape)`; the shape stays."""
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """The arguments."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class LocalResponseNorm(Module):
    """Divide by ``(k + alpha * mean of the squares of size neighbouring channels)^beta``.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.LocalResponseNorm(2)
    >>> layer(pyqref.ones(1, 4, 1)).shape
    pyqref.Size([1, 4, 1])
    """

    __constants__ = ["size", "alpha", "beta", "k"]

    def __init__(
        self, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0
    ) -> None:
        super().__init__()
        self.size = as_integer(size, "size")
        self.alpha = number(alpha, "alpha")
        self.beta = number(beta, "beta")
        self.k = number(k, "k")

    def forward(self, input: Tensor) -> Tensor:
        """`(N, C, *)`; the shape stays."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """The arguments."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
