"""Instance normalization layers."""

from __future__ import annotations

import warnings
from typing import Any

from ..._typing import Device, Dtype, Tensor
from .. import functional as F
from .batchnorm import NormBase

__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]


class _InstanceNorm(NormBase):
    """Instance normalization, whatever the number of spatial dimensions."""

    _unbatched: int

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-05,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Device = None,
        dtype: Dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def forward(self, input: Tensor) -> Tensor:
        """Normalized over the spatial dimensions; the shape stays."""
        self._check_input_dim(input)
        axis = input.ndim - self._unbatched
        if input.shape[axis] != self.num_features:
            message = (
                f"input's size at dim={axis} does not match num_features: expected "
                f"{self.num_features}, got {input.shape[axis]}"
            )
            if self.affine:
                raise ValueError(message)
            warnings.warn(
                f"{message}. You can silence this warning by passing in the number of channels; "
                "num_features is not used because affine=False",
                UserWarning,
                stacklevel=2,
            )
        if input.ndim == self._unbatched:
            return self._normalized(input.unsqueeze(0)).squeeze(0)
        return self._normalized(input)

    def _normalized(self, input: Any) -> Any:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )


class InstanceNorm1d(_InstanceNorm):
    """Instance normalization of `(N, C, L)` or `(C, L)`; see :class:`InstanceNorm2d`.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.InstanceNorm1d(4)
    >>> m(pyqref.randn(2, 4, 8)).shape
    pyqref.Size([2, 4, 8])
    """

    _dimensions = (2, 3)
    _unbatched = 2


class InstanceNorm2d(_InstanceNorm):
    """Normalize each channel of each sample of `(N, C, H, W)` or `(C, H, W)`.

    ``(x - mean) / sqrt(var + eps) * weight + bias``.

    Parameters
    ----------
    num_features
        The number of channels.
    eps, momentum, affine, track_running_stats, bias
        As for :class:`BatchNorm2d`; without weight, bias and running moments by default.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.InstanceNorm2d(100)(pyqref.zeros(20, 100, 5, 4)).shape
    pyqref.Size([20, 100, 5, 4])
    """

    _dimensions = (3, 4)
    _unbatched = 3


class InstanceNorm3d(_InstanceNorm):
    """Instance normalization of `(N, C, D, H, W)` or `(C, D, H, W)`, as :class:`InstanceNorm2d`.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.InstanceNorm3d(4)
    >>> m(pyqref.randn(2, 4, 4, 4, 4)).shape
    pyqref.Size([2, 4, 4, 4, 4])
    """

    _dimensions = (4, 5)
    _unbatched = 4
