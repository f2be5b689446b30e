"""Sums, means, extremes over a tuple of axes from 0 on; ``keepdim`` leaves them with length 1."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from pyqref._kernels.layout import empty
from pyqref._kernels.parts import first_extreme

from .indexing import across
from .operation import Array, Operation
from .sums import total
from .unary import sign

__all__ = [
    "Amax",
    "Amin",
    "Logsumexp",
    "Max",
    "MaxDim",
    "Mean",
    "Median",
    "Min",
    "MinDim",
    "Norm",
    "Prod",
    "Std",
    "Sum",
    "Var",
]

Axes: TypeAlias = tuple[int, ...]

#: ``np.sum``, ``np.prod``, ``np.max``, ``np.min`` of arrays, without their look for other things.
_sum: Any = np.add.reduce
_product: Any = np.multiply.reduce
_maximum: Any = np.maximum.reduce
_minimum: Any = np.minimum.reduce


class _Reduction(Operation):
    """Remembers what was reduced, to spread a gradient back over it."""

    def note(self, x: Array, axes: Axes, keepdim: bool) -> None:
        self.shape = x.shape
        self.axes = axes
        self.keepdim = keepdim
        self.count = 1
        for axis in axes:
            self.count *= x.shape[axis]

    def unreduced(self, value: Array) -> Array:
        """Insert the reduced axes again, with length 1."""
        return value if self.keepdim else np.expand_dims(value, self.axes)

    def spread(self, grad: Array) -> Array:
        """Repeat along the reduced axes (a read-only view)."""
        return np.broadcast_to(self.unreduced(grad), self.shape)


class Sum(_Reduction):
    """Sum over ``axes``."""

    compute = staticmethod(total)
    runs_quietly = True

    def forward(self, x: Array, axes: Axes, keepdim: bool) -> Array:
        self.note(x, axes, keepdim)
        self.label = "SumBackward0" if len(axes) == x.ndim else "SumBackward1"
        return total(x, axes, keepdim)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return self.spread(grads[0]), None, None


class Mean(_Reduction):
    """Mean over ``axes``: sum, then division; nan for no elements."""

    runs_quietly = True

    @staticmethod
    def compute(x: Array, axes: Axes, keepdim: bool) -> Array:
        return total(x, axes, keepdim, math.prod([x.shape[axis] for axis in axes]))

    def forward(self, x: Array, axes: Axes, keepdim: bool) -> Array:
        self.note(x, axes, keepdim)
        self.label = "MeanBackward0" if len(axes) == x.ndim else "MeanBackward1"
        return total(x, axes, keepdim, self.count)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return self.spread(grads[0] / grads[0].dtype.type(self.count)), None, None


def _variance(x: Array, axes: Axes, keepdim: bool, correction: float) -> tuple[Array, Array, float]:
    """Variance in double, for the last rounding; the distances from the mean; and the divisor."""
    count = math.prod([x.shape[axis] for axis in axes])
    divisor = max(0.0, count - correction)
    wide = x.astype(np.float64, copy=False)
    centred = wide - _sum(wide, axis=axes, keepdims=True) / np.float64(count)
    variance = _sum(centred * centred, axis=axes, keepdims=keepdim)
    return variance / np.float64(divisor), centred, divisor


class Var(_Reduction):
    """``sum((x - mean)**2) / max(0, count - correction)`` over ``axes``."""

    @staticmethod
    def compute(x: Array, axes: Axes, keepdim: bool, correction: float = 1) -> Array:
        return np.asarray(_variance(x, axes, keepdim, correction)[0], x.dtype)

    def forward(self, x: Array, axes: Axes, keepdim: bool, correction: float = 1) -> Array:
        return self.variance(x, axes, keepdim, correction).astype(x.dtype)

    def variance(self, x: Array, axes: Axes, keepdim: bool, correction: float) -> Array:
        self.note(x, axes, keepdim)
        variance, centred, self.divisor = _variance(x, axes, keepdim, correction)
        if self.needs[0]:
            self.save(centred.astype(x.dtype, copy=False))
        return variance

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        (centred,) = self.saved
        factor = centred.dtype.type(2 / self.divisor if self.divisor else np.nan)
        return self.unreduced(grads[0]) * (factor * centred), None, None


class Std(Var):
    """Square root of :class:`Var`."""

    @staticmethod
    def compute(x: Array, axes: Axes, keepdim: bool, correction: float = 1) -> Array:
        return np.asarray(np.sqrt(_variance(x, axes, keepdim, correction)[0]), x.dtype)

    def forward(self, x: Array, axes: Axes, keepdim: bool, correction: float = 1) -> Array:
        result = np.sqrt(self.variance(x, axes, keepdim, correction)).astype(x.dtype)
        self.save(*self.saved, result if self.needs[0] else None)
        return result

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        centred, result = self.saved
        inner = np.where(result == 0, 0, grads[0] / (2 * result)).astype(centred.dtype)
        factor = centred.dtype.type(2 / self.divisor if self.divisor else np.nan)
        return self.unreduced(inner) * (factor * centred), None, None


class Prod(_Reduction):
    """Product over ``axes``."""

    def forward(self, x: Array, axes: Axes, keepdim: bool) -> Array:
        self.note(x, axes, keepdim)
        result = _product(x, axis=axes, keepdims=keepdim, dtype=x.dtype)
        if self.needs[0]:
            self.save(x)
        return result

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        (x,) = self.saved
        others = _product_of_the_others(x, self.axes)
        return self.unreduced(grads[0]) * others, None, None


def _product_of_the_others(x: Array, axes: Axes) -> Array:
    """Return for each element the product of all others along ``axes``, with zeros among them."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    moved = x.transpose([*kept, *axes])
    flat = moved.reshape(*[x.shape[axis] for axis in kept], math.prod(x.shape[a] for a in axes))
    ones = np.ones_like(flat[..., :1])
    before = np.cumprod(np.concatenate([ones, flat[..., :-1]], axis=-1), axis=-1)
    after = np.cumprod(np.concatenate([ones, flat[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
    others = (before * after).reshape(moved.shape)
    return others.transpose(np.argsort([*kept, *axes]))


def _largest(x: Array, axes: Axes, keepdim: bool) -> Any:
    if keepdim or len(axes) < x.ndim:
        return _maximum(x, axes, keepdims=keepdim)
    return _maximum(x, None, None, empty((), x.dtype))


def _smallest(x: Array, axes: Axes, keepdim: bool) -> Any:
    if keepdim or len(axes) < x.ndim:
        return _minimum(x, axes, keepdims=keepdim)
    return _minimum(x, None, None, empty((), x.dtype))


class _Extreme(_Reduction):
    """Largest or smallest element over ``axes``; ties share the gradient evenly.

    Nothing equals a nan: where the result is nan, so are all gradients.
    """

    runs_quietly = True

    def take(self, x: Array, axes: Axes) -> Array:
        raise TypeError(f"{type(self).__name__} defines no take")

    def forward(self, x: Array, axes: Axes, keepdim: bool) -> Array:
        self.note(x, axes, keepdim)
        result = self.take(x, axes)
        if self.needs[0]:
            self.save(x == result)
        return result if keepdim else result.squeeze(axes)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        (hit,) = self.saved
        ties = hit.sum(axis=self.axes, keepdims=True, dtype=grads[0].dtype)
        return hit * (self.unreduced(grads[0]) / ties), None, None


class Amax(_Extreme):
    """Largest element over ``axes``."""

    compute = staticmethod(_largest)

    def take(self, x: Array, axes: Axes) -> Array:
        return np.asarray(_largest(x, axes, True))


class Amin(_Extreme):
    """Smallest element over ``axes``."""

    compute = staticmethod(_smallest)

    def take(self, x: Array, axes: Axes) -> Array:
        return np.asarray(_smallest(x, axes, True))


class _ExtremeOfAll(_Extreme):
    """One element of all; only those that equal it have a gradient, of nan the other nans."""

    def forward(self, x: Array, axes: Axes, keepdim: bool) -> Array:
        result = super().forward(x, axes, keepdim)
        if self.needs[0] and np.isnan(result):
            self.save(np.isnan(x))
        return result

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        (hit,) = self.saved
        share = self.unreduced(grads[0]) / hit.sum(dtype=grads[0].dtype)
        return np.where(hit, share, share.dtype.type(0)), None, None


class Max(_ExtremeOfAll, Amax):
    """Largest of all elements."""

    compute = staticmethod(_largest)
    label = "MaxBackward1"


class Min(_ExtremeOfAll, Amin):
    """Smallest of all elements."""

    compute = staticmethod(_smallest)
    label = "MinBackward1"


class Median(_ExtremeOfAll):
    """The middle element (the lower of two) over all axes; a nan is kept."""

    def take(self, x: Array, axes: Axes) -> Array:
        flat = np.sort(x, axis=None)
        chosen = flat[-1] if np.isnan(flat[-1]) else flat[(flat.size - 1) // 2]
        return np.full((1,) * x.ndim, chosen, dtype=x.dtype)


class _ExtremeAndIndex(Operation):
    """Extreme element along one axis and the index of its first occurrence."""

    shape: tuple[int, ...]
    axis: int | None
    find: Callable[..., Any]
    runs_quietly = True

    @classmethod
    def compute(cls, x: Array, axis: int, keepdim: bool) -> tuple[Array, Array]:
        if x.ndim == 0:
            return x.copy(), np.zeros((), dtype=np.int64)
        index = first_extreme(cls.find, x, axis)
        values = np.asarray(x[across(index, axis)])
        if keepdim:
            return np.expand_dims(values, axis), np.expand_dims(index, axis)
        return values, index

    def forward(self, x: Array, axis: int, keepdim: bool) -> tuple[Array, Array]:
        values, index = self.compute(x, axis, keepdim)
        self.shape, self.axis, self.keepdim = x.shape, axis if x.ndim else None, keepdim
        if self.needs[0]:
            self.index = index.copy() if keepdim or not x.ndim else np.expand_dims(index, axis)
        return values, index

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        if self.axis is None:
            return grads[0], None, None
        grad = grads[0] if self.keepdim else np.expand_dims(grads[0], self.axis)
        result = np.zeros(self.shape, dtype=grad.dtype)
        np.put_along_axis(result, self.index, grad, self.axis)
        return result, None, None


class MaxDim(_ExtremeAndIndex):
    """Largest element along an axis, and where it is."""

    label = "MaxBackward0"

    find = np.ndarray.argmax


class MinDim(_ExtremeAndIndex):
    """Smallest element along an axis, and where it is."""

    label = "MinBackward0"

    find = np.ndarray.argmin


class Norm(_Reduction):
    """``(sum |x|**p) ** (1/p)`` over ``axes``; also ``p`` = 0, inf and -inf.

    The derivative by an element that is 0 is 0.
    """

    label = "LinalgVectorNormBackward0"

    def forward(self, x: Array, axes: Axes, keepdim: bool, p: float) -> Array:
        self.note(x, axes, keepdim)
        self.p = p
        absolute = np.abs(x)
        if p == 0:
            result = _sum((x != 0).astype(x.dtype), axis=axes, keepdims=keepdim)
        elif p == 1:
            result = _sum(absolute, axis=axes, keepdims=keepdim)
        elif p == 2:
            result = np.sqrt(_sum(x * x, axis=axes, keepdims=keepdim))
        elif np.isinf(p):
            extreme = np.max if p > 0 else np.min
            result = extreme(absolute, axis=axes, keepdims=keepdim)
        else:
            exponent = x.dtype.type(p)
            total = _sum(absolute**exponent, axis=axes, keepdims=keepdim)
            result = total ** x.dtype.type(1 / p)
        if self.needs[0]:
            self.save(x, result)
        return result

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        x, result = self.saved
        grad, norm = self.unreduced(grads[0]), self.unreduced(result)
        if self.p == 0:
            return np.zeros_like(x), None, None, None
        if self.p == 1:
            return grad * sign(x), None, None, None
        if np.isinf(self.p):
            hit = (np.abs(x) == norm) | np.isnan(x)
            ties = hit.sum(axis=self.axes, keepdims=True, dtype=x.dtype)
            return grad * sign(x) * hit / ties, None, None, None
        ratio = np.abs(x) ** x.dtype.type(self.p - 1) / norm ** x.dtype.type(self.p - 1)
        if self.p == 2:
            ratio = np.abs(x) / norm
        return np.where(x == 0, 0 * x, grad * np.sign(x) * ratio), None, None, None


class Logsumexp(_Reduction):
    """``log(sum(e ** x))`` over ``axes``, without overflow."""

    def forward(self, x: Array, axes: Axes, keepdim: bool) -> Array:
        self.note(x, axes, keepdim)
        peak = np.max(x, axis=axes, keepdims=True, initial=-np.inf)
        peak = np.where(np.isfinite(peak), peak, 0).astype(x.dtype)
        result = np.log(_sum(np.exp(x - peak), axis=axes, keepdims=True)) + peak
        if self.needs[0]:
            self.save(x, result)
        return result if keepdim else result.squeeze(axes)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        x, result = self.saved
        return self.unreduced(grads[0]) * np.exp(x - result), None, None
