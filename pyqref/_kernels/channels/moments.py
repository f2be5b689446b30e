"""Mean and variance of channels by the kernel in use; other types go to the twin in NumPy."""

from __future__ import annotations

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.channels.scaling import alike
from pyqref.numerics import moments as reference
from pyqref.numerics.types import FloatArray

__all__ = ["moments_of_channels"]

_FLOAT32 = np.dtype(np.float32)


def moments_of_channels(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fast form of :func:`pyqref.numerics.moments.moments_of_channels`."""
    kernel = registry.twin("channels")
    if kernel is None or x.dtype != _FLOAT32:
        return reference.moments_of_channels(x)
    means, variances = np.empty(x.shape[1], _FLOAT32), np.empty(x.shape[1], _FLOAT32)
    kernel.moments_of_channels(*alike(x), means, variances, threads.limit)
    return means, variances
