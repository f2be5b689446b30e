"""Normalization: subtract the mean, divide by the standard deviation, scale and shift.

The layers differ only in the axes over which mean and variance are taken: the batch
and the pixels (:class:`BatchNorm`), the trailing axes (:class:`LayerNorm`), or a group
of channels and the pixels (:class:`GroupNorm`). Kernels accumulate the sums in double.
"""

from __future__ import annotations

import math

import numpy as np

from pyqref import _kernels
from pyqref._kernels.layout import contiguous, lies_in_result_order

from .operation import Array, Operation

__all__ = ["BatchNorm", "GroupNorm", "LayerNorm", "RmsNorm"]


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
        if training:
            wide = 1 / np.sqrt(variance.astype(np.float64) + eps)
            inv_std = wide.astype(x.dtype)
            scale = (wide if weight is None else wide * weight).astype(x.dtype)
            shift = np.zeros_like(scale) if bias is None else bias
            y = _kernels.scale_channels(_channels(x), scale, shift, False, center)
        else:
            inv_std = 1 / np.sqrt(variance + eps)
            scale = inv_std if weight is None else inv_std * weight
            shift = -center * scale if bias is None else bias - center * scale
            y = _kernels.scale_channels(_channels(x), scale, shift)
        if any(self.needs):
            self.save(x, center.copy(), inv_std, scale)
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

    has_mean = True
    is_quiet = True
    makes_gradients = True

    @classmethod
    def compute(
        cls, x: Array, weight: Array | None, bias: Array | None, eps: float, axes_count: int
    ) -> Array:
        return cls._normalized(x, _flat(weight), _flat(bias), eps, axes_count)[0]

    @classmethod
    def _normalized(
        cls, x: Array, weight: Array | None, bias: Array | None, eps: float, axes_count: int
    ) -> tuple[Array, Array, Array]:
        rows = _rows(x, axes_count)
        y, center, factor = _kernels.normalize_rows(rows, weight, bias, eps, cls.has_mean)
        return y if rows is x else y.reshape(x.shape), center, factor

    def forward(
        self, x: Array, weight: Array | None, bias: Array | None, eps: float, axes_count: int
    ) -> Array:
        self.axes_count = axes_count
        weight = _flat(weight)
        y, center, factor = self._normalized(x, weight, _flat(bias), eps, axes_count)
        self.save(x, weight, center, factor)
        return y

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        x, weight, center, factor = self.saved
        rows, grad = _rows(x, self.axes_count), _rows(grads[0], self.axes_count)
        shape = x.shape[x.ndim - self.axes_count :]
        of_x = of_weight = of_bias = None
        if self.needs[0]:
            of_x = _kernels.gradient_of_rows(grad, rows, weight, center, factor, self.has_mean)
            of_x = of_x.reshape(x.shape)
        if self.needs[1] or self.needs[2]:
            of_weight, of_bias = (
                each.reshape(shape)
                for each in _kernels.gradient_of_columns(grad, rows, center, factor)
            )
        return of_x, of_weight, of_bias


class RmsNorm(LayerNorm):
    """``RmsNorm(x, weight, bias, eps, axes_count)``.

    ``x`` over the root of the mean of its squares along the last ``axes_count`` axes,
    times ``weight`` if that is not None; ``bias`` is None.
    """

    has_mean = False


def _flat(x: Array | None) -> Array | None:
    return x if x is None or x.ndim == 1 else x.reshape(-1)


def _rows(x: Array, axes_count: int) -> Array:
    """``x`` as ``(rows, n)``, where n numbers lie along the last axes."""
    if x.ndim == 2 and axes_count == 1:
        return x
    n = math.prod(x.shape[x.ndim - axes_count :])
    return x.reshape(math.prod(x.shape[: x.ndim - axes_count]), n)


class GroupNorm(Operation):
    """``GroupNorm(x, num_groups, weight, bias, eps)``.

    ``x`` is ``(N, C, *size)``; mean and variance are those of one group of channels of
    one sample. ``weight`` and ``bias`` have shape ``(C,)``, or are None. With as many
    groups as channels this is instance normalization.
    """

    makes_gradients = True

    def forward(
        self, x: Array, num_groups: int, weight: Array | None, bias: Array | None, eps: float
    ) -> Array:
        x = x if lies_in_result_order(x) else contiguous(x)
        y, *parameters = _kernels.normalize_groups(_channels(x), num_groups, weight, bias, eps)
        groups = x.shape[0] * num_groups
        self.groups = groups, x.size // max(groups, 1)
        self.save(x, *parameters, weight)
        return y.reshape(x.shape)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        saved, center, factor, scale, weight = self.saved
        x, grad = _channels(saved), _channels(grads[0])
        groups, size = self.groups
        repeated = factor.size // max(groups, 1)
        of_x: Array | None = None
        sums, products = _kernels.sums_of_images(grad, x, center)
        products *= factor
        if self.needs[0]:
            # scale * grad - factor * mean(weight * (grad + normalized * its mean product))
            means = []
            for each in (sums, products):
                if weight is not None:
                    each = each * weight
                mean = each.reshape(groups, repeated).sum(axis=1, dtype=np.float64) / np.float64(
                    size
                )
                means.append(factor * np.repeat(mean.astype(x.dtype), repeated).reshape(each.shape))
            arguments = scale, center, factor * means[1], means[0]
            of_x = _kernels.gradient_of_normalized(grad, x, *arguments).reshape(saved.shape)
        of_weight, of_bias = (
            each.sum(axis=0, dtype=np.float64).astype(x.dtype) for each in (products, sums)
        )
        return of_x, None, of_weight, of_bias
