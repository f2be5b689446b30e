"""Normalization of quantized arrays: exact sums of integers, then one real map each.

Batch norm knows its mean and variance; layer, group and instance norm take them from
the integers. In all of them only the last step rounds to an integer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .activation import quantize_result
from .elementwise import Grid
from .rounding import clamp_to_int, fma32, round_half_even
from .types import FloatArray, IntArray

__all__ = [
    "batch_norm",
    "batch_norm_coefficients",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "moments",
    "standardize",
]


def batch_norm_coefficients(
    mean: FloatArray,
    variance: FloatArray,
    weight: FloatArray,
    bias: FloatArray,
    eps: float,
    input_scale: float,
    output_scale: float,
) -> tuple[FloatArray, FloatArray]:
    r"""Slope and offset of each channel, from units of the input to units of the output.

    Equation ``eq-batch-norm-coefficients``:

    .. math::
        \begin{gathered}
        a_c = \frac{1}{\sqrt{\sigma_c^2 + \epsilon}} \cdot w_c, \qquad
        b_c = \beta_c - \mu_c a_c, \\[1ex]
        \alpha_c = \mathrm{fl}_{32}\big(\mathrm{fl}_{64}(a_c s_x) / s_y\big), \quad
        \beta'_c = \mathrm{fl}_{32}\big(b_c / s_y\big)
        \end{gathered}

    a and b in float32, the divisions by the scales in double.

    Parameters
    ----------
    mean, variance, weight, bias
        float32 ``(C,)``.

    Examples
    --------
    >>> one = np.float32([1.0])
    >>> alpha, beta = batch_norm_coefficients(3 * one, 3 * one, 4 * one, one, 1.0, 0.5, 0.25)
    >>> alpha.tolist(), beta.tolist()
    ([4.0], [-20.0])
    """
    one = np.float32(1)
    slope = one / np.sqrt(np.asarray(variance, np.float32) + np.float32(eps))
    slope = slope * np.asarray(weight, np.float32)
    offset = np.asarray(bias, np.float32) - np.asarray(mean, np.float32) * slope
    alpha = slope.astype(np.float64) * input_scale / output_scale
    beta = offset.astype(np.float64) / output_scale
    return alpha.astype(np.float32), beta.astype(np.float32)


def batch_norm(
    q: IntArray, grid: Grid, alpha: FloatArray, beta: FloatArray, out: Grid, relu: bool = False
) -> IntArray:
    r"""Batch norm with known statistics.

    Equation ``eq-quantized-batch-norm``:

    .. math:: q' = \mathrm{sat}\big(\mathrm{rne}(\mathrm{fma}(\alpha_c,\; q - z,\; \beta'_c))
              + z_y\big)

    With ``relu`` nothing is below :math:`z_y`.

    Parameters
    ----------
    q
        Integers ``(N, C, ...)``.
    alpha, beta
        From :func:`batch_norm_coefficients`.

    Examples
    --------
    >>> from pyqref.numerics.elementwise import Grid
    >>> alpha, beta = np.float32([2.0, 1.0]), np.float32([0.0, 5.0])
    >>> batch_norm(np.uint8([[[3], [3]]]), Grid(1.0, 0), alpha, beta, Grid(1.0, 0)).tolist()
    [[[6], [8]]]
    """
    q = np.asarray(q)
    shape = (1, -1) + (1,) * (q.ndim - 2)
    centred = (q.astype(np.int64) - grid.zero_point).astype(np.float32)
    rounded = round_half_even(fma32(alpha.reshape(shape), centred, beta.reshape(shape)))
    low, high = out.lowest if relu else (out.quant_min, out.quant_max)
    return clamp_to_int(rounded.astype(np.float64) + out.zero_point, low, high, out.storage)


def moments(q: IntArray) -> tuple[FloatArray, FloatArray]:
    r"""Mean and variance of the integers of each row.

    Equation ``eq-quantized-moments``:

    .. math:: \mu = \mathrm{fl}_{32}(\textstyle\sum q) / n, \qquad
              v = \max\Big(\mathrm{fma}\big(-\mu,\; \mu,\;
              \mathrm{fl}_{32}(\textstyle\sum q^2) / n\big),\; 0\Big)

    The sums are exact. The zero point is not subtracted: it moves the mean only.

    Parameters
    ----------
    q
        Integers ``(M, n)``, n at least 1.

    Returns
    -------
    float32 ``(M, 1)`` each.

    Examples
    --------
    >>> mean, variance = moments(np.uint8([[0, 2], [100, 200]]))
    >>> mean.tolist(), variance.tolist()
    ([[1.0], [150.0]], [[1.0], [2500.0]])
    """
    q = np.asarray(q)
    wide: Any = q.astype(np.int64 if q.dtype.itemsize == 1 else np.longdouble)
    count = np.float32(q.shape[1])
    mean = wide.sum(axis=1, keepdims=True).astype(np.float32) / count
    square = (wide * wide).sum(axis=1, keepdims=True).astype(np.float32) / count
    return mean, np.maximum(fma32(-mean, mean, square), np.float32(0))


def standardize(q: IntArray, scale: float, eps: float) -> FloatArray:
    r"""Rows of mean zero and variance one.

    Equation ``eq-quantized-standardize``:

    .. math:: \hat y = (q - \mu) \cdot \frac{s}{\sqrt{(v s)\, s + \epsilon}}

    with mean and variance from ``eq-quantized-moments``.

    Examples
    --------
    >>> standardize(np.uint8([[0, 2], [100, 200]]), 1.0, 0.0).tolist()
    [[-1.0, 1.0], [-1.0, 1.0]]
    """
    mean, variance = moments(q)
    scale32 = np.float32(scale)
    inverse = scale32 / np.sqrt(variance * scale32 * scale32 + np.float32(eps))
    return (np.asarray(q).astype(np.float32) - mean) * inverse


def layer_norm(
    q: IntArray,
    grid: Grid,
    weight: FloatArray | None,
    bias: FloatArray | None,
    eps: float,
    out: Grid,
) -> IntArray:
    r"""Normalize rows, then scale and shift their elements.

    Equation ``eq-quantized-layer-norm``:

    .. math:: q' = \mathrm{quantize\_after}\big(\mathrm{fma}(\hat y_i,\; w_i,\; b_i)\big)

    with :math:`\hat y` of ``eq-quantized-standardize``; without weight and bias
    :math:`\hat y` itself. Results of 32 bits are quantized by ``eq-affine-quantize``.

    Parameters
    ----------
    q
        Integers ``(M, n)``; each row is normalized as a whole.
    weight, bias
        float32 that broadcast against ``(M, n)``, or None: one and zero.

    Examples
    --------
    >>> from pyqref.numerics.elementwise import Grid
    >>> q, grid = np.uint8([[0, 2], [100, 200]]), Grid(1.0, 0)
    >>> layer_norm(q, grid, None, None, 0.0, Grid(0.1, 128)).tolist()
    [[118, 138], [118, 138]]
    """
    y = standardize(q, grid.scale, eps)
    if weight is not None or bias is not None:
        one, zero = np.float32(1), np.float32(0)
        y = fma32(y, one if weight is None else weight, zero if bias is None else bias)
    return quantize_result(y, out)


def group_norm(
    q: IntArray,
    grid: Grid,
    groups: int,
    weight: FloatArray | None,
    bias: FloatArray | None,
    eps: float,
    out: Grid,
) -> IntArray:
    r"""Normalize groups of channels of each image.

    Equation ``eq-quantized-group-norm``: ``eq-quantized-layer-norm`` on rows of
    C / groups channels, with

    .. math:: w_i = w_{c(i)}, \qquad b_i = b_{c(i)}

    the weight and bias of the channel to which the element belongs.

    Parameters
    ----------
    q
        Integers ``(N, C, *)``.
    groups
        Divides C.
    weight, bias
        float32 ``(C,)``, or None.

    Examples
    --------
    >>> from pyqref.numerics.elementwise import Grid
    >>> q, grid = np.uint8([[[0], [2], [100], [200]]]), Grid(1.0, 0)
    >>> group_norm(q, grid, 2, None, None, 0.0, Grid(0.1, 128)).tolist()
    [[[118], [138], [118], [138]]]
    """
    q = np.asarray(q)
    batch, channels = q.shape[:2]
    space = int(np.prod(q.shape[2:], dtype=np.int64))
    rows = np.ascontiguousarray(q).reshape(batch * groups, channels // groups * space)
    spread = [
        None
        if each is None
        else np.tile(np.repeat(each, space).reshape(groups, -1), (batch, 1)).astype(np.float32)
        for each in (weight, bias)
    ]
    return layer_norm(rows, grid, spread[0], spread[1], eps, out).reshape(q.shape)


def instance_norm(
    q: IntArray,
    grid: Grid,
    weight: FloatArray | None,
    bias: FloatArray | None,
    eps: float,
    out: Grid,
) -> IntArray:
    r"""Normalize each channel of each image.

    Equation ``eq-quantized-instance-norm``: ``eq-quantized-group-norm`` with

    .. math:: groups = C

    Examples
    --------
    >>> from pyqref.numerics.elementwise import Grid
    >>> q, grid = np.uint8([[[0, 2], [100, 200]]]), Grid(1.0, 0)
    >>> instance_norm(q, grid, None, None, 0.0, Grid(0.1, 128)).tolist()
    [[[118, 138], [118, 138]]]
    """
    return group_norm(q, grid, np.asarray(q).shape[1], weight, bias, eps, out)
