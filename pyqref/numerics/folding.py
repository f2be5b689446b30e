"""Folding a batch normalization into the convolution or linear layer before it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .types import FloatArray

__all__ = ["fold_batch_norm", "fold_bias", "fold_factor", "fold_weight"]


def fold_factor(gamma: Any, running_var: Any, eps: float) -> FloatArray:
    r"""What a batch normalization multiplies each channel by.

    Equation ``eq-fold-factor``:

    .. math:: f_n = \gamma_n / \sqrt{\sigma^2_n + \varepsilon}

    in the precision of the arguments.
    """
    running_var = np.asarray(running_var)
    root = 1 / np.sqrt(running_var + running_var.dtype.type(eps))
    return np.asarray(gamma) * root


def fold_weight(weight: Any, factor: Any, channel_axis: int = 0) -> FloatArray:
    r"""The weight with the factor of each output channel multiplied in.

    Equation ``eq-fold-weight``:

    .. math:: w'_n = f_n\, w_n

    ``channel_axis`` is 0, or 1 for transposed convolutions.
    """
    weight = np.asarray(weight)
    shape = [1] * weight.ndim
    shape[channel_axis] = -1
    return weight * np.asarray(factor).reshape(shape)


def fold_bias(bias: Any, running_mean: Any, factor: Any, beta: Any) -> FloatArray:
    r"""The bias of the folded layer.

    Equation ``eq-fold-bias``:

    .. math:: b'_n = (b_n - \mu_n)\, f_n + \beta_n
    """
    return (np.asarray(bias) - np.asarray(running_mean)) * np.asarray(factor) + np.asarray(beta)


def fold_batch_norm(
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    eps: float,
    gamma: Any = None,
    beta: Any = None,
    channel_axis: int = 0,
) -> tuple[FloatArray, FloatArray]:
    """Weight and bias of one layer that does what layer and batch normalization did.

    ``eq-fold-factor``, ``eq-fold-weight`` and ``eq-fold-bias`` together.

    Parameters
    ----------
    weight
        ``(N, ...)``, or ``(C, N, ...)`` with ``channel_axis=1``.
    bias
        ``(N,)``, or None for zero.
    running_mean, running_var
        Statistics of the normalization, ``(N,)``.
    eps
        Added to the variance.
    gamma, beta
        Its scale and shift, ``(N,)``, or None for 1 and 0.

    Examples
    --------
    >>> weight, bias = fold_batch_norm([[2.0]], None, [1.0], [4.0], 0.0, [3.0], [0.5])
    >>> weight, bias
    (array([[3.]]), array([-1.]))
    """
    running_mean = np.asarray(running_mean)
    zeros = np.zeros_like(running_mean)
    factor = fold_factor(
        np.ones_like(running_mean) if gamma is None else gamma, running_var, eps
    )
    folded_bias = fold_bias(
        zeros if bias is None else bias, running_mean, factor, zeros if beta is None else beta
    )
    return fold_weight(weight, factor, channel_axis), folded_bias
