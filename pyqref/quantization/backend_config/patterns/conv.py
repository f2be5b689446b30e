"""Convolutions: alone, with batch norm and ReLU, for training, and transposed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pyqref.nn import functional as F
from pyqref.nn import intrinsic as nni
from pyqref.nn import modules as nn
from pyqref.nn import qat as nnqat
from pyqref.nn.intrinsic import qat as nniqat
from pyqref.nn.quantized import reference as nnqr
from pyqref.quantization.backend_config.pattern_config import BackendPatternConfig
from pyqref.quantization.fuser_method_mappings import (
    fuse_conv_bn,
    fuse_conv_bn_relu,
    fuse_convtranspose_bn,
)

from .building import DTypes, group, pattern

__all__ = ["conv_configs", "conv_transpose_configs"]

_ARGUMENTS = {"weight": 1, "bias": 2}


@dataclass(frozen=True)
class _Family:
    """All that is called convolution in one number of dimensions."""

    root: Any
    function: Any
    transpose: Any
    transpose_function: Any
    bn: Any
    reference: Any
    transpose_reference: Any
    qat: Any
    relu: Any
    with_bn: Any
    with_bn_relu: Any
    relu_qat: Any
    bn_qat: Any
    bn_relu_qat: Any


def _family(dimensions: int) -> _Family:
    d = f"{dimensions}d"
    return _Family(
        root=getattr(nn, f"Conv{d}"),
        function=getattr(F, f"conv{d}"),
        transpose=getattr(nn, f"ConvTranspose{d}"),
        transpose_function=getattr(F, f"conv_transpose{d}"),
        bn=getattr(nn, f"BatchNorm{d}"),
        reference=getattr(nnqr, f"Conv{d}"),
        transpose_reference=getattr(nnqr, f"ConvTranspose{d}"),
        qat=getattr(nnqat, f"Conv{d}"),
        relu=getattr(nni, f"ConvReLU{d}"),
        with_bn=getattr(nni, f"ConvBn{d}"),
        with_bn_relu=getattr(nni, f"ConvBnReLU{d}"),
        relu_qat=getattr(nniqat, f"ConvReLU{d}"),
        bn_qat=getattr(nniqat, f"ConvBn{d}"),
        bn_relu_qat=getattr(nniqat, f"ConvBnReLU{d}"),
    )


def conv_configs(
    dtypes: DTypes, dimensions: Iterable[int] = (1, 2, 3), *, transposed: bool = True
) -> list[BackendPatternConfig]:
    """Convolutions with what is fused into them.

    Parameters
    ----------
    dtypes
        The supported types.
    dimensions
        Of 1 to 3.
    transposed
        Whether with transposed convolutions.
    """
    found = []
    for each in dimensions:
        family = _family(each)
        found += [*_alone(family, dtypes), *_relu(family, dtypes), *_bn(family, dtypes)]
        if transposed:
            found += conv_transpose_configs(dtypes, each)
    return found


def _alone(conv: _Family, dtypes: DTypes) -> list[BackendPatternConfig]:
    return [
        pattern(conv.root, dtypes)
        .set_root_module(conv.root)
        .set_reference_quantized_module(conv.reference)
        .set_qat_module(conv.qat),
        _weighted(conv, conv.qat, dtypes),
        pattern(conv.function, dtypes)._set_input_type_to_index(dict(_ARGUMENTS)),
    ]


def _weighted(conv: _Family, what: Any, dtypes: DTypes) -> BackendPatternConfig:
    """A module that becomes a reference convolution as it is."""
    config = pattern(what, dtypes).set_root_module(conv.root)
    return config.set_reference_quantized_module(conv.reference)


def _relu(conv: _Family, dtypes: DTypes) -> list[BackendPatternConfig]:
    fused = [
        pattern((conv.root, relu), dtypes)
        .set_fused_module(conv.relu)
        .set_fuser_method(group(conv.relu))
        for relu in (nn.ReLU, F.relu)
    ]
    return [
        *fused,
        pattern(conv.relu, dtypes).set_qat_module(conv.relu_qat),
        _weighted(conv, conv.relu_qat, dtypes),
        pattern((conv.function, nn.ReLU), dtypes),
        pattern((conv.function, F.relu), dtypes),
    ]


def _bn(conv: _Family, dtypes: DTypes) -> list[BackendPatternConfig]:
    return [
        pattern((conv.root, conv.bn), dtypes)
        .set_fused_module(conv.with_bn)
        .set_fuser_method(fuse_conv_bn),
        pattern((conv.root, conv.bn, nn.ReLU), dtypes)
        .set_fused_module(conv.with_bn_relu)
        .set_fuser_method(fuse_conv_bn_relu),
        pattern((conv.root, conv.bn, F.relu), dtypes)
        .set_root_module(conv.root)
        .set_fused_module(conv.with_bn_relu)
        .set_fuser_method(fuse_conv_bn_relu),
        pattern(conv.with_bn, dtypes).set_qat_module(conv.bn_qat),
        pattern(conv.with_bn_relu, dtypes).set_qat_module(conv.bn_relu_qat),
        _weighted(conv, conv.bn_qat, dtypes),
        _weighted(conv, conv.bn_relu_qat, dtypes),
    ]


def conv_transpose_configs(dtypes: DTypes, dimensions: int) -> list[BackendPatternConfig]:
    """Transposed convolutions: alone, with batch norm, and as a function."""
    conv = _family(dimensions)
    return [
        pattern(conv.transpose, dtypes)
        .set_root_module(conv.transpose)
        .set_reference_quantized_module(conv.transpose_reference),
        pattern((conv.transpose, conv.bn), dtypes)
        .set_fuser_method(fuse_convtranspose_bn)
        .set_root_module(conv.transpose)
        .set_reference_quantized_module(conv.transpose_reference),
        pattern(conv.transpose_function, dtypes)._set_input_type_to_index(dict(_ARGUMENTS)),
    ]
