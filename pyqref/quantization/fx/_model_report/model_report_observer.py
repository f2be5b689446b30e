"""``ModelReportObserver``: ranges and percentiles of what passes, batch by batch."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from pyqref.dtypes import qint8
from pyqref.quantization.observer import ObserverBase
from pyqref.quantization.observer.merging import channels_differ
from pyqref.tensor import Tensor, from_numpy, tensor

__all__ = ["ModelReportObserver"]

LARGEST = np.finfo(np.float32).max


class ModelReportObserver(ObserverBase):
    r"""Record what the detectors of a :class:`ModelReport` ask for.

    With :math:`r_b` the range of batch :math:`b` and :math:`R` that of all of them, the data is
    stationary where :math:`S = \overline{r_b} / R` is large. For outliers it keeps, for each
    channel, the mean over the batches of the largest number over the percentile
    ``comp_percentile``.

    Parameters
    ----------
    ch_axis
        Axis of the channels.
    comp_percentile
        Between 0 and 1.

    Attributes
    ----------
    num_batches_tracked : int
    average_batch_activation_range : Tensor
        Mean over the batches of largest minus smallest number.
    epoch_activation_min, epoch_activation_max : Tensor
        Of all batches.
    min_val, max_val : Tensor
        Of each channel.
    average_percentile_ratio : Tensor
        Of each channel; a percentile of 0 counts as the largest float32.
    percentile_batches_tracked : Tensor
        Of each channel, how many batches had a ratio, int32.
    constant_channels : Tensor
        Of each channel, how many batches were constant, int32.

    Raises
    ------
    ValueError
        The input has no axis ``ch_axis`` or no element.

    Notes
    -----
    Source: ``torch.ao.quantization.fx._model_report``.

    Examples
    --------
    >>> import pyqref
    >>> observer = ModelReportObserver()
    >>> for size in (1.0, 3.0):
    ...     _ = observer(pyqref.tensor([[-size], [size]]))
    >>> observer.get_batch_to_epoch_ratio()
    tensor(0.6667)
    """

    epoch_activation_min: Tensor
    epoch_activation_max: Tensor
    min_val: Tensor
    max_val: Tensor
    comp_percentile: Tensor
    average_percentile_ratio: Tensor
    percentile_batches_tracked: Tensor
    constant_channels: Tensor

    def __init__(self, ch_axis: int = 1, comp_percentile: float = 0.9) -> None:
        super().__init__(dtype=qint8)
        self.ch_axis = ch_axis
        self.register_buffer("comp_percentile", tensor([comp_percentile]))
        self._begin()

    def _begin(self) -> None:
        self.num_batches_tracked = 0
        self.average_batch_activation_range: Any = tensor(0.0)
        self.register_buffer("epoch_activation_min", tensor(float("inf")))
        self.register_buffer("epoch_activation_max", tensor(float("-inf")))
        for name in (
            "min_val",
            "max_val",
            "average_percentile_ratio",
            "percentile_batches_tracked",
            "constant_channels",
        ):
            self.register_buffer(name, tensor([]))

    def forward(self, x: Tensor) -> Tensor:
        """Look at ``x`` and return it."""
        array = np.asarray(x.detach(), dtype=np.float32)
        axis = self.ch_axis
        if not -array.ndim <= axis < array.ndim or not array.size:
            raise ValueError(
                f"ModelReportObserver: the input must have elements and an axis {axis}, got the "
                f"shape {array.shape}"
            )
        channels = np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1)
        self._look_at_range(channels)
        self._look_at_percentiles(np.sort(channels, axis=1))
        return x

    def _look_at_range(self, channels: Any) -> None:
        low, high = channels.min(axis=1), channels.max(axis=1)
        seen = self.num_batches_tracked
        average = float(self.average_batch_activation_range) * seen + float(high.max() - low.min())
        self.average_batch_activation_range = tensor(average / (seen + 1))
        self.num_batches_tracked = seen + 1
        self.epoch_activation_min = self.epoch_activation_min.clamp(max=float(low.min()))
        self.epoch_activation_max = self.epoch_activation_max.clamp(min=float(high.max()))
        if self.min_val.numel():
            low = np.minimum(low, np.asarray(self.min_val))
            high = np.maximum(high, np.asarray(self.max_val))
        self.min_val, self.max_val = from_numpy(low), from_numpy(high)

    def _look_at_percentiles(self, ordered: Any) -> None:
        """The ratio of the last to an earlier one of the numbers of each channel, in order."""
        count = ordered.shape[1]
        place = int(np.float32(self.comp_percentile.item()) * np.float32(count - 1))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = (ordered[:, -1] / ordered[:, place]).astype(np.float64)
        tracked = ~np.isnan(ratio)
        ratio = np.clip(np.where(tracked, ratio, 0), -LARGEST, LARGEST)
        if not self.average_percentile_ratio.numel():
            zeros = np.zeros(len(ordered))
            self.average_percentile_ratio = from_numpy(zeros.astype(np.float32))
            self.percentile_batches_tracked = from_numpy(zeros.astype(np.int32))
            self.constant_channels = from_numpy(zeros.astype(np.int32))
        before = np.asarray(self.percentile_batches_tracked)
        after = before + tracked
        total = np.asarray(self.average_percentile_ratio, dtype=np.float64) * before + ratio
        average = np.clip(total / np.maximum(after, 1), -LARGEST, LARGEST)
        constant = ordered[:, 0] == ordered[:, -1]
        self.average_percentile_ratio = from_numpy(average.astype(np.float32))
        self.percentile_batches_tracked = from_numpy(after.astype(np.int32))
        seen = np.asarray(self.constant_channels) + constant
        self.constant_channels = from_numpy(seen.astype(np.int32))

    def _merge(self, other: Any) -> None:
        """Take in extremes and counts, and the averages by how many batches they are of."""
        mine, theirs = self.comp_percentile.item(), other.comp_percentile.item()
        if mine != theirs:
            raise ValueError(
                f"ModelReportObserver: merge takes an observer with comp_percentile={mine:.4g} as "
                f"this one, got {theirs:.4g}"
            )
        if not other.num_batches_tracked:
            return
        if not self.num_batches_tracked:
            for name in (
                "min_val",
                "max_val",
                "average_percentile_ratio",
                "percentile_batches_tracked",
                "constant_channels",
            ):
                setattr(self, name, getattr(other, name).clone())
        else:
            own, given = self.min_val.numel(), other.min_val.numel()
            if own != given:
                raise channels_differ(self, own, given)
            self.min_val = self.min_val.minimum(other.min_val)
            self.max_val = self.max_val.maximum(other.max_val)
            tracked = self.percentile_batches_tracked, other.percentile_batches_tracked
            self.average_percentile_ratio = _average(
                self.average_percentile_ratio, other.average_percentile_ratio, *tracked
            )
            self.percentile_batches_tracked = tracked[0] + tracked[1]
            self.constant_channels = self.constant_channels + other.constant_channels
        batches = self.num_batches_tracked, other.num_batches_tracked
        self.average_batch_activation_range = _average(
            self.average_batch_activation_range, other.average_batch_activation_range, *batches
        )
        self.num_batches_tracked = sum(batches)
        self.epoch_activation_min = self.epoch_activation_min.minimum(other.epoch_activation_min)
        self.epoch_activation_max = self.epoch_activation_max.maximum(other.epoch_activation_max)

    def get_batch_to_epoch_ratio(self) -> Tensor:
        """Mean range of a batch over the range of all.

        Raises
        ------
        ValueError
            All numbers were equal.
        """
        whole = self.epoch_activation_max - self.epoch_activation_min
        if float(whole) == 0:
            raise ValueError("Range for Epoch is 0: every number that was seen is the same")
        return self.average_batch_activation_range / whole

    def reset_batch_and_epoch_values(self) -> None:
        """Forget everything."""
        self._begin()

    def reset_min_max_vals(self) -> None:
        """Forget everything, as ``calibrate`` asks of every observer."""
        self._begin()

    def calculate_qparams(self, **_: object) -> NoReturn:
        """Refuse: this observer chooses no grid.

        Raises
        ------
        RuntimeError
            Always.
        """
        raise RuntimeError("calculate_qparams should not be called for ModelReportObserver")


def _average(first: Any, second: Any, mine: Any, theirs: Any) -> Tensor:
    """The average of as many numbers as both are of; 0 of none."""
    counts = [np.asarray(each, np.float64) for each in (mine, theirs)]
    total = np.asarray(first, np.float64) * counts[0] + np.asarray(second, np.float64) * counts[1]
    average = np.clip(total / np.maximum(counts[0] + counts[1], 1), -LARGEST, LARGEST)
    return tensor(average.tolist())
