"""Error of a weight, one number an output channel."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Tensor
from ..tensor import QuantizedTensor
from .noise import numbers

__all__ = ["channel_bound", "channel_error"]

Array = np.ndarray[Any, np.dtype[np.float64]]


def channel_error(weight: object, quantized: object, *, axis: int = 0) -> Array:
    r"""Root mean square error of each channel, in percent of the channel's own.

    .. math:: 100 \sqrt{\frac{\sum_i (w_{c,i} - \hat w_{c,i})^2}{\sum_i w_{c,i}^2}}

    Parameters
    ----------
    weight
        `(C, ...)` with C channels at ``axis``, a tensor or an array.
    quantized
        The same weight quantized, or its dequantized values.
    axis
        The channel axis.

    Returns
    -------
    ndarray
        `(C,)`; nan for a channel of zeros.

    Examples
    --------
    >>> channel_error([[3.0, 4.0], [0.6, 0.8]], [[3.0, 3.5], [0.6, 0.8]])
    array([10.,  0.])
    """
    exact, rounded = rows(weight, axis), rows(quantized, axis)
    if exact.shape != rounded.shape:
        raise ValueError(f"quantized must have the shape of weight, {exact.shape}")
    return 100 * root_mean_square(exact - rounded) / root_mean_square(exact)


def channel_bound(weight: Tensor, quantized: QuantizedTensor, *, axis: int = 0) -> Array:
    r"""Half a step of each channel, in percent of the channel's root mean square.

    .. math:: 100\, \frac{s_c / 2}{\sqrt{\sum_i w_{c,i}^2 / n}}

    No weight inside of the range errs by more than half a step, so no channel's
    :func:`channel_error` exceeds it.

    Parameters
    ----------
    weight
        `(C, ...)` with C channels at ``axis``, a tensor or an array.
    quantized
        The same weight as a quantized tensor, per tensor or per channel along ``axis``.
    axis
        The channel axis.

    Returns
    -------
    ndarray
        `(C,)`; infinite for a channel of zeros.

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.tensor([[1.0, -1.0], [0.25, -0.25]])
    >>> channel_bound(weight, pyqref.quantize_per_tensor(weight, 0.02, 0, pyqref.qint8))
    array([1., 4.])
    """
    spread = root_mean_square(rows(weight, axis))
    if "channel" in str(quantized.qscheme()):
        scale = np.asarray(quantized.q_per_channel_scales(), dtype=np.float64)
    else:
        scale = np.full(len(spread), quantized.q_scale())
    with np.errstate(divide="ignore"):
        return 100 * (scale / 2) / spread


def rows(weight: object, axis: int) -> Array:
    """The weight as `(C, n)`."""
    moved = np.moveaxis(numbers(weight), axis, 0)
    return moved.reshape(len(moved), -1)


def root_mean_square(values: Array) -> Array:
    """Return the root mean square of each row."""
    return np.sqrt((values**2).mean(axis=1))
