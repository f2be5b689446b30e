"""Depthwise convolution of floats, one filter for each channel: the order that kernels keep."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .float_softmax import PLACES, sum_by_halves
from .phases import filters_of_phase, phases, places_of_phase, windows_of_phase
from .rounding import fma32
from .types import FloatArray
from .windows import Windows, pad_spatial

__all__ = ["depthwise", "depthwise_gradient", "depthwise_weight_gradient"]


def depthwise(
    x: FloatArray, weight: FloatArray, bias: FloatArray | None, windows: Windows
) -> FloatArray:
    r"""Convolve each channel of ``x (N, C, *size)`` with its filter of ``weight (C, *kernel)``.

    Equation ``eq-float-depthwise``: with :math:`\tilde x`, which is ``x`` and zeros beside it, and
    the taps t of the kernel in their order,

    .. math:: y_0 = b, \qquad y_t = \mathrm{fma}(\tilde x_{o s + t d - p}, w_t, y_{t-1})

    Examples
    --------
    >>> x, weight = np.float32([[[1, 2, 3]]]), np.float32([[1, 10]])
    >>> depthwise(x, weight, None, Windows.make((2,), (1,), (0,), (1,))).tolist()
    [[[21.0, 32.0]]]
    """
    padded = pad_spatial(x, windows)
    size = windows.output_size(x.shape[2:])
    y = np.zeros((*x.shape[:2], *size), np.result_type(x, weight))
    if bias is not None:
        y += _per_channel(bias, y.ndim)
    for tap, where in windows.positions(size):
        y = _add_product(y, padded[where], _per_channel(_filter_at(weight, tap), y.ndim))
    return y


def depthwise_gradient(
    grad: FloatArray, weight: FloatArray, windows: Windows, size: tuple[int, ...]
) -> FloatArray:
    r"""Gradient of the images ``(N, C, *size)`` of :func:`depthwise`.

    Equation ``eq-float-depthwise-gradient``: places i of an image that leave the same remainder
    when divided by the stride meet the same taps t. Over these in falling order, with the gradient
    g of the results, and zeros beside it,

    .. math:: g'_i \leftarrow \mathrm{fma}(g_o, w_t, g'_i), \qquad i = o s + t d - p

    It is :eq:`eq-float-depthwise` of g with the taps turned round, as for
    ``eq-float-convolution-gradient``.

    Examples
    --------
    >>> grad, weight = np.float32([[[1, 1]]]), np.float32([[1, 10]])
    >>> depthwise_gradient(grad, weight, Windows.make((2,), (1,), (0,), (1,)), (3,)).tolist()
    [[[1.0, 11.0, 10.0]]]
    """
    total = np.zeros((*grad.shape[:2], *size), grad.dtype)
    for phase in phases(windows, size):
        if all(part.taps and part.places for part in phase):
            met, filters = windows_of_phase(phase, grad.shape[2:]), filters_of_phase(phase, weight)
            total[places_of_phase(phase)] = depthwise(grad, filters, None, met)
    return total


def depthwise_weight_gradient(grad: FloatArray, x: FloatArray, windows: Windows) -> FloatArray:
    r"""Gradient of the filters ``(C, *kernel)`` of :func:`depthwise`.

    Equation ``eq-float-depthwise-weight-gradient``: the products with a line l of the results of an
    image n are added in 16 places, then by halves (``eq-sum-of-places``), then image by image:

    .. math:: p_{n, j} = \sum_l \sum_k g_{n, l, 16 k + j} \,
              \tilde x_{n, l, 16 k + j}(t), \qquad g'_t = \sum_n S(p_n)

    Each product and the sum before it are added by one fused multiply-add.

    Examples
    --------
    >>> x, grad = np.float32([[[1, 2, 3]]]), np.float32([[[1, 1]]])
    >>> depthwise_weight_gradient(grad, x, Windows.make((2,), (1,), (0,), (1,))).tolist()
    [[3.0, 5.0]]
    """
    batch, channels, *lines, width = grad.shape
    padded = pad_spatial(x, windows)
    total = np.zeros((channels, *windows.kernel), grad.dtype)
    shape = (*grad.shape[:-1], -(-width // PLACES) * PLACES)
    rows = math.prod(lines) * shape[-1] // PLACES
    blocks, met = np.zeros((2, *shape), grad.dtype)
    blocks[..., :width] = grad
    gradients = _lines_of_places(blocks, batch, channels, rows)
    for tap, where in windows.positions(grad.shape[2:]):
        met[..., :width] = padded[where]
        places = np.zeros((batch, channels, PLACES), grad.dtype)
        for line, other in zip(
            gradients, _lines_of_places(met, batch, channels, rows), strict=True
        ):
            places = _add_product(places, line, other)
        for image in sum_by_halves(places):
            _filter_at(total, tap)[...] += image[:, 0]
    return total


def _lines_of_places(x: FloatArray, batch: int, channels: int, rows: int) -> FloatArray:
    return np.moveaxis(x.reshape(batch, channels, rows, PLACES), 2, 0)


def _add_product(total: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """``total + a * b``, of float32 rounded once."""
    return fma32(a, b, total) if total.dtype == np.float32 else total + a * b


def _filter_at(weight: FloatArray, tap: tuple[int, ...]) -> FloatArray:
    """Return a view of the weight of each filter at one tap."""
    where: tuple[Any, ...] = (slice(None), *tap)
    return weight[where]


def _per_channel(values: FloatArray, ndim: int) -> FloatArray:
    return values.reshape(-1, *(1,) * (ndim - 2))
