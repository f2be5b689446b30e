"""Normalization: subtract the mean, divide by the standard deviation, scale and shift.

The layers differ only in the axes over which mean and variance are taken: the batch
and the pixels (:class:`BatchNorm`), the trailing axes (:class:`LayerNorm`), or a group
of channels and the pixels (:class:`GroupNorm`). Means are accumulated in double.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pyqref import _kernels

from .operation import Array, Operation, unbroadcast

__all__ = ["BatchNorm", "GroupNorm", "LayerNorm", "RmsNorm"]


def mean(x: Array, axes: tuple[int, ...]) -> Array:
    """Mean over ``axes``, kept as axes of length 1, accumulated in double; nan over no elements."""
    total = x.sum(axis=axes, keepdims=True, dtype=np.float64)
    return (total / np.float64(math.prod(x.shape[axis] for axis in axes))).astype(x.dtype)


def moments(x: Array, axes: tuple[int, ...]) -> tuple[Array, Array]:
    """Mean and (biased) variance over ``axes``, kept as axes of length 1."""
    center = mean(x, axes)
    centered = x - center
    return center, mean(centered * centered, axes)


def normalized_gradient(grad: Array, x_hat: Array, inv_std: Array, axes: tuple[int, ...]) -> Array:
    """Gradient of ``x`` from that of ``x_hat = (x - mean(x)) / std(x)``."""
    return inv_std * (grad - mean(grad, axes) - x_hat * mean(grad * x_hat, axes))


class BatchNorm(Operation):
    """``BatchNorm(x, weight, bias, running_mean, running_var, training, momentum, eps)``.

    ``x`` is ``(N, C, *size)``, the others have shape ``(C,)`` or are None. With
    ``training`` the moments are those of the batch, and the running ones, if given, are
    updated in place (not by an empty batch), the variance with its unbiased estimate;
    else the running ones are used.
    """

    makes_gradients = True

    def forward(
        self,
        x: Array,
        weight: Array | None,
        bias: Array | None,
        running_mean: Array | None,
        running_var: Array | None,
        training: bool,
        momentum: float,
        eps: float,
    ) -> Array:
        self.training = training
        if training:
            center, variance = _kernels.moments_of_channels(_channels(x))
            if running_mean is not None and running_var is not None and x.size:
                count = x.size // x.shape[1]
                unbiased = variance * (count / (count - 1) if count > 1 else np.nan)
                _move(running_mean, center, momentum)
                _move(running_var, unbiased, momentum)
        else:
            assert running_mean is not None
            assert running_var is not None
            center, variance = running_mean, running_var
        inv_std = 1 / np.sqrt(variance + eps)
        scale = inv_std if weight is None else inv_std * weight
        shift = -center * scale if bias is None else bias - center * scale
        self.save(x, center.copy(), inv_std, scale)
        y = _kernels.scale_channels(_channels(x), scale, shift)
        return y.reshape(x.shape).astype(x.dtype, copy=False)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        saved, center, inv_std, scale = self.saved
        grad, x = _channels(grads[0]), _channels(saved)
        grad_x = grad_weight = grad_bias = None
        if any(self.needs[1:]) or self.training:
            grad_bias, products = _kernels.sums_of_channels(grad, x, center)
            grad_weight = products * inv_std
        if self.needs[0] and self.training:
            # scale * (grad - total / count - x_hat * weighted / count)
            count = x.size // x.shape[1]
            factor, shift = scale * inv_std * (grad_weight / count), scale * (grad_bias / count)
            grad_x = _kernels.gradient_of_normalized(grad, x, scale, center, factor, shift)
        elif self.needs[0]:
            grad_x = _kernels.scale_channels(grad, scale)
        if grad_x is not None:
            grad_x = grad_x.reshape(saved.shape)
        return grad_x, grad_weight, grad_bias


def _channels(x: Array) -> Array:
    """``(N, C, *size)`` as ``(N, C, L)``."""
    return x.reshape(*x.shape[:2], math.prod(x.shape[2:]))


def _move(running: Array, current: Array, momentum: float) -> None:
    running *= 1 - momentum
    running += momentum * current


class LayerNorm(Operation):
    """``LayerNorm(x, weight, bias, eps, axes_count)``.

    Mean and variance over the last ``axes_count`` axes; ``weight`` and ``bias`` have their
    shape, or are None.
    """

    def forward(
        self, x: Array, weight: Array | None, bias: Array | None, eps: float, axes_count: int
    ) -> Array:
        self.axes = tuple(range(-axes_count, 0))
        center, variance = moments(x, self.axes)
        inv_std = 1 / np.sqrt(variance + eps)
        x_hat = (x - center) * inv_std
        self.save(x_hat, inv_std, weight)
        y = x_hat if weight is None else x_hat * weight
        return y if bias is None else y + bias

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        x_hat, inv_std, weight = self.saved
        grad = grads[0]
        shape = x_hat.shape[-len(self.axes) :]
        grad_x = None
        if self.needs[0]:
            scaled = grad if weight is None else grad * weight
            grad_x = normalized_gradient(scaled, x_hat, inv_std, self.axes)
        return (
            grad_x,
            unbroadcast(grad * x_hat, shape) if self.needs[1] else None,
            unbroadcast(grad, shape) if self.needs[2] else None,
        )


class GroupNorm(Operation):
    """``GroupNorm(x, num_groups, weight, bias, eps)``.

    ``x`` is ``(N, C, *size)``; mean and variance are those of one group of channels of
    one sample. ``weight`` and ``bias`` have shape ``(C,)``, or are None. With as many
    groups as channels this is instance normalization.
    """

    def forward(
        self, x: Array, num_groups: int, weight: Array | None, bias: Array | None, eps: float
    ) -> Array:
        groups = x.reshape(x.shape[0], num_groups, math.prod(x.shape[1:]) // num_groups)
        center, variance = moments(groups, (2,))
        inv_std = 1 / np.sqrt(variance + eps)
        x_hat = (groups - center) * inv_std
        column = (1, -1, *(1,) * (x.ndim - 2))
        self.save(x_hat, inv_std, None if weight is None else weight.reshape(column))
        y = x_hat.reshape(x.shape)
        if weight is not None:
            y = y * weight.reshape(column)
        return y if bias is None else y + bias.reshape(column)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        x_hat, inv_std, weight = self.saved
        grad = grads[0]
        axes = (0, *range(2, grad.ndim))
        grad_x: Any = None
        if self.needs[0]:
            scaled = grad if weight is None else grad * weight
            grad_x = normalized_gradient(scaled.reshape(x_hat.shape), x_hat, inv_std, (2,))
            grad_x = grad_x.reshape(grad.shape)
        return (
            grad_x,
            None,
            (grad * x_hat.reshape(grad.shape)).sum(axis=axes) if self.needs[2] else None,
            grad.sum(axis=axes) if self.needs[3] else None,
        )


class RmsNorm(Operation):
    """``RmsNorm(x, weight, eps, axes_count)``.

    ``x`` over the root of the mean of its squares along the last ``axes_count`` axes,
    times ``weight`` if that is not None.
    """

    def forward(self, x: Array, weight: Array | None, eps: float, axes_count: int) -> Array:
        self.axes = tuple(range(-axes_count, 0))
        inv_rms = 1 / np.sqrt(mean(x * x, self.axes) + eps)
        x_hat = x * inv_rms
        self.save(x_hat, inv_rms, weight)
        return x_hat if weight is None else x_hat * weight

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        x_hat, inv_rms, weight = self.saved
        grad = grads[0]
        scaled = grad if weight is None else grad * weight
        grad_x = inv_rms * (scaled - x_hat * mean(scaled * x_hat, self.axes))
        shape = x_hat.shape[-len(self.axes) :]
        return grad_x, unbroadcast(grad * x_hat, shape) if self.needs[1] else None
