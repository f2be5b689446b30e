"""Mean and variance of the channels of float images, as batch norm takes them in training."""

from __future__ import annotations

import numpy as np

from .types import FloatArray

__all__ = ["moments_of_channels", "sums"]

#: Sums of a channel are made side by side, one for each of so many neighbours, and then added.
LANES = 16


def moments_of_channels(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and (biased) variance of each channel of ``x`` ``(N, C, L)``, of its type.

    The variance is the mean of the squares of what is left without the mean, which is in the
    type of ``x``. Squares and sums are in double.

    Examples
    --------
    >>> moments_of_channels(np.float32([[[1, 3], [5, 5]]]))
    (array([2., 5.], dtype=float32), array([1., 0.], dtype=float32))
    """
    count = np.float64(x.shape[0] * x.shape[2])
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (sums(x.astype(np.float64)) / count).astype(x.dtype)
        centered = (x - mean[:, np.newaxis]).astype(np.float64)
        return mean, (sums(centered * centered) / count).astype(x.dtype)


def sums(x: FloatArray) -> FloatArray:
    """Sum over each channel of ``x`` ``(N, C, L)``, in double, in an order that threads keep.

    Line by line of the batch, lane by lane, and the lanes by halves.

    Examples
    --------
    >>> sums(np.arange(12.0).reshape(2, 2, 3))
    array([24., 42.])
    """
    batch, channels, length = x.shape
    padded = np.zeros((batch, channels, -(-length // LANES) * LANES))
    padded[..., :length] = x
    steps = padded.reshape(batch, channels, padded.shape[2] // LANES, LANES)
    lanes = np.zeros((channels, LANES))
    for image in steps.swapaxes(1, 2):
        for step in image:
            lanes += step
    while lanes.shape[1] > 1:
        lanes = lanes[:, : lanes.shape[1] // 2] + lanes[:, lanes.shape[1] // 2 :]
    return lanes[:, 0]
