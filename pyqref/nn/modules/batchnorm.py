"""Batch and instance normalization layers, which may keep running statistics."""

from __future__ import annotations

from typing import Any

from ..._typing import Device, Dtype, Tensor
from ...dtypes import int64
from ...tensor.arguments import as_flag
from ...tensor.creation import empty, ones, tensor, zeros
from ...tensor.dispatch import require_tensor
from ...tensor.parameter import Parameter
from .. import functional as F
from .. import init
from .arguments import number, sizes
from .module import Module

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "BatchNormBase", "NormBase"]


class NormBase(Module):
    """Scale, shift and running statistics of a normalization of channels.

    Attributes
    ----------
    weight, bias : Parameter or None
        Shape `(num_features,)`, ones and zeros at first; None unless ``affine``.
    running_mean, running_var : Tensor or None
        Buffers of shape `(num_features,)`, zeros and ones at first; None unless
        ``track_running_stats``.
    num_batches_tracked : Tensor or None
        Buffer, an int64 number: batches seen in training.
    """

    running_mean: Any
    running_var: Any
    num_batches_tracked: Tensor

    _version = 2
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]

    #: How many dimensions the input may have.
    _dimensions: tuple[int, ...]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-05,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device = None,
        dtype: Dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        (num_features,) = sizes(num_features=num_features)
        affine, bias = as_flag(affine, "affine"), as_flag(bias, "bias")
        track_running_stats = as_flag(track_running_stats, "track_running_stats")
        self.num_features = num_features
        self.eps = number(eps, "eps")
        self.momentum = None if momentum is None else number(momentum, "momentum")
        self.affine = affine
        self.track_running_stats = track_running_stats
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        if affine:
            self.weight = Parameter(empty(num_features, **options))
        else:
            self.register_parameter("weight", None)
        if affine and bias:
            self.bias = Parameter(empty(num_features, **options))
        else:
            self.register_parameter("bias", None)
        tracks = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, **options) if tracks else None)
        self.register_buffer("running_var", ones(num_features, **options) if tracks else None)
        self.register_buffer("num_batches_tracked", tensor(0, dtype=int64) if tracks else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget the batches that were seen."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Forget the batches, and set weight to ones and bias to zeros."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input: Any) -> None:
        require_tensor(type(self).__name__, "input", input)
        if input.ndim not in self._dimensions:
            wanted = " or ".join(f"{n}D" for n in self._dimensions)
            raise ValueError(
                f"{type(self).__name__}: expected {wanted} input (got {input.ndim}D input)"
            )

    def extra_repr(self) -> str:
        """The arguments."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, *args: Any, **kwargs: Any
    ) -> None:
        """States of before version 2 have no ``num_batches_tracked``; it starts at 0."""
        version = local_metadata.get("version", None)
        key = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats:
            state_dict.setdefault(key, tensor(0, dtype=int64))
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args, **kwargs)


class BatchNormBase(NormBase):
    """Batch normalization, whatever the number of spatial dimensions."""

    def forward(self, input: Tensor) -> Tensor:
        """Normalized over all dimensions but the channels; the shape stays."""
        self._check_input_dim(input)
        average = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                average = 1.0 / float(self.num_batches_tracked)
        from_batch = self.training or (self.running_mean is None and self.running_var is None)
        keep = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if keep else None,
            self.running_var if keep else None,
            self.weight,
            self.bias,
            from_batch,
            average,
            self.eps,
        )


class BatchNorm1d(BatchNormBase):
    """Batch normalization of `(N, C)` or `(N, C, L)`; see :class:`BatchNorm2d`.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.BatchNorm1d(6)
    >>> m(pyqref.randn(4, 6)).shape
    pyqref.Size([4, 6])
    """

    _dimensions = (2, 3)


class BatchNorm2d(BatchNormBase):
    """``(x - mean) / sqrt(var + eps) * weight + bias``, for each channel of `(N, C, H, W)`.

    In training mode the moments are those of the batch (biased variance), and the running
    ones move towards them (unbiased variance): ``(1 - momentum) * running + momentum * batch``.
    In evaluation mode the running ones are used.

    Parameters
    ----------
    num_features
        The number of channels.
    eps
        Added to the variance.
    momentum
        Weight of a new batch in the running moments; None averages over all batches.
    affine
        Whether there are a weight and a bias.
    track_running_stats
        Without running moments those of the batch are always used.
    bias
        False leaves out the bias only.

    Raises
    ------
    ValueError
        The input has another number of dimensions, or, in training mode, one value a channel.

    Notes
    -----
    Source: documentation of ``torch.nn.BatchNorm2d``; arXiv 1502.03167.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.BatchNorm2d(3)
    >>> layer
    BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    >>> layer(pyqref.zeros(2, 3, 4, 4)).shape
    pyqref.Size([2, 3, 4, 4])
    >>> layer.num_batches_tracked.item()
    1
    """

    _dimensions = (4,)


class BatchNorm3d(BatchNormBase):
    """Batch normalization of `(N, C, D, H, W)`; see :class:`BatchNorm2d`.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.BatchNorm3d(6)
    >>> m(pyqref.randn(4, 6, 2, 2, 2)).shape
    pyqref.Size([4, 6, 2, 2, 2])
    """

    _dimensions = (5,)
