"""Normalizations that find the number of their channels from the first input."""

from __future__ import annotations

from typing import Any

from ...dtypes import int64
from ...tensor.creation import tensor
from ...tensor.dispatch import require_tensor
from ..uninitialized import UninitializedBuffer, UninitializedParameter
from .batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from .instancenorm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from .lazy import LazyModuleMixin

__all__ = [
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]


class _LazyNorm(LazyModuleMixin):
    """A lazy batch or instance normalization."""

    def __init__(
        self: Any,
        eps: float = 1e-05,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False)
        self.affine = affine
        self.track_running_stats = track_running_stats
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        if affine:
            self.weight = UninitializedParameter(**options)
            if bias:
                self.bias = UninitializedParameter(**options)
        if track_running_stats:
            self.running_mean: Any = UninitializedBuffer(**options)
            self.running_var: Any = UninitializedBuffer(**options)
            self.num_batches_tracked = tensor(0, dtype=int64)

    def reset_parameters(self: Any) -> None:
        """Forget the batches and set first values, once there are shapes."""
        if self.num_features != 0 and not self.has_uninitialized_params():
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self: Any, input: Any) -> None:
        """Take ``num_features`` from the axis of the channels."""
        require_tensor(type(self).__name__, "input", input)
        self._check_input_dim(input)
        if self.num_features == 0:
            self.num_features = self._channels(input)
        if not self.has_uninitialized_params():
            return
        for value in (self.weight, self.bias, self.running_mean, self.running_var):
            if value is not None:
                value.materialize((self.num_features,))
        self.reset_parameters()

    def _channels(self, input: Any) -> int:
        channels: int = input.shape[1]
        return channels


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """:class:`BatchNorm1d` whose ``num_features`` are the channels of the first input.

    Parameters
    ----------
    eps, momentum, affine, track_running_stats, bias
        See :class:`BatchNorm1d`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.LazyBatchNorm1d()
    >>> layer(pyqref.ones(2, 3, 4)).shape, layer.num_features
    (pyqref.Size([2, 3, 4]), 3)
    """

    cls_to_become = BatchNorm1d


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    """:class:`InstanceNorm1d` whose ``num_features`` are the channels of the first input.

    Parameters
    ----------
    eps, momentum, affine, track_running_stats
        See :class:`InstanceNorm1d`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.LazyInstanceNorm1d()
    >>> layer(pyqref.ones(2, 3, 4)).shape, layer.num_features
    (pyqref.Size([2, 3, 4]), 3)
    """

    cls_to_become = InstanceNorm1d

    def _channels(self, input: Any) -> int:
        channels: int = input.shape[-2]
        return channels


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """:class:`BatchNorm2d` whose ``num_features`` are the channels of the first input.

    Parameters
    ----------
    eps, momentum, affine, track_running_stats, bias
        See :class:`BatchNorm2d`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.LazyBatchNorm2d()
    >>> layer(pyqref.ones(2, 3, 4, 4)).shape, layer.num_features
    (pyqref.Size([2, 3, 4, 4]), 3)
    """

    cls_to_become = BatchNorm2d


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    """:class:`InstanceNorm2d` whose ``num_features`` are the channels of the first input.

    Parameters
    ----------
    eps, momentum, affine, track_running_stats
        See :class:`InstanceNorm2d`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.LazyInstanceNorm2d()
    >>> layer(pyqref.ones(2, 3, 4, 4)).shape, layer.num_features
    (pyqref.Size([2, 3, 4, 4]), 3)
    """

    cls_to_become = InstanceNorm2d

    def _channels(self, input: Any) -> int:
        channels: int = input.shape[-3]
        return channels


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """:class:`BatchNorm3d` whose ``num_features`` are the channels of the first input.

    Parameters
    ----------
    eps, momentum, affine, track_running_stats, bias
        See :class:`BatchNorm3d`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.LazyBatchNorm3d()
    >>> layer(pyqref.ones(2, 3, 4, 4, 4)).shape, layer.num_features
    (pyqref.Size([2, 3, 4, 4, 4]), 3)
    """

    cls_to_become = BatchNorm3d


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    """:class:`InstanceNorm3d` whose ``num_features`` are the channels of the first input.

    Parameters
    ----------
    eps, momentum, affine, track_running_stats
        See :class:`InstanceNorm3d`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.LazyInstanceNorm3d()
    >>> layer(pyqref.ones(2, 3, 4, 4, 4)).shape, layer.num_features
    (pyqref.Size([2, 3, 4, 4, 4]), 3)
    """

    cls_to_become = InstanceNorm3d

    def _channels(self, input: Any) -> int:
        channels: int = input.shape[-4]
        return channels
