"""Resizing: nearest neighbour, linear and cubic interpolation, one axis after the other.

Along one axis every result is a weighted sum of a few input elements, its *taps*; a
function a mode says which and with what weights.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref.numerics.float_resize import Taps, adjoint

from .operation import Array, Operation

__all__ = ["Interpolate", "taps"]

#: Sharpness of the cubic kernel.
CUBIC_A = -0.75


def source_scale(length: int, count: int, align_corners: bool, factor: float | None) -> float:
    """Distance between neighbouring results, in input elements."""
    if align_corners:
        return (length - 1) / (count - 1) if count > 1 else 0.0
    return 1 / factor if factor else length / count


def nearest_taps(
    length: int, count: int, scale: np.floating[Any], offset: float
) -> tuple[Array, None]:
    """The element at ``floor((i + offset) * scale)``."""
    index = np.arange(count, dtype=scale.dtype)
    source = np.floor((index + offset) * scale).astype(np.int64)
    return np.minimum(source, length - 1)[:, None], None


def source_positions(count: int, scale: np.floating[Any], align_corners: bool) -> Array:
    """Return the place of each result in the input.

    Pixels are squares, or points if corners align.
    """
    index = np.arange(count, dtype=scale.dtype)
    return index * scale if align_corners else (index + 0.5) * scale - 0.5


def linear_taps(
    length: int, count: int, scale: np.floating[Any], align_corners: bool
) -> tuple[Array, Array]:
    """The two nearest elements, weighted by nearness."""
    source = np.maximum(source_positions(count, scale, align_corners), 0)
    first = np.minimum(source.astype(np.int64), length - 1)
    second = np.minimum(first + 1, length - 1)
    away = np.clip(source - first, 0, 1).astype(scale.dtype)
    return np.stack([first, second], 1), np.stack([1 - away, away], 1)


def cubic_taps(
    length: int, count: int, scale: np.floating[Any], align_corners: bool
) -> tuple[Array, Array]:
    """The four nearest elements, weighted by the cubic kernel; the border is repeated."""
    source = source_positions(count, scale, align_corners)
    first = np.floor(source)
    away = source - first
    indices = first.astype(np.int64)[:, None] + np.arange(-1, 3)
    near, far = away, 1 - away
    weights = [_cubic_far(near + 1), _cubic_near(near), _cubic_near(far), _cubic_far(far + 1)]
    return np.clip(indices, 0, length - 1), np.stack(weights, 1).astype(scale.dtype)


def _cubic_near(d: Array) -> Array:
    """The kernel at distance ``d`` up to 1."""
    return ((CUBIC_A + 2) * d - (CUBIC_A + 3)) * d * d + 1


def _cubic_far(d: Array) -> Array:
    """The kernel at distance ``d`` from 1 to 2."""
    return ((CUBIC_A * d - 5 * CUBIC_A) * d + 8 * CUBIC_A) * d - 4 * CUBIC_A


@lru_cache(maxsize=64)
def taps(
    length: int,
    count: int,
    mode: str,
    align_corners: bool,
    factor: float | None,
    dtype: np.dtype[Any],
) -> tuple[Array, Array | None]:
    """Indices and weights, ``(count, taps)``, that resize one axis from ``length`` to ``count``."""
    scale = dtype.type(source_scale(length, count, align_corners, factor))
    if mode == "nearest":
        return nearest_taps(length, count, scale, 0.0)
    if mode == "nearest-exact":
        return nearest_taps(length, count, scale, 0.5)
    if mode == "bicubic":
        return cubic_taps(length, count, scale, align_corners)
    return linear_taps(length, count, scale, align_corners)


@lru_cache(maxsize=64)
def taps_back(
    length: int,
    count: int,
    mode: str,
    align_corners: bool,
    factor: float | None,
    dtype: np.dtype[Any],
) -> Taps:
    """Taps that take a gradient back along one axis, from ``count`` results to ``length``."""
    return adjoint(taps(length, count, mode, align_corners, factor, dtype), length, dtype)


class Interpolate(Operation):
    """``Interpolate(x, size, mode, align_corners, scale_factors)``.

    ``x`` is ``(N, C, *size)``. ``size`` is the spatial size of the result; ``mode`` is
    ``"nearest"``, ``"nearest-exact"``, ``"linear"``, ``"bilinear"``, ``"trilinear"`` or
    ``"bicubic"``; ``scale_factors`` has a float or None for each spatial axis: the factor
    that positions are computed with, where it is not the ratio of the sizes.
    """

    makes_gradients = True

    def forward(
        self,
        x: Array,
        size: tuple[int, ...],
        mode: str,
        align_corners: bool,
        scale_factors: tuple[float | None, ...],
    ) -> Array:
        working = np.dtype(np.float32) if x.dtype.kind != "f" else x.dtype
        self.axes = [
            (length, count, mode, align_corners, factor, working)
            for length, count, factor in zip(
                x.shape[-len(size) :], size, scale_factors, strict=True
            )
        ]
        return _kernels.resample(x, [taps(*axis) for axis in self.axes])

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return (_kernels.resample(grads[0], [taps_back(*axis) for axis in self.axes]),)
