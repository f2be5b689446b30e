"""Fusing functions: one function for each sequence of types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyqref._typing import AnyModule
from pyqref.nn import intrinsic as nni
from pyqref.nn import modules as nn
from pyqref.nn.modules import Module
from pyqref.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

__all__ = [
    "DEFAULT_OP_LIST_TO_FUSER_METHOD",
    "fuse_conv_bn",
    "fuse_conv_bn_relu",
    "fuse_convtranspose_bn",
    "fuse_linear_bn",
    "get_fuser_method",
]

_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
_TRANSPOSED = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
_BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
_CONV_BN = {nn.Conv1d: nni.ConvBn1d, nn.Conv2d: nni.ConvBn2d, nn.Conv3d: nni.ConvBn3d}
_CONV_BN_RELU = {
    nn.Conv1d: nni.ConvBnReLU1d,
    nn.Conv2d: nni.ConvBnReLU2d,
    nn.Conv3d: nni.ConvBnReLU3d,
}
_CONV_RELU = {nn.Conv1d: nni.ConvReLU1d, nn.Conv2d: nni.ConvReLU2d, nn.Conv3d: nni.ConvReLU3d}


def fuse_conv_bn(is_qat: bool, conv: AnyModule, bn: AnyModule | None = None) -> Module:
    r"""Fuse a convolution and the batch norm behind it.

    For inference the batch norm is folded into weight and bias
    (:func:`pyqref.nn.utils.fuse_conv_bn_eval`):

    .. math:: W' = W \frac{\gamma}{\sqrt{\sigma^2 + \epsilon}}, \qquad
              b' = (b - \mu) \frac{\gamma}{\sqrt{\sigma^2 + \epsilon}} + \beta

    For training with fake quantization both are kept, as one group.

    Parameters
    ----------
    is_qat : bool
        Whether for training. Left out (the form of the documentation, ``fuse_conv_bn(conv,
        bn)``), it is whether the layers are in training mode.
    conv : Conv1d, Conv2d or Conv3d
    bn : BatchNorm of as many dimensions

    Raises
    ------
    ValueError
        One is in training mode and the other is not, or the layers cannot be grouped.

    Examples
    --------
    >>> from pyqref import nn
    >>> conv, bn = nn.Conv2d(1, 2, 1).eval(), nn.BatchNorm2d(2).eval()
    >>> fuse_conv_bn(False, conv, bn)
    Conv2d(1, 2, kernel_size=(1, 1), stride=(1, 1))
    """
    is_qat, conv, bn = _with_flag("fuse_conv_bn", is_qat, conv, bn)
    _check_types("fuse_conv_bn", (conv, _CONVOLUTIONS), (bn, _BATCH_NORMS))
    _check_modes("fuse_conv_bn", is_qat, conv, bn)
    if not is_qat:
        return fuse_conv_bn_eval(conv, bn)
    _check_trainable(conv.out_channels, bn)
    return _group(_CONV_BN, conv, bn)


def fuse_conv_bn_relu(
    is_qat: bool, conv: AnyModule, bn: AnyModule, relu: Module | None = None
) -> Module:
    """Fuse a convolution, the batch norm and the ReLU behind it.

    As :func:`fuse_conv_bn`; for inference the result is ``ConvReLU``.

    Parameters
    ----------
    is_qat : bool
        As in :func:`fuse_conv_bn`; may be left out.
    conv, bn, relu
        The layers.

    Raises
    ------
    ValueError
        As in :func:`fuse_conv_bn`.

    Examples
    --------
    >>> from pyqref import nn
    >>> layers = nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.ReLU()).eval()
    >>> type(fuse_conv_bn_relu(False, *layers)).__name__
    'ConvReLU2d'
    """
    is_qat, conv, bn, relu = _with_flag("fuse_conv_bn_relu", is_qat, conv, bn, relu)
    _check_types("fuse_conv_bn_relu", (conv, _CONVOLUTIONS), (bn, _BATCH_NORMS))
    _check_modes("fuse_conv_bn_relu", is_qat, conv, bn, relu)
    if not is_qat:
        return _group(_CONV_RELU, fuse_conv_bn_eval(conv, bn), relu)
    _check_trainable(conv.out_channels, bn)
    return _group(_CONV_BN_RELU, conv, bn, relu)


def fuse_linear_bn(is_qat: bool, linear: Module, bn: Module | None = None) -> Module:
    """Fuse a linear layer and the batch norm behind it.

    Parameters
    ----------
    is_qat : bool
        As in :func:`fuse_conv_bn`; may be left out.
    linear, bn
        ``Linear`` and ``BatchNorm1d``.

    Raises
    ------
    ValueError
        As in :func:`fuse_conv_bn`.

    Examples
    --------
    >>> from pyqref import nn
    >>> fuse_linear_bn(False, nn.Linear(2, 3).eval(), nn.BatchNorm1d(3).eval())
    Linear(in_features=2, out_features=3, bias=True)
    """
    is_qat, linear, bn = _with_flag("fuse_linear_bn", is_qat, linear, bn)
    _check_types("fuse_linear_bn", (linear, (nn.Linear,)), (bn, _BATCH_NORMS))
    _check_modes("fuse_linear_bn", is_qat, linear, bn)
    if not is_qat:
        return fuse_linear_bn_eval(linear, bn)
    plain: Any = linear
    _check_trainable(plain.out_features, bn)
    return nni.LinearBn1d(linear, bn)


def fuse_convtranspose_bn(is_qat: Any, convt: Module, bn: Module | None = None) -> Module:
    """Fuse a transposed convolution and the batch norm behind it, for inference only.

    Parameters
    ----------
    is_qat : bool
        Must be False; may be left out.
    convt, bn
        ``ConvTranspose`` and ``BatchNorm`` of as many dimensions.

    Raises
    ------
    ValueError
        It is asked for training, or the modes differ.

    Examples
    --------
    >>> from pyqref import nn
    >>> fuse_convtranspose_bn(nn.ConvTranspose2d(1, 2, 1).eval(), nn.BatchNorm2d(2).eval())
    ConvTranspose2d(1, 2, kernel_size=(1, 1), stride=(1, 1))
    """
    is_qat, convt, bn = _with_flag("fuse_convtranspose_bn", is_qat, convt, bn)
    _check_types("fuse_convtranspose_bn", (convt, _TRANSPOSED), (bn, _BATCH_NORMS))
    if is_qat:
        raise ValueError("fuse_convtranspose_bn cannot fuse for training; call model.eval() first")
    _check_modes("fuse_convtranspose_bn", is_qat, convt, bn)
    return fuse_conv_bn_eval(convt, bn, transpose=True)


def _in_a_row(group: Callable[..., Any]) -> Callable[..., Any]:
    """A fuser that only puts the layers into a group."""

    def fuse(is_qat: bool, *layers: Any) -> Any:
        return group(*layers)

    return fuse


#: Sequences of layer types, and the functions that fuse them.
DEFAULT_OP_LIST_TO_FUSER_METHOD: dict[tuple[Any, ...], Callable[..., Any]] = {
    (nn.Conv1d, nn.BatchNorm1d): fuse_conv_bn,
    (nn.Conv1d, nn.BatchNorm1d, nn.ReLU): fuse_conv_bn_relu,
    (nn.Conv2d, nn.BatchNorm2d): fuse_conv_bn,
    (nn.Conv2d, nn.BatchNorm2d, nn.ReLU): fuse_conv_bn_relu,
    (nn.Conv3d, nn.BatchNorm3d): fuse_conv_bn,
    (nn.Conv3d, nn.BatchNorm3d, nn.ReLU): fuse_conv_bn_relu,
    (nn.Conv1d, nn.ReLU): _in_a_row(nni.ConvReLU1d),
    (nn.Conv2d, nn.ReLU): _in_a_row(nni.ConvReLU2d),
    (nn.Conv3d, nn.ReLU): _in_a_row(nni.ConvReLU3d),
    (nn.Linear, nn.BatchNorm1d): fuse_linear_bn,
    (nn.Linear, nn.ReLU): _in_a_row(nni.LinearReLU),
    (nn.BatchNorm2d, nn.ReLU): _in_a_row(nni.BNReLU2d),
    (nn.BatchNorm3d, nn.ReLU): _in_a_row(nni.BNReLU3d),
    (nn.ConvTranspose1d, nn.BatchNorm1d): fuse_convtranspose_bn,
    (nn.ConvTranspose2d, nn.BatchNorm2d): fuse_convtranspose_bn,
    (nn.ConvTranspose3d, nn.BatchNorm3d): fuse_convtranspose_bn,
}


def get_fuser_method(
    op_list: Sequence[Any],
    additional_fuser_method_mapping: Mapping[tuple[Any, ...], Callable[..., Any]] | None = None,
) -> Callable[..., Any]:
    """The function that fuses layers of these types.

    Parameters
    ----------
    op_list
        Types of the layers, in order.
    additional_fuser_method_mapping
        Sequences of a user's own; they come before those of the table.

    Returns
    -------
    callable
        Called as ``method(is_qat, *layers)``.

    Raises
    ------
    ValueError
        No function fuses this sequence; the message lists those that can be fused.

    Examples
    --------
    >>> from pyqref import nn
    >>> get_fuser_method((nn.Conv2d, nn.BatchNorm2d)).__name__
    'fuse_conv_bn'
    """
    if not isinstance(op_list, tuple | list):
        raise TypeError(f"get_fuser_method: op_list must be a tuple of types, got {op_list!r}")
    table = {**DEFAULT_OP_LIST_TO_FUSER_METHOD, **(additional_fuser_method_mapping or {})}
    method = table.get(tuple(op_list))
    if method is None:
        wanted = ", ".join(_name(each) for each in op_list)
        raise ValueError(f"no fusion is known for ({wanted}); {_known(table)}")
    return method


def _name(kind: Any) -> str:
    return str(getattr(kind, "__name__", repr(kind)))


def _known(table: Mapping[tuple[Any, ...], Any]) -> str:
    sequences = ", ".join(f"({', '.join(_name(each) for each in key)})" for key in table)
    return f"these sequences can be fused: {sequences}"


def _with_flag(name: str, is_qat: Any, *layers: Any) -> tuple[Any, ...]:
    """``(is_qat, *layers)`` from arguments with the flag, or all moved up by one without it."""
    count = len(layers)
    if isinstance(is_qat, Module) and layers[-1] is None:
        return bool(is_qat.training), is_qat, *layers[:-1]
    if not isinstance(is_qat, bool) or not all(isinstance(each, Module) for each in layers):
        got = ", ".join(type(each).__name__ for each in (is_qat, *layers))
        raise TypeError(
            f"{name} takes is_qat (a bool, may be left out) and {count} layers, got {got}"
        )
    return is_qat, *layers


def _check_types(name: str, *pairs: tuple[Any, tuple[type, ...]]) -> None:
    for layer, kinds in pairs:
        if not isinstance(layer, kinds):
            wanted = " or ".join(each.__name__ for each in kinds)
            raise TypeError(f"{name} takes a {wanted} here, got {type(layer).__name__}")


def _check_modes(name: str, is_qat: bool, *layers: Any) -> None:
    modes = {type(each).__name__: each.training for each in layers}
    if len(set(modes.values())) > 1:
        raise ValueError(
            f"{name}: the layers must all be in training mode or all in evaluation mode, "
            f"got training={modes}; call model.train() or model.eval()"
        )
    if not is_qat and layers[0].training:
        raise ValueError(
            f"{name}: folding a batch norm into {type(layers[0]).__name__} needs its running "
            "statistics, so the model must be in evaluation mode: call model.eval() first, or "
            "fuse_modules_qat to keep the batch norm for quantization-aware training"
        )


def _check_trainable(channels: int, bn: Any) -> None:
    if bn.num_features != channels:
        raise ValueError(
            f"{type(bn).__name__} must have as many features as the layer before it has outputs, "
            f"{channels}, got {bn.num_features}"
        )
    if not bn.affine or not bn.track_running_stats:
        raise ValueError(
            f"only a {type(bn).__name__} with affine=True and track_running_stats=True can be "
            f"fused, got affine={bn.affine}, track_running_stats={bn.track_running_stats}"
        )


def _group(table: Mapping[Any, Any], *layers: Any) -> Any:
    group = table.get(type(layers[0]))
    if group is None:
        known = ", ".join(each.__name__ for each in table)
        raise ValueError(f"cannot fuse {type(layers[0]).__name__}; these can be fused: {known}")
    return group(*layers)
