"""Errors that a bias can take back: what quantization shifts, and what a ReLU never cuts."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from .types import FloatArray

__all__ = [
    "absorbed_bias",
    "corrected_bias",
    "expected_shift",
    "mean_of_clipped_normal",
    "mean_of_rectified_normal",
]


def corrected_bias(bias: ArrayLike, expected: ArrayLike, found: ArrayLike) -> FloatArray:
    r"""The bias that gives a quantized layer the mean output that it should have.

    Equation ``eq-bias-correction``:

    .. math:: b'_n = b_n + \mathrm{E}[y_n] - \mathrm{E}[\tilde y_n]

    Parameters
    ----------
    bias
        Of the quantized layer, ``(N,)``.
    expected
        Mean output of each channel, without quantization, ``(N,)``.
    found
        Mean output of each channel of the quantized layer, ``(N,)``.

    Returns
    -------
    float32 ``(N,)``, computed in double precision and rounded once.

    Notes
    -----
    Source: Nagel et al. 2019, section 4.2.

    Examples
    --------
    >>> corrected_bias([1.0], [3.0], [3.25]).tolist()
    [0.75]
    """
    shift = np.asarray(expected, np.float64) - np.asarray(found, np.float64)
    return np.asarray((np.asarray(bias, np.float64) + shift).astype(np.float32))


def expected_shift(weight: ArrayLike, rounded: ArrayLike, mean: ArrayLike) -> FloatArray:
    r"""The shift of a layer's mean output by the rounding of its weight.

    Equation ``eq-expected-shift``:

    .. math:: \mathrm{E}[\tilde y_n] - \mathrm{E}[y_n]
              = \sum_k (\tilde W_{nk} - W_{nk})\, \mathrm{E}[x_k]

    Parameters
    ----------
    weight, rounded
        The weight ``(N, C, ...)`` before and after its quantization. Inner dimensions are the taps
        of a convolution, which all meet the mean of their channel.
    mean
        Mean of each channel of the input, ``(C,)``.

    Returns
    -------
    float64 ``(N,)``.

    Examples
    --------
    >>> expected_shift([[0.2, 0.4]], [[0.25, 0.5]], [2.0, 1.0]).round(6).tolist()
    [0.2]
    """
    error = np.asarray(rounded, np.float64) - np.asarray(weight, np.float64)
    by_channel = error.reshape(*error.shape[:2], -1).sum(axis=2)
    return np.asarray(by_channel @ np.asarray(mean, np.float64))


def mean_of_rectified_normal(mean: ArrayLike, deviation: ArrayLike) -> FloatArray:
    r"""The mean of a normal variable behind a ReLU.

    Equation ``eq-rectified-normal``:

    .. math:: \mathrm{E}[\max(x, 0)] = \sigma\, \varphi\!\left(\tfrac{\mu}{\sigma}\right)
              + \mu\, \Phi\!\left(\tfrac{\mu}{\sigma}\right),
              \qquad x \sim \mathcal N(\mu, \sigma^2)

    with density :math:`\varphi` and distribution function :math:`\Phi` of the standard normal
    distribution. Behind a batch normalization :math:`\mu = \beta` and :math:`\sigma = |\gamma|`.

    Parameters
    ----------
    mean, deviation
        ``(C,)``; a deviation of zero gives ``max(mean, 0)``.

    Returns
    -------
    float64 ``(C,)``.

    Notes
    -----
    Source: Nagel et al. 2019, appendix C, for a clip at infinity.

    Examples
    --------
    >>> mean_of_rectified_normal([0.0, 2.0, -1.0], [1.0, 0.0, 0.0]).round(6).tolist()
    [0.398942, 2.0, 0.0]
    """
    mu, sigma = np.broadcast_arrays(
        np.asarray(mean, np.float64), np.abs(np.asarray(deviation, np.float64))
    )
    found = np.maximum(mu, 0.0)
    for i in zip(*np.nonzero(sigma), strict=True):
        t = mu[i] / sigma[i]
        density = math.exp(-t * t / 2) / math.sqrt(2 * math.pi)
        found[i] = sigma[i] * density + mu[i] * math.erfc(-t / math.sqrt(2)) / 2
    return found


def mean_of_clipped_normal(
    mean: ArrayLike, deviation: ArrayLike, low: float, high: float
) -> FloatArray:
    r"""The mean of a normal variable behind an activation function that clips, such as ReLU6.

    Equation ``eq-clipped-normal``, with :math:`t = (a - \mu) / \sigma` and
    :math:`u = (b - \mu) / \sigma`:

    .. math:: \mathrm{E}[\min(b, \max(a, x))] = \sigma\, (\varphi(t) - \varphi(u))
              + \mu\, (\Phi(u) - \Phi(t)) + a\, \Phi(t) + b\, \Phi(-u),
              \qquad x \sim \mathcal N(\mu, \sigma^2)

    A difference of two ReLUs, :math:`\max(x, a) - \max(x, b) + b`, is computed, with
    ``eq-rectified-normal`` for each, so nothing cancels far from the ends.

    Parameters
    ----------
    mean, deviation
        ``(C,)``; a deviation of zero gives the clipped mean.
    low, high
        a and b, both finite; 0 and 6 for ReLU6.

    Returns
    -------
    float64 ``(C,)``.

    Notes
    -----
    Source: Nagel et al. 2019, appendix C.

    Examples
    --------
    >>> mean_of_clipped_normal([0.0, 3.0, 9.0], [1.0, 1.0, 0.0], 0.0, 6.0).round(4).tolist()
    [0.3989, 3.0, 6.0]
    """
    above_low = mean_of_rectified_normal(np.asarray(mean, np.float64) - low, deviation)
    above_high = mean_of_rectified_normal(np.asarray(mean, np.float64) - high, deviation)
    return np.asarray(low + above_low - above_high)


def absorbed_bias(mean: ArrayLike, deviation: ArrayLike, width: float = 3.0) -> FloatArray:
    r"""The part of a channel's output that a ReLU hardly ever cuts.

    Equation ``eq-high-bias-absorption``:

    .. math:: c_i = \max(0,\; \mu_i - n \sigma_i), \qquad n = 3

    A first layer whose bias is smaller by :math:`c` gives :math:`\mathrm{ReLU}(y) - c` for all but
    the few outputs below :math:`c`, and the next layer's bias takes up :math:`W^{(2)} c`. The range
    of the activations between both becomes narrower by :math:`c`.

    Parameters
    ----------
    mean, deviation
        Of the outputs before the ReLU, ``(C,)``; behind a batch normalization :math:`\beta` and
        :math:`|\gamma|`.
    width
        The number n of deviations.

    Returns
    -------
    float32 ``(C,)``.

    Notes
    -----
    Source: Nagel et al. 2019, section 4.1.3: 99.865 % of a normal variable lie above
    :math:`\mu - 3 \sigma`.

    Examples
    --------
    >>> absorbed_bias([5.0, 1.0], [1.0, 2.0]).tolist()
    [2.0, 0.0]
    """
    low = np.asarray(mean, np.float64) - width * np.abs(np.asarray(deviation, np.float64))
    return np.asarray(np.maximum(low, 0.0).astype(np.float32))
