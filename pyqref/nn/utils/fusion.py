"""Folding a batch normalization in evaluation mode into the layer before it.

The equations are those of :mod:`pyqref.numerics.folding`.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ..._typing import AnyModule, Module, Tensor
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


def fuse_conv_bn_eval(conv: AnyModule, bn: AnyModule, transpose: bool = False) -> Module:
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

    Raises
    ------
    AssertionError
        A module is in training mode, or ``bn`` has no running statistics.
    ValueError
        ``bn`` has other channels than ``conv`` gives, or ``transpose`` is not what ``conv``
        is.

    Notes
    -----
    torch 2.13 cannot fold into a transposed convolution in groups, and folds a square
    weight along the wrong axis where ``transpose`` is wrong.

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
    if bool(transpose) is not bool(conv.transposed):
        raise ValueError(
            f"fuse_conv_bn_eval: transpose must be {conv.transposed} for a "
            f"{type(conv).__name__}, got {transpose!r}"
        )
    if bn.num_features != conv.out_channels:
        raise _other_channels("fuse_conv_bn_eval", bn, conv, conv.out_channels)
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


def fuse_linear_bn_eval(linear: AnyModule, bn: AnyModule) -> Module:
    """A linear layer that computes what ``linear`` followed by ``bn`` computes.

    Raises
    ------
    AssertionError
        A module is in training mode, or ``bn`` has no running statistics.
    ValueError
        ``bn`` has neither as many features as ``linear`` gives nor one.

    Notes
    -----
    One feature is right for inputs ``(N, 1, in_features)``, whose channel is not the
    dimension that the layer maps.

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
        raise _other_channels("fuse_linear_bn_eval", bn, linear, linear.out_features)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor,
    bn_b: Tensor,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the folded convolution: ``eq-fold-weight`` and ``eq-fold-bias``.

    Parameters
    ----------
    conv_w, conv_b
        Weight `(C_out, C_in / groups, ...)`, or `(C_in, C_out / groups, ...)` if transposed;
        bias `(C_out)` or None.
    bn_rm, bn_rv
        Running mean and variance `(C_out)`.
    bn_eps
        Added to the variance, > 0.
    bn_w, bn_b
        Gamma and beta `(C_out)`, or None for ones and zeros.
    transpose
        Whether the output channels are the second dimension of the weight. The number of
        groups is then the size of ``bn_rm`` by that dimension.

    Raises
    ------
    ValueError
        The sizes do not belong together.

    Examples
    --------
    >>> import pyqref
    >>> one, mean, var = pyqref.ones(1), pyqref.tensor([2.0]), pyqref.tensor([3.0])
    >>> fold = pyqref.nn.utils.fuse_conv_bn_weights
    >>> weight, bias = fold(pyqref.ones(1, 1, 1, 1), one, mean, var, 1.0, one, pyqref.zeros(1))
    >>> weight.item(), bias.item()  # 1 / sqrt(3 + 1), and (1 - 2) times that
    (0.5, -0.5)
    """
    given = {"conv_b": conv_b, "bn_rv": bn_rv, "bn_w": bn_w, "bn_b": bn_b}
    _check_sizes("fuse_conv_bn_weights", bn_rm, given)
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
    linear_w: Tensor,
    linear_b: Tensor,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor,
    bn_b: Tensor,
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
    _check_sizes("fuse_linear_bn_weights", bn_rm, {"bn_rv": bn_rv, "bn_w": bn_w, "bn_b": bn_b})
    if linear_b is not None and linear_b._array.shape != linear_w._array.shape[:1]:
        raise ValueError(
            "fuse_linear_bn_weights: linear_b must have one number for each row of linear_w, "
            f"{linear_w.shape[0]}, got shape {tuple(linear_b.shape)}"
        )
    inverse = inverse_deviation(bn_rv._array, bn_eps)
    one = np.ones_like(inverse)
    gamma = one if bn_w is None else bn_w._array
    beta = np.zeros_like(inverse) if bn_b is None else bn_b._array
    weight = fold_weight(linear_w._array, gamma, inverse)
    # For linear layers torch multiplies gamma into the factor first, for convolutions last.
    rows = len(linear_w._array)
    bias = np.zeros(rows, inverse.dtype) if linear_b is None else linear_b._array
    bias = fold_bias(bias, bn_rm._array, one, gamma * inverse, beta)
    return _parameter(weight, linear_w), _parameter(
        bias, linear_w if linear_b is None else linear_b
    )


def _check_sizes(name: str, bn_rm: Any, given: dict[str, Any]) -> None:
    """Raise unless there is one number for each channel of the batch normalization."""
    for what, each in given.items():
        if each is not None and each.shape != bn_rm.shape:
            raise ValueError(
                f"{name}: {what} must have the shape of bn_rm, {tuple(bn_rm.shape)}, "
                f"got {tuple(each.shape)}"
            )


def _other_channels(name: str, bn: Any, layer: Any, outputs: int) -> ValueError:
    return ValueError(
        f"{name}: {type(bn).__name__} must have as many channels as the {type(layer).__name__} "
        f"before it gives, {outputs}, got num_features={bn.num_features}"
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
