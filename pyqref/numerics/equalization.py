"""Moving a factor of a channel from one tensor to another, so that both are easier to quantize."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .types import FloatArray

__all__ = ["channel_range", "equalizing_factors", "input_weight_factors", "smoothing_factors"]

#: Added to each range, so that an empty channel divides nothing by zero.
SMALLEST_RANGE = np.float32(1e-9)


def channel_range(weight: ArrayLike, axis: int = 0) -> FloatArray:
    r"""The width of the range of each channel.

    Equation ``eq-channel-range``:

    .. math:: r_i = \max_j W_{ij} - \min_j W_{ij}

    Parameters
    ----------
    weight
        float32, with the channels at ``axis``.
    axis
        The axis of the channels.

    Returns
    -------
    float32 ``(C,)``.

    Examples
    --------
    >>> channel_range([[1.0, -1.0], [0.5, 0.25]]).tolist()
    [2.0, 0.25]
    """
    rows = np.moveaxis(np.asarray(weight, np.float32), axis, 0)
    rows = rows.reshape(len(rows), -1)
    return np.asarray(rows.max(axis=1) - rows.min(axis=1))


def equalizing_factors(first: ArrayLike, second: ArrayLike) -> FloatArray:
    r"""The factors that give two adjacent layers the same range in each channel.

    Equation ``eq-cross-layer-equalization``:

    .. math:: s_i = \sqrt{\frac{r^{(1)}_i + \delta}{r^{(2)}_i + \delta}}, \qquad
              \delta = 10^{-9}

    The first layer divides its outputs by :math:`s_i`, the second multiplies its weights by it.
    Both then have the range :math:`\sqrt{r^{(1)}_i r^{(2)}_i}` in channel i. What lies between has
    to be positively homogeneous, :math:`f(x / s) = f(x) / s`, as ReLU is.

    Parameters
    ----------
    first
        Ranges of the outputs of the first layer, ``(C,)``: ``eq-channel-range``.
    second
        Ranges of the inputs of the second layer, ``(C,)``.

    Returns
    -------
    float32 ``(C,)``.

    Notes
    -----
    Source: Nagel et al. 2019, section 4.1; :math:`\delta` is that of
    ``torch.ao.quantization._equalize``.

    Examples
    --------
    >>> equalizing_factors([8.0, 1.0], [2.0, 4.0]).tolist()
    [2.0, 0.5]
    """
    above = np.asarray(first, np.float32) + SMALLEST_RANGE
    below = np.asarray(second, np.float32) + SMALLEST_RANGE
    return np.asarray(np.sqrt(above / below))


def input_weight_factors(input: ArrayLike, weight: ArrayLike) -> FloatArray:
    r"""The factors that give the columns of a layer's input and weight the same ranges.

    Equation ``eq-input-weight-equalization``:

    .. math:: s_j = \sqrt{\frac{\max W_{\cdot j} - \min W_{\cdot j}}{\max X_j - \min X_j}}

    The input is multiplied by :math:`s_j` and the weight's column divided by it. Where a range is
    zero the factor is 1.

    Parameters
    ----------
    input, weight
        Ranges of the columns, ``(C,)``.

    Returns
    -------
    float32 ``(C,)``; the quotient and the root are rounded.

    Notes
    -----
    Source: ``torch.ao.quantization.fx._equalize``.

    Examples
    --------
    >>> input_weight_factors([1.0, 16.0, 0.0], [4.0, 1.0, 3.0]).tolist()
    [2.0, 0.25, 1.0]
    """
    above, below = np.asarray(weight, np.float32), np.asarray(input, np.float32)
    empty = (above == 0) | (below == 0)
    quotient = np.where(empty, np.float32(1), above) / np.where(empty, np.float32(1), below)
    return np.asarray(np.sqrt(quotient))


def smoothing_factors(activation: ArrayLike, weight: ArrayLike, alpha: float = 0.5) -> FloatArray:
    r"""The factors that move outliers of a linear layer's input to its weight.

    Equation ``eq-smooth-quant``:

    .. math:: s_j = \frac{(\max |X_j|)^{\alpha}}{(\max_n |W_{nj}|)^{1 - \alpha}}

    The input is divided by :math:`s_j` and the weight's column j multiplied by it. A channel where
    either is zero keeps the factor 1.

    Parameters
    ----------
    activation
        Largest absolute values of the input's channels, ``(C,)``.
    weight
        Largest absolute values of the weight's columns, ``(C,)``.
    alpha
        In [0, 1]: the share of the difficulty that moves to the weight.

    Returns
    -------
    float32 ``(C,)``.

    Raises
    ------
    ValueError
        ``alpha`` is out of its range.

    Notes
    -----
    Computed in double precision and rounded once. Source: Xiao et al. 2023, equation 4.

    Examples
    --------
    >>> smoothing_factors([16.0, 1.0, 0.0], [1.0, 4.0, 3.0]).tolist()
    [4.0, 0.5, 1.0]
    """
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha must be in [0, 1], got {alpha}")
    above, below = np.asarray(activation, np.float64), np.asarray(weight, np.float64)
    empty = (above == 0) | (below == 0)
    above, below = np.where(empty, 1.0, above), np.where(empty, 1.0, below)
    return np.asarray((above**alpha / below ** (1 - alpha)).astype(np.float32))
