"""Folding a batch normalization into the convolution or linear layer before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Array
from .types import FloatArray

__all__ = ["fold_batch_norm", "fold_bias", "fold_weight", "inverse_deviation"]


def inverse_deviation(running_var: Sequence[float] | Array, eps: float) -> FloatArray:
    r"""One over the standard deviation by which a batch normalization divides.

    Equation ``eq-inverse-deviation``:

    .. math:: \rho_n = 1 / \sqrt{\sigma^2_n + \varepsilon}

    in the precision of ``running_var``.

    Examples
    --------
    >>> inverse_deviation(np.float32([3.0, 8.0]), 1.0).tolist()
    [0.5, 0.3333333432674408]
    """
    running_var = np.asarray(running_var)
    one = running_var.dtype.type(1)
    return np.asarray(one / np.sqrt(running_var + running_var.dtype.type(eps)))


def fold_weight(
    weight: object,
    gamma: Sequence[float] | Array,
    inverse: Sequence[float] | Array,
    channel_axis: int = 0,
) -> FloatArray:
    r"""The weight with what the normalization multiplies each channel by.

    Equation ``eq-fold-weight``:

    .. math:: w'_n = w_n \cdot (\gamma_n\, \rho_n)

    ``channel_axis`` is 0, or 1 for transposed convolutions. A transposed convolution in G
    groups has a weight ``(C, N / G, ...)``: row ``c`` belongs to group ``c // (C / G)``, and
    is multiplied by the factors of this group's ``N / G`` outputs.

    Raises
    ------
    ValueError
        The factors are not as many as the weight has output channels; for a transposed
        convolution: not that many for each of a number of groups that divides its inputs.

    Notes
    -----
    Error bound ``eq-fold-weight-error``: five roundings.

    Examples
    --------
    >>> fold_weight([[1.0, 2.0], [1.0, 2.0]], gamma=[4.0, 1.0], inverse=[0.5, 1.0]).tolist()
    [[2.0, 4.0], [1.0, 2.0]]
    >>> fold_weight([[1.0], [1.0]], [4.0, 1.0], [0.5, 1.0], channel_axis=1).tolist()  # 2 groups
    [[2.0], [1.0]]
    """
    weight = np.asarray(weight)
    factor = np.asarray(gamma) * np.asarray(inverse)
    rows, columns, *taps = weight.shape
    channels = weight.shape[channel_axis]
    if channel_axis == 0:
        groups = 1
        fits = factor.size in (channels, 1)
    else:
        groups = factor.size // columns if columns else 0
        fits = groups > 0 and factor.size == groups * columns and rows % groups == 0
    if not fits:
        raise ValueError(
            f"a batch norm of {factor.size} channels does not fit a weight {weight.shape} with "
            f"{channels} output channels{' for each group' if channel_axis else ''}"
        )
    if channel_axis == 0:
        return weight * factor.reshape(-1, *(1,) * (weight.ndim - 1))
    grouped = weight.reshape(groups, rows // groups, columns, *taps)
    return (grouped * factor.reshape(groups, 1, columns, *(1,) * len(taps))).reshape(weight.shape)


def fold_bias(
    bias: Sequence[float] | Array,
    running_mean: Sequence[float] | Array,
    gamma: Sequence[float] | Array,
    inverse: Sequence[float] | Array,
    beta: Sequence[float] | Array,
) -> FloatArray:
    r"""The bias of the folded layer.

    Equation ``eq-fold-bias``:

    .. math:: b'_n = (b_n - \mu_n)\, \rho_n\, \gamma_n + \beta_n

    multiplied from the left, as torch does.

    Examples
    --------
    >>> fold_bias([1.0], [3.0], gamma=[4.0], inverse=[0.5], beta=[10.0]).tolist()
    [6.0]
    """
    centred = np.asarray(bias) - np.asarray(running_mean)
    return np.asarray(centred * np.asarray(inverse) * np.asarray(gamma) + np.asarray(beta))


def fold_batch_norm(
    weight: ArrayLike,
    bias: Any,
    running_mean: ArrayLike,
    running_var: Sequence[float] | Array,
    eps: float,
    gamma: Any = None,
    beta: Any = None,
    channel_axis: int = 0,
) -> tuple[FloatArray, FloatArray]:
    """Weight and bias of one layer that does what layer and batch normalization did.

    ``eq-inverse-deviation``, ``eq-fold-weight`` and ``eq-fold-bias`` together.

    Parameters
    ----------
    weight
        ``(N, ...)``, or ``(C, N / G, ...)`` with ``channel_axis=1``, in G groups.
    bias
        ``(N,)``, or None for zero.
    running_mean, running_var
        Statistics of the normalization, ``(N,)``.
    eps
        Added to the variance.
    gamma, beta
        Its scale and shift, ``(N,)``, or None for 1 and 0.

    Notes
    -----
    Error bound ``eq-fold-output-error``: K + 8 roundings of each term of an output.

    Examples
    --------
    >>> weight, bias = fold_batch_norm([[2.0]], None, [1.0], [4.0], 0.0, [3.0], [0.5])
    >>> weight, bias
    (array([[3.]]), array([-1.]))
    """
    running_mean = np.asarray(running_mean)
    inverse = inverse_deviation(running_var, eps)
    bias, beta = (np.zeros_like(running_mean) if each is None else each for each in (bias, beta))
    gamma = np.ones_like(running_mean) if gamma is None else gamma
    folded_weight = fold_weight(weight, gamma, inverse, channel_axis)
    return folded_weight, fold_bias(bias, running_mean, gamma, inverse, beta)
