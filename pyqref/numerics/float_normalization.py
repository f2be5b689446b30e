"""Sums, layer and RMS normalization of rows of floats: the order that kernels keep.

The gradients of group and instance norm are products of :mod:`.channels`.
"""

from __future__ import annotations

import math

import numpy as np

from .channels import scale_channels
from .float_softmax import sum_of_rows
from .types import FloatArray

__all__ = [
    "gradient_of_columns",
    "gradient_of_rows",
    "moments_of_groups",
    "moments_of_rows",
    "normalize_groups",
    "normalize_rows",
    "places_of_blocks",
    "sum_of_blocks",
    "totals_across",
    "totals_of_columns",
    "totals_of_rows",
]

#: Numbers that are added side by side, and how often until double takes over.
SPREAD, STEPS = 32, 8


def sum_of_blocks(x: FloatArray) -> FloatArray:
    r"""Sum of each row of ``x`` ``(rows, n)``, short sums in its type and those of them in double.

    Equation ``eq-sum-of-blocks``, where each p is of at most 8 numbers of block b, of 256 numbers:

    .. math::
        p_{b, j} = \sum_k x_{256 b + 32 k + j}, \qquad
        P_j = \sum_b \mathrm{fl}_{64}\big(p_{b, j} + p_{b, j + 16}\big), \qquad
        S = ((P_0 + P_8) + (P_4 + P_{12})) + \dots

    Examples
    --------
    >>> sum_of_blocks(np.arange(20, dtype=np.float32)[np.newaxis])
    array([[190.]])
    """
    return sum_of_rows(places_of_blocks(x))


def places_of_blocks(x: FloatArray) -> FloatArray:
    """Return the 16 sums P of each row of ``x`` ``(rows, n)``, of ``eq-sum-of-blocks``.

    Examples
    --------
    >>> places_of_blocks(np.arange(20, dtype=np.float32)[np.newaxis])[0, :5]
    array([16., 18., 20., 22.,  4.])
    """
    rows, n = x.shape
    size = STEPS * SPREAD
    padded = np.zeros((rows, -(-n // size) * size), x.dtype)
    padded[:, :n] = x
    blocks = padded.reshape(rows, padded.shape[1] // size, STEPS, SPREAD)
    places = np.zeros((rows, SPREAD // 2))
    for block in blocks.swapaxes(0, 1):
        short = np.zeros((rows, SPREAD), x.dtype)
        for step in block.swapaxes(0, 1):
            short += step
        places += short[:, : SPREAD // 2] + short[:, SPREAD // 2 :]
    return places


def totals_of_rows(x: FloatArray, count: int = 1, kept: int = 1) -> FloatArray:
    r"""Sum of each row of ``x``, over ``count``, rounded to its type.

    Equation ``eq-float-total``, with the S of ``eq-sum-of-blocks``:

    .. math:: y = \mathrm{fl}(S / n)

    where n is 1 for a sum, and for a mean the length of the rows; the mean of no numbers is nan.

    Parameters
    ----------
    kept
        Axes of ``x`` that the result has: a row is what lies behind them.

    Examples
    --------
    >>> x = np.float32([[1, 2], [3, 6]])
    >>> totals_of_rows(x).tolist(), totals_of_rows(x, 2).tolist()
    ([3.0, 9.0], [1.5, 4.5])
    >>> totals_of_rows(x, kept=0).tolist()
    12.0
    """
    shape = x.shape[:kept]
    rows = x.reshape(math.prod(shape), math.prod(x.shape[kept:]))
    with np.errstate(all="ignore"):
        return (sum_of_blocks(rows)[:, 0] / np.float64(count)).astype(x.dtype).reshape(shape)


def totals_across(x: FloatArray, count: int = 1) -> FloatArray:
    """Sum of ``x`` ``(images, pixels, channels)`` over the pixels, over ``count``.

    Each channel is a row of :func:`totals_of_rows`.

    Examples
    --------
    >>> totals_across(np.float32([[[1, 10], [3, 20]]]), 2).tolist()
    [[2.0, 15.0]]
    """
    images, pixels, channels = x.shape
    rows = x.swapaxes(1, 2).reshape(images * channels, pixels)
    return totals_of_rows(rows, count).reshape(images, channels)


def totals_of_columns(x: FloatArray) -> FloatArray:
    r"""Sum of ``x`` ``(groups, n, columns)`` over n, in double, rounded to its type.

    Equation ``eq-float-column-total``, one number after the other:

    .. math:: y_{g, j} = \mathrm{fl}\Big(\sum_i x_{g, i, j}\Big)

    Examples
    --------
    >>> totals_of_columns(np.float32([[[1, 2], [3, 6], [5, 7]]])).tolist()
    [[9.0, 15.0]]
    """
    sums = np.zeros((x.shape[0], x.shape[2]))
    for row in x.swapaxes(0, 1):
        sums += row
    return sums.astype(x.dtype)


def _means(x: FloatArray) -> FloatArray:
    """Mean of each row, as a column."""
    return totals_of_rows(x, x.shape[1])[:, np.newaxis]


def moments_of_rows(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Mean and (biased) variance of each row of ``x`` ``(rows, n)``.

    Equation ``eq-float-norm-moments``, with the sums of ``eq-sum-of-blocks``:

    .. math::
        \mu = \mathrm{fl}\Big(\tfrac1n \sum_i x_i\Big), \qquad
        v = \mathrm{fl}\Big(\tfrac1n \sum_i (x_i - \mu)^2\Big)

    Examples
    --------
    >>> [each.tolist() for each in moments_of_rows(np.float32([[1, 3]]))]
    [[2.0], [1.0]]
    """
    with np.errstate(all="ignore"):
        center = _means(x)
        centered = x - center
        return center[:, 0], _means(centered * centered)[:, 0]


def moments_of_groups(x: FloatArray, groups: int) -> tuple[FloatArray, FloatArray]:
    r"""Mean and (biased) variance of each group of channels of each image of ``x`` ``(N, C, L)``.

    Equation ``eq-float-group-moments``, where channel c of a group of k has the 16 sums
    :math:`P_{c, j}` of ``eq-sum-of-blocks`` of its L numbers, or of what they differ from the mean
    by, squared:

    .. math::
        P_j = \sum_c P_{c, j}, \qquad
        S = ((P_0 + P_8) + (P_4 + P_{12})) + \dots, \qquad
        \mu, v = \mathrm{fl}\Big(\frac{S}{k L}\Big)

    Results are ``(N, groups)``. Where L is 1, a group is a row: a channel of k numbers.

    Examples
    --------
    >>> x = np.float32([[[1, 3], [5, 7]]])
    >>> [each.tolist() for each in moments_of_groups(x, 1)]
    [[[4.0]], [[5.0]]]
    """
    if x.shape[2] == 1:
        x = x.reshape(x.shape[0], groups, x.shape[1] // groups)
    images, channels, length = x.shape
    shape = images, groups, channels // groups

    def means(terms: FloatArray) -> FloatArray:
        each = places_of_blocks(terms.reshape(images * channels, length))
        places = np.zeros((images, groups, SPREAD // 2))
        for channel in np.moveaxis(each.reshape(*shape, SPREAD // 2), 2, 0):
            places += channel
        sums = sum_of_rows(places.reshape(images * groups, SPREAD // 2))
        return (sums[:, 0] / np.float64(shape[2] * length)).astype(x.dtype).reshape(shape[:2])

    with np.errstate(all="ignore"):
        center = means(x)
        centered = x - np.repeat(center, shape[2], axis=1)[..., np.newaxis]
        return center, means(centered * centered)


def normalize_groups(
    x: FloatArray, groups: int, weight: FloatArray | None, bias: FloatArray | None, eps: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    r"""Channels less the mean of their group, over the root of its variance.

    Equation ``eq-float-group-norm``, with the moments of ``eq-float-group-moments``; the factor of
    a channel c is worked out in double and rounded once:

    .. math::
        y = (x - \mu) \cdot \mathrm{fl}(f w_c) + b_c, \qquad f = 1 / \sqrt{v + \epsilon}

    Parameters
    ----------
    x
        ``(N, C, L)``.
    groups
        By which C can be divided.
    weight, bias
        ``(C,)``, or None.
    eps
        What is added to v.

    Returns
    -------
    tuple
        y, and of each channel of each image, ``(N, C)``: :math:`\mu`, f, and f times its weight.

    Examples
    --------
    >>> x = np.float32([[[0, 4], [0, 4]]])
    >>> y, center, factor, scale = normalize_groups(x, 1, np.float32([1, 3]), None, 0.0)
    >>> y.tolist(), center.tolist(), factor.tolist(), scale.tolist()
    ([[[-1.0, 1.0], [-3.0, 3.0]]], [[2.0, 2.0]], [[0.5, 0.5]], [[0.5, 1.5]])
    """
    each = x.shape[1] // groups
    with np.errstate(all="ignore"):
        center, variance = (np.repeat(one, each, axis=1) for one in moments_of_groups(x, groups))
        wide = 1 / np.sqrt(variance.astype(np.float64) + eps)
        factor = wide.astype(x.dtype)
        scale = factor if weight is None else (wide * weight).astype(x.dtype)
        shift = np.zeros_like(scale) if bias is None else np.broadcast_to(bias, scale.shape)
        return scale_channels(x, scale, shift, center=center), center, factor, scale


def normalize_rows(
    x: FloatArray,
    weight: FloatArray | None,
    bias: FloatArray | None,
    eps: float,
    has_mean: bool = True,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""Rows less their means, over the root of what remains of their squares.

    Equation ``eq-float-norm``, with the moments of ``eq-float-norm-moments``, or where there is no
    mean with 0 and the mean of the squares; f is worked out in double and rounded once:

    .. math:: y_i = ((x_i - \mu) \cdot f) \cdot w_i + b_i, \qquad f = 1 / \sqrt{v + \epsilon}

    Parameters
    ----------
    x
        ``(rows, n)``.
    weight, bias
        ``(n,)``, or None.
    eps
        What is added to v.
    has_mean
        False for RMS norm, which takes nothing from x.

    Returns
    -------
    tuple
        y, and of each row :math:`\mu` and f.

    Examples
    --------
    >>> y, center, factor = normalize_rows(np.float32([[0, 4]]), None, None, 0.0)
    >>> y.tolist(), center.tolist(), factor.tolist()
    ([[-1.0, 1.0]], [2.0], [0.5])
    """
    with np.errstate(all="ignore"):
        center = _means(x) if has_mean else np.zeros((len(x), 1), x.dtype)
        centered = x - center
        variance = _means(centered * centered).astype(np.float64)
        factor = (1 / np.sqrt(variance + eps)).astype(x.dtype)
        y = centered * factor
        if weight is not None:
            y = y * weight
        if bias is not None:
            y = y + bias
        return y, center[:, 0], factor[:, 0]


def gradient_of_rows(
    grad: FloatArray,
    x: FloatArray,
    weight: FloatArray | None,
    center: FloatArray,
    factor: FloatArray,
    has_mean: bool = True,
) -> FloatArray:
    r"""Gradient of the rows given to :func:`normalize_rows`, from that of y.

    Equation ``eq-float-norm-gradient``, with the sums of ``eq-sum-of-blocks``,
    :math:`s_i = g_i w_i` and :math:`\hat x_i = (x_i - \mu) f`:

    .. math::
        g'_i = f \cdot ((s_i - A) - \hat x_i B), \qquad
        A = \mathrm{fl}\Big(\tfrac1n \sum_i s_i\Big), \quad
        B = \mathrm{fl}\Big(\tfrac1n \sum_i s_i \hat x_i\Big)

    Without a mean A is 0.

    Examples
    --------
    >>> x = np.float32([[0, 4, 2]])
    >>> one = np.float32([1])
    >>> gradient_of_rows(x, x, None, 2 * one, one / 2).tolist()
    [[-0.3333333134651184, 0.3333333134651184, 0.0]]
    """
    with np.errstate(all="ignore"):
        scaled = grad if weight is None else grad * weight
        normal = (x - center[:, np.newaxis]) * factor[:, np.newaxis]
        mean = _means(scaled) if has_mean else x.dtype.type(0)
        slope = _means(scaled * normal)
        return np.asarray(factor[:, np.newaxis] * ((scaled - mean) - normal * slope))


def gradient_of_columns(
    grad: FloatArray, x: FloatArray, center: FloatArray, factor: FloatArray
) -> tuple[FloatArray, FloatArray]:
    r"""Gradients of the weight and of the bias given to :func:`normalize_rows`.

    Equation ``eq-float-norm-weight-gradient``, row by row in double, and rounded once:

    .. math:: g_w = \sum_r g_r \hat x_r, \qquad g_b = \sum_r g_r

    Examples
    --------
    >>> x, one = np.float32([[0, 4], [6, 8]]), np.float32([1, 1])
    >>> [each.tolist() for each in gradient_of_columns(x, x, one, one)]
    [[30.0, 68.0], [6.0, 12.0]]
    """
    with np.errstate(all="ignore"):
        normal = (x - center[:, np.newaxis]) * factor[:, np.newaxis]
        of_weight, of_bias = np.zeros(x.shape[1]), np.zeros(x.shape[1])
        for each, product in zip(grad.astype(np.float64), normal, strict=True):
            of_bias += each
            of_weight += each * product
        return of_weight.astype(x.dtype), of_bias.astype(x.dtype)
