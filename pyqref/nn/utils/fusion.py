"""Folding a batch normalization in evaluation mode into the layer before it.

The equations are those of :mod:`pyqref.numerics.folding`.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ...numerics.folding import fold_batch_norm, fold_bias, fold_weight, inverse_deviation
from ...tape import Array
from ...tensor.base import wrap
from ...tensor.parameter import Parameter

__all__ = [
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
]


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A convolution that computes what ``conv`` followed by ``bn`` computes.

    Parameters
    ----------
    conv
        A convolution, in evaluation mode.
    bn
        A batch normalization, in evaluation mode and with running statistics.
    transpose
        Whether ``conv`` is a transposed convolution.

    Returns
    -------
    Module
        A copy of ``conv`` with new weight and bias.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> conv, bn = nn.Conv2d(1, 2, 3).eval(), nn.BatchNorm2d(2).eval()
    >>> fused = nn.utils.fuse_conv_bn_eval(conv, bn)
    >>> x = pyqref.rand(1, 1, 5, 5)
    >>> pyqref.allclose(fused(x), bn(conv(x)), atol=1e-5)
    True
    """
    fused = _copy_in_eval_mode(conv, bn)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight,
        fused.bias,
        bn.running_mean,
        bn.running_var,
        bn.eps,
        bn.weight,
        bn.bias,
        transpose,
    )
    return fused


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A linear layer that computes what ``linear`` followed by ``bn`` computes.

    Raises
    ------
    AssertionError
        A module is in training mode, or ``bn`` has other features than ``linear`` gives.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> linear, bn = nn.Linear(3, 2).eval(), nn.BatchNorm1d(2).eval()
    >>> fused = nn.utils.fuse_linear_bn_eval(linear, bn)
    >>> x = pyqref.rand(4, 3)
    >>> pyqref.allclose(fused(x), bn(linear(x)), atol=1e-5)
    True
    """
    fused = _copy_in_eval_mode(linear, bn)
    if bn.num_features not in (linear.out_features, 1):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, "
            f"got {linear.out_features} and {bn.num_features}"
        )
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Any,
    conv_b: Any,
    bn_rm: Any,
    bn_rv: Any,
    bn_eps: float,
    bn_w: Any,
    bn_b: Any,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the folded convolution: ``eq-fold-weight`` and ``eq-fold-bias``.

    Parameters
    ----------
    conv_w, conv_b
        Weight `(C_out, C_in, ...)`, or `(C_in, C_out, ...)` if transposed; bias `(C_out)`
        or None.
    bn_rm, bn_rv
        Running mean and variance `(C_out)`.
    bn_eps
        Added to the variance, > 0.
    bn_w, bn_b
        Gamma and beta `(C_out)`, or None for ones and zeros.
    transpose
        Whether the output channels are the second dimension of the weight.

    Examples
    --------
    >>> import pyqref
    >>> one, mean, var = pyqref.ones(1), pyqref.tensor([2.0]), pyqref.tensor([3.0])
    >>> fold = pyqref.nn.utils.fuse_conv_bn_weights
    >>> weight, bias = fold(pyqref.ones(1, 1, 1, 1), one, mean, var, 1.0, one, pyqref.zeros(1))
    >>> weight.item(), bias.item()  # 1 / sqrt(3 + 1), and (1 - 2) times that
    (0.5, -0.5)
    """
    weight, bias = fold_batch_norm(
        conv_w._array,
        None if conv_b is None else conv_b._array,
        bn_rm._array,
        bn_rv._array,
        bn_eps,
        None if bn_w is None else bn_w._array,
        None if bn_b is None else bn_b._array,
        channel_axis=1 if transpose else 0,
    )
    bias_like = conv_w if conv_b is None else conv_b
    return (
        _parameter(weight, conv_w),
        _parameter(bias, bias_like),
    )


def fuse_linear_bn_weights(
    linear_w: Any,
    linear_b: Any,
    bn_rm: Any,
    bn_rv: Any,
    bn_eps: float,
    bn_w: Any,
    bn_b: Any,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the folded linear layer: ``eq-fold-weight`` and ``eq-fold-bias``.

    Examples
    --------
    >>> import pyqref
    >>> one, mean, var = pyqref.ones(1), pyqref.tensor([2.0]), pyqref.tensor([3.0])
    >>> fold = pyqref.nn.utils.fuse_linear_bn_weights
    >>> weight, bias = fold(pyqref.ones(1, 1), one, mean, var, 1.0, one, pyqref.zeros(1))
    >>> weight.item(), bias.item()  # 1 / sqrt(3 + 1), and (1 - 2) times that
    (0.5, -0.5)
    """
    inverse = inverse_deviation(bn_rv._array, bn_eps)
    one = np.ones_like(inverse)
    gamma = one if bn_w is None else bn_w._array
    beta = np.zeros_like(inverse) if bn_b is None else bn_b._array
    weight = fold_weight(linear_w._array, gamma, inverse)
    # For linear layers torch multiplies gamma into the factor first, for convolutions last.
    bias = np.zeros_like(inverse) if linear_b is None else linear_b._array
    bias = fold_bias(bias, bn_rm._array, one, gamma * inverse, beta)
    return _parameter(weight, linear_w), _parameter(
        bias, linear_w if linear_b is None else linear_b
    )


def _parameter(array: Array, like: Any) -> Parameter:
    """A parameter with the dtype of the one that it replaces."""
    array = array.astype(like._array.dtype, copy=False)
    return Parameter(wrap(array), requires_grad=like.requires_grad)


def _copy_in_eval_mode(layer: Any, bn: Any) -> Any:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError(
            "fusing needs running statistics: the batch normalization was made with "
            "track_running_stats=False"
        )
    return copy.deepcopy(layer)
