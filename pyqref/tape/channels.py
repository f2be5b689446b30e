"""Products and quotients with a number for each channel, by the kernels of channels.

These are what quantization-aware training makes of convolution and batch norm: weights and results
are scaled channel by channel, and the gradient of a scale is a sum over its channel.
"""

from __future__ import annotations

import math

import numpy as np

from pyqref import _kernels

from .operation import Array, unbroadcast

__all__ = ["quotient", "scaled", "sum_of_products"]

#: Numbers of which it is worth asking whether threads can share them.
_MANY = 1 << 15


def _channels(shape: tuple[int, ...], of: tuple[int, ...]) -> tuple[int, int, int] | None:
    """``(N, C, L)`` if a number for each of C channels is repeated for N images and L pixels.

    ``of`` is the shape of these numbers: as many axes, of which all but one have length 1.
    """
    axes = [axis for axis, length in enumerate(of) if length != 1]
    if len(of) != len(shape) or len(axes) != 1 or of[axes[0]] != shape[axes[0]]:
        return None
    (axis,) = axes
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])


def scaled(a: Array, b: Array, divides: bool = False) -> Array:
    """``a * b`` or ``a / b``, by threads where ``b`` has a number for each channel of many."""
    if a.size >= _MANY and (channels := _channels(a.shape, b.shape)) is not None:
        scaled = _kernels.scale_channels(a.reshape(channels), b.reshape(-1), None, divides)
        return scaled.reshape(a.shape)
    return a / b if divides else a * b


def quotient(a: Array, b: Array) -> Array:
    """``a / b``, as :func:`scaled` gives it.

    Examples
    --------
    >>> quotient(np.float32([1.0, 3.0]), np.float32(2.0)).tolist()
    [0.5, 1.5]
    """
    return scaled(a, b, True)


def sum_of_products(grad: Array, other: Array, shape: tuple[int, ...]) -> Array:
    """``grad * other``, summed over the axes along which the operand of ``shape`` was repeated."""
    if grad.shape == shape:
        return np.asarray(scaled(grad, other))
    if grad.shape != other.shape or grad.ndim != len(shape):
        return unbroadcast(grad * other, shape)
    if grad.dtype == np.float32 and (channels := _channels(grad.shape, shape)) is not None:
        _, total = _kernels.sums_of_channels(grad.reshape(channels), other.reshape(channels))
        return total.reshape(shape)
    axes = list(range(grad.ndim))
    kept = [axis for axis in axes if shape[axis] == grad.shape[axis]]
    return np.asarray(np.einsum(grad, axes, other, axes, kept)).reshape(shape)
