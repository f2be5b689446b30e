"""Linear layers: alone, with ReLU or batch norm, and for training."""

from __future__ import annotations

from typing import Any

from pyqref.nn import functional as F
from pyqref.nn import intrinsic as nni
from pyqref.nn import modules as nn
from pyqref.nn import qat as nnqat
from pyqref.nn.intrinsic import qat as nniqat
from pyqref.nn.quantized import reference as nnqr
from pyqref.quantization.backend_config.pattern_config import BackendPatternConfig
from pyqref.quantization.fuser_method_mappings import fuse_linear_bn

from .building import DTypes, group, pattern

__all__ = ["linear_configs", "plain_linear_configs"]


def weighted(what: type[Any], dtypes: DTypes) -> BackendPatternConfig:
    """A module that becomes a reference linear layer."""
    config = pattern(what, dtypes).set_root_module(nn.Linear)
    return config.set_reference_quantized_module(nnqr.Linear)


def plain_linear_configs(dtypes: DTypes) -> list[BackendPatternConfig]:
    """The layer, its form for training, and the function."""
    return [
        weighted(nn.Linear, dtypes).set_qat_module(nnqat.Linear),
        weighted(nnqat.Linear, dtypes),
        pattern(F.linear, dtypes)._set_input_type_to_index({"weight": 1, "bias": 2}),
    ]


def linear_configs(dtypes: DTypes) -> list[BackendPatternConfig]:
    """Linear layers with what is fused into them.

    Parameters
    ----------
    dtypes
        The supported types.
    """
    fused = [
        pattern((nn.Linear, relu), dtypes)
        .set_fused_module(nni.LinearReLU)
        .set_fuser_method(group(nni.LinearReLU))
        for relu in (nn.ReLU, F.relu)
    ]
    return [
        *plain_linear_configs(dtypes),
        *fused,
        weighted(nni.LinearReLU, dtypes).set_qat_module(nniqat.LinearReLU),
        weighted(nniqat.LinearReLU, dtypes),
        pattern((F.linear, nn.ReLU), dtypes),
        pattern((F.linear, F.relu), dtypes),
        pattern((nn.Linear, nn.BatchNorm1d), dtypes)
        .set_fused_module(nni.LinearBn1d)
        .set_fuser_method(fuse_linear_bn),
        weighted(nni.LinearBn1d, dtypes).set_qat_module(nniqat.LinearBn1d),
        weighted(nniqat.LinearBn1d, dtypes),
    ]
