"""The usual mappings of the back ends.

They differ from a global qconfig where an operation cannot take it: a transposed
convolution has no per-channel weights on x86, layer norm keeps a float weight, the output
range of a sigmoid is known.
"""

from __future__ import annotations

from typing import Any

from pyqref.nn import functional as F
from pyqref.nn import modules as nn
from pyqref.quantization.fake_quantize.defaults import default_weight_fake_quant
from pyqref.quantization.fake_quantize.fixed_qparams import FixedQParamsFakeQuantize
from pyqref.quantization.observer.defaults import (
    default_fixed_qparams_range_0to1_observer,
    default_fixed_qparams_range_neg1to1_observer,
    default_placeholder_observer,
    default_weight_observer,
)
from pyqref.quantization.qconfig.base import QConfig
from pyqref.quantization.qconfig.defaults import (
    default_quint8_weight_qconfig,
    default_reuse_input_qconfig,
    default_symmetric_qnnpack_qat_qconfig,
    default_symmetric_qnnpack_qconfig,
    get_default_qat_qconfig,
    get_default_qconfig,
)
from pyqref.tensor import sigmoid, tanh

from .mapping import QConfigMapping

__all__ = [
    "get_default_qat_qconfig_mapping",
    "get_default_qconfig_mapping",
    "get_symmetric_qnnpack_qat_qconfig_mapping",
    "get_symmetric_qnnpack_qconfig_mapping",
    "usual_mapping",
]

_TRANSPOSED: tuple[Any, ...] = (
    *(nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d),
    *(F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d),
)
#: Their kernels want one scale for a transposed convolution's weight.
_PER_TENSOR_TRANSPOSED: tuple[Any, ...] = ("fbgemm", "x86")

_FIXED_QPARAMS_OP_TO_OBSERVER: dict[Any, Any] = {
    nn.Hardsigmoid: default_fixed_qparams_range_0to1_observer,
    F.hardsigmoid: default_fixed_qparams_range_0to1_observer,
    "hardsigmoid": default_fixed_qparams_range_0to1_observer,
    "hardsigmoid_": default_fixed_qparams_range_0to1_observer,
    nn.Sigmoid: default_fixed_qparams_range_0to1_observer,
    sigmoid: default_fixed_qparams_range_0to1_observer,
    "sigmoid": default_fixed_qparams_range_0to1_observer,
    "sigmoid_": default_fixed_qparams_range_0to1_observer,
    nn.Softmax: default_fixed_qparams_range_0to1_observer,
    nn.Tanh: default_fixed_qparams_range_neg1to1_observer,
    tanh: default_fixed_qparams_range_neg1to1_observer,
    "tanh": default_fixed_qparams_range_neg1to1_observer,
    "tanh_": default_fixed_qparams_range_neg1to1_observer,
}


def get_default_qconfig_mapping(backend: str = "x86", version: int = 0) -> QConfigMapping:
    """The usual mapping of a back end for static quantization.

    Parameters
    ----------
    backend
        ``"x86"``, ``"fbgemm"``, ``"qnnpack"`` or ``"onednn"``.
    version
        As for :func:`~pyqref.quantization.get_default_qconfig`.

    Raises
    ------
    ValueError
        There is no such back end, or version.

    Notes
    -----
    Source: ``torch.ao.quantization.get_default_qconfig_mapping``.

    Examples
    --------
    >>> from pyqref import nn
    >>> mapping = get_default_qconfig_mapping("fbgemm")
    >>> mapping.object_type_qconfigs[nn.Sigmoid].activation().scale
    tensor([0.0039])
    """
    return usual_mapping(backend, get_default_qconfig(backend, version), is_qat=False)


def get_default_qat_qconfig_mapping(backend: str = "x86", version: int = 1) -> QConfigMapping:
    """The usual mapping of a back end for quantization-aware training.

    Parameters
    ----------
    backend
        ``"x86"``, ``"fbgemm"``, ``"qnnpack"`` or ``"onednn"``.
    version
        As for :func:`~pyqref.quantization.get_default_qat_qconfig`.

    Raises
    ------
    ValueError
        There is no such back end, or version.

    Notes
    -----
    Source: ``torch.ao.quantization.get_default_qat_qconfig_mapping``.

    Examples
    --------
    >>> type(get_default_qat_qconfig_mapping().global_qconfig.weight()).__name__
    'FusedMovingAvgObsFakeQuantize'
    """
    return usual_mapping(backend, get_default_qat_qconfig(backend, version), is_qat=True)


def usual_mapping(backend: str, qconfig: QConfig, is_qat: bool = False) -> QConfigMapping:
    """A QConfig for everything, and what differs from it where an operation cannot take it."""
    activation = qconfig.activation
    transposed = qconfig
    if backend in _PER_TENSOR_TRANSPOSED:
        transposed = QConfig(
            activation=activation,
            weight=default_weight_fake_quant if is_qat else default_weight_observer,
        )
    layer_norm = QConfig(activation=activation, weight=default_placeholder_observer)
    mapping = QConfigMapping().set_global(qconfig)
    mapping.set_object_type("reshape", default_reuse_input_qconfig)
    for each in _TRANSPOSED:
        mapping.set_object_type(each, transposed)
    mapping.set_object_type(F.layer_norm, layer_norm)
    mapping.set_object_type(nn.LayerNorm, layer_norm)
    mapping.set_object_type(nn.PReLU, default_quint8_weight_qconfig)
    return _with_fixed_qparams(mapping, is_qat)


def _with_fixed_qparams(mapping: QConfigMapping, is_qat: bool) -> QConfigMapping:
    weight = default_weight_fake_quant if is_qat else default_weight_observer
    made: dict[Any, QConfig] = {}
    for operation, observer in _FIXED_QPARAMS_OP_TO_OBSERVER.items():
        if observer not in made:
            activation = (
                FixedQParamsFakeQuantize.with_args(observer=observer) if is_qat else observer
            )
            made[observer] = QConfig(activation=activation, weight=weight)
        mapping.set_object_type(operation, made[observer])
    mapping._usual = dict(mapping.object_type_qconfigs)
    return mapping


def get_symmetric_qnnpack_qconfig_mapping() -> QConfigMapping:
    """Signed activations and weights between -127 and 127, as XNNPACK wants them.

    Examples
    --------
    >>> get_symmetric_qnnpack_qconfig_mapping().global_qconfig.activation().dtype
    pyqref.qint8
    """
    return _symmetric(default_symmetric_qnnpack_qconfig, is_qat=False)


def get_symmetric_qnnpack_qat_qconfig_mapping() -> QConfigMapping:
    """:func:`get_symmetric_qnnpack_qconfig_mapping` for quantization-aware training."""
    return _symmetric(default_symmetric_qnnpack_qat_qconfig, is_qat=True)


def _symmetric(qconfig: QConfig, is_qat: bool) -> QConfigMapping:
    mapping = QConfigMapping().set_global(qconfig)
    for each in ("reshape", *_TRANSPOSED, F.layer_norm, nn.LayerNorm, nn.PReLU):
        mapping.set_object_type(each, qconfig)
    return _with_fixed_qparams(mapping, is_qat)
