"""Rows added up and normalized by the kernel in use; other types go to the twins in NumPy."""

from __future__ import annotations

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous, empty
from pyqref.numerics import float_normalization as reference
from pyqref.numerics.types import FloatArray

__all__ = [
    "gradient_of_columns",
    "gradient_of_rows",
    "moments_of_groups",
    "moments_of_rows",
    "normalize_groups",
    "normalize_rows",
    "totals_across",
    "totals_of_columns",
    "totals_of_rows",
]

_FLOAT32 = np.dtype(np.float32)


def totals_of_rows(x: FloatArray, count: int = 1, kept: int = 1) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.float_normalization.totals_of_rows`."""
    kernel = registry.twin("channels")
    if kernel is None or x.dtype != _FLOAT32:
        return reference.totals_of_rows(x, count, kept)
    out = empty(x.shape[:kept], _FLOAT32)
    kernel.totals_of_rows(contiguous(x), count, out, threads.limit)
    return out


def totals_across(x: FloatArray, count: int = 1) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.float_normalization.totals_across`."""
    kernel = registry.twin("channels")
    if kernel is None or x.dtype != _FLOAT32:
        return reference.totals_across(x, count)
    out = np.empty((x.shape[0], x.shape[2]), _FLOAT32)
    kernel.totals_across(contiguous(x), count, out, threads.limit)
    return out


def totals_of_columns(x: FloatArray) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.float_normalization.totals_of_columns`."""
    kernel = registry.twin("channels")
    if kernel is None or x.dtype != _FLOAT32:
        return reference.totals_of_columns(x)
    out = np.empty((x.shape[0], x.shape[2]), _FLOAT32)
    kernel.totals_of_columns(contiguous(x), out, threads.limit)
    return out


def moments_of_rows(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fast form of :func:`pyqref.numerics.float_normalization.moments_of_rows`."""
    kernel = registry.twin("channels")
    if kernel is None or x.dtype != _FLOAT32:
        return reference.moments_of_rows(x)
    means, variances = np.empty(len(x), _FLOAT32), np.empty(len(x), _FLOAT32)
    kernel.moments_of_rows(contiguous(x), means, variances, threads.limit)
    return means, variances


def moments_of_groups(x: FloatArray, groups: int) -> tuple[FloatArray, FloatArray]:
    """Fast form of :func:`pyqref.numerics.float_normalization.moments_of_groups`."""
    kernel = registry.twin("channels")
    if kernel is None or x.dtype != _FLOAT32:
        return reference.moments_of_groups(x, groups)
    x, across = _across(x)
    means, variances = np.empty((2, len(x), groups), _FLOAT32)
    kernel.moments_of_groups(x, across, groups, means, variances, threads.limit)
    return means, variances


def normalize_groups(
    x: FloatArray, groups: int, weight: FloatArray | None, bias: FloatArray | None, eps: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Fast form of :func:`pyqref.numerics.float_normalization.normalize_groups`."""
    kernel = registry.twin("channels")
    if kernel is None or not _are_float32(x, weight, bias):
        return reference.normalize_groups(x, groups, weight, bias, eps)
    parameters = np.empty((4, *x.shape[:2]), _FLOAT32)
    x, across = _across(x)
    means, variances = np.empty((2, len(x), groups), _FLOAT32)
    out = empty(x.shape, _FLOAT32)
    given = _flat(weight), _flat(bias), eps, means, variances, parameters, out
    kernel.normalize_groups(x, across, groups, *given, threads.limit)
    center, factor, scale, _ = parameters
    return out.transpose(0, 2, 1) if across else out, center, factor, scale


def _across(x: FloatArray) -> tuple[FloatArray, bool]:
    """Images ``(N, C, L)``, or ``(N, L, C)`` if they lie so, and whether they do."""
    across = not x.flags.c_contiguous and x.transpose(0, 2, 1).flags.c_contiguous
    return contiguous(x.transpose(0, 2, 1) if across else x), across


def normalize_rows(
    x: FloatArray,
    weight: FloatArray | None,
    bias: FloatArray | None,
    eps: float,
    has_mean: bool = True,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Fast form of :func:`pyqref.numerics.float_normalization.normalize_rows`."""
    kernel = registry.twin("channels")
    if kernel is None or not _are_float32(x, weight, bias):
        return reference.normalize_rows(x, weight, bias, eps, has_mean)
    out = empty(x.shape, _FLOAT32)
    centers, factors = np.empty(len(x), _FLOAT32), np.empty(len(x), _FLOAT32)
    arrays = contiguous(x), _flat(weight), _flat(bias)
    kernel.normalize_rows(*arrays, eps, has_mean, out, centers, factors, threads.limit)
    return out, centers, factors


def gradient_of_rows(
    grad: FloatArray,
    x: FloatArray,
    weight: FloatArray | None,
    center: FloatArray,
    factor: FloatArray,
    has_mean: bool = True,
) -> FloatArray:
    """Fast form of :func:`pyqref.numerics.float_normalization.gradient_of_rows`."""
    kernel = registry.twin("channels")
    if kernel is None or not _are_float32(grad, x, weight):
        return reference.gradient_of_rows(grad, x, weight, center, factor, has_mean)
    out = empty(x.shape, _FLOAT32)
    arrays = contiguous(grad), contiguous(x), _flat(weight)
    kernel.gradient_of_rows(*arrays, has_mean, center, factor, out, threads.limit)
    return out


def gradient_of_columns(
    grad: FloatArray, x: FloatArray, center: FloatArray, factor: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Fast form of :func:`pyqref.numerics.float_normalization.gradient_of_columns`."""
    kernel = registry.twin("channels")
    if kernel is None or not _are_float32(grad, x):
        return reference.gradient_of_columns(grad, x, center, factor)
    of_weight, of_bias = np.empty(x.shape[1], _FLOAT32), np.empty(x.shape[1], _FLOAT32)
    arrays = contiguous(grad), contiguous(x), center, factor
    kernel.gradient_of_columns(*arrays, of_weight, of_bias, threads.limit)
    return of_weight, of_bias


def _are_float32(*arrays: FloatArray | None) -> bool:
    for each in arrays:
        if each is not None and each.dtype is not _FLOAT32 and each.dtype != _FLOAT32:
            return False
    return True


def _flat(x: FloatArray | None) -> FloatArray | None:
    return None if x is None else contiguous(x)
