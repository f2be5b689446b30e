"""Convolution of floats, and its gradients: the order that kernels keep."""

from __future__ import annotations

import itertools
import math

import numpy as np

from .phases import filters_of_phase, phases, places_of_phase, windows_of_phase
from .rounding import fma32
from .types import FloatArray
from .windows import Windows, pad_spatial

__all__ = [
    "RESULTS",
    "TERMS",
    "convolution",
    "convolution_gradient",
    "convolution_weight_gradient",
]

#: Products that are added up before their sum is added to those before.
TERMS = 64
#: Results whose products with what a tap meets are.
RESULTS = 256


def convolution(
    x: FloatArray, weight: FloatArray, bias: FloatArray | None, windows: Windows, groups: int = 1
) -> FloatArray:
    r"""Convolve ``x (N, C, *size)`` with ``weight (outputs, C / groups, *kernel)`` in float32.

    Equation ``eq-float-convolution``: the terms of an output are products of a weight and of what
    it meets, channel by channel and in each the taps in their order. With :math:`\tilde x`, x and
    zeros beside it, 64 terms at a time are added up by fused multiply-adds, and their sum to
    those before, which begin with the bias or with 0:

    .. math:: a_{j, 0} = 0, \qquad
              a_{j, k} = \mathrm{fma}\big(\tilde x_{64 j + k}, w_{64 j + k}, a_{j, k - 1}\big),
              \qquad y_j = \mathrm{fl}(y_{j - 1} + a_{j, 64})

    Examples
    --------
    >>> x, weight = np.float32([[[1, 2, 3]]]), np.float32([[[1, 10]]])
    >>> convolution(x, weight, np.float32([5]), Windows.make((2,), (1,), (0,), (1,))).tolist()
    [[[26.0, 37.0]]]
    """
    size = windows.output_size(x.shape[2:])
    outputs, channels = weight.shape[:2]
    padded = pad_spatial(x, windows)
    padded = padded.reshape(len(x), groups, channels, *padded.shape[2:])
    filters = weight.reshape(groups, outputs // groups, channels, *windows.kernel)
    y = np.zeros((len(x), groups, outputs // groups, *size), np.float32)
    if bias is not None:
        y += _along(bias.reshape(groups, -1), len(size))
    terms = itertools.product(range(channels), list(windows.positions(size)))
    while block := list(itertools.islice(terms, TERMS)):
        total = np.zeros_like(y)
        for channel, (tap, where) in block:
            met = padded[:, :, channel][where][:, :, np.newaxis]
            total = fma32(met, _along(filters[(..., channel, *tap)], len(size)), total)
        y += total
    return y.reshape(len(x), outputs, *size)


def convolution_gradient(
    grad: FloatArray,
    weight: FloatArray,
    bias: FloatArray | None,
    windows: Windows,
    groups: int,
    size: tuple[int, ...],
) -> FloatArray:
    r"""Gradient of the images ``(N, C, *size)`` of :func:`convolution`; a transposed convolution.

    Equation ``eq-float-convolution-gradient``: places i of an image that leave the same remainder
    when divided by the stride s meet the same taps. Their gradients are a convolution
    (:eq:`eq-float-convolution`) of the gradient g of the results, output by output, with the taps
    that they meet in falling order, and a bias where one is given:

    .. math:: g'_i = b + \sum_{o, t} w_{o, t} \, g_{o, (i + p - t d) / s},
              \qquad t \in \{t : i + p \equiv t d \pmod s\}

    Examples
    --------
    >>> grad, weight = np.float32([[[1, 1]]]), np.float32([[[1, 10]]])
    >>> windows = Windows.make((2,), (1,), (0,), (1,))
    >>> convolution_gradient(grad, weight, None, windows, 1, (3,)).tolist()
    [[[1.0, 11.0, 10.0]]]
    """
    outputs, channels = len(weight) // groups, weight.shape[1]
    filters = weight.reshape(groups, outputs, channels, *windows.kernel).swapaxes(1, 2)
    total = np.zeros((len(grad), groups * channels, *size), np.float32)
    if bias is not None:
        total += _along(bias, len(size))
    for phase in phases(windows, size):
        if not all(part.taps and part.places for part in phase):
            continue
        met = windows_of_phase(phase, grad.shape[2:])
        turned = filters_of_phase(phase, filters).reshape(groups * channels, outputs, *met.kernel)
        total[places_of_phase(phase)] = convolution(grad, turned, bias, met, groups)
    return total


def convolution_weight_gradient(
    grad: FloatArray, x: FloatArray, windows: Windows, groups: int = 1
) -> FloatArray:
    r"""Gradient of the filters ``(outputs, C / groups, *kernel)`` of :func:`convolution`.

    Equation ``eq-float-convolution-weight-gradient``: image by image, 256 results at a time, in the
    order in which they lie, are added up by fused multiply-adds, and their sum to those before:

    .. math:: a_{j, 0} = 0, \qquad
              a_{j, k} = \mathrm{fma}\big(g_{256 j + k}, \tilde x_{256 j + k}(t), a_{j, k - 1}\big),
              \qquad g'_{t, j} = \mathrm{fl}(g'_{t, j - 1} + a_{j, 256})

    Examples
    --------
    >>> x, grad = np.float32([[[1, 2, 3]]]), np.float32([[[1, 1]]])
    >>> convolution_weight_gradient(grad, x, Windows.make((2,), (1,), (0,), (1,))).tolist()
    [[[3.0, 5.0]]]
    """
    size, length = grad.shape[2:], math.prod(grad.shape[2:])
    channels = x.shape[1] // groups
    padded = pad_spatial(x, windows)
    met = [
        padded[where].reshape(len(x), groups, channels, length)
        for _, where in windows.positions(size)
    ]
    columns = np.stack(met, 3)
    rows = grad.reshape(len(x), groups, grad.shape[1] // groups, length)
    total = np.zeros((groups, rows.shape[2], *columns.shape[2:4]), np.float32)
    for image in range(len(x)):
        for first in range(0, length, RESULTS):
            block = np.zeros_like(total)
            for i in range(first, min(first + RESULTS, length)):
                of_outputs = rows[image, :, :, i, np.newaxis, np.newaxis]
                block = fma32(of_outputs, columns[image, :, np.newaxis, ..., i], block)
            total += block
    return total.reshape(grad.shape[1], channels, *windows.kernel)


def _along(values: FloatArray, axes: int) -> FloatArray:
    return values.reshape(*values.shape, *(1,) * axes)
