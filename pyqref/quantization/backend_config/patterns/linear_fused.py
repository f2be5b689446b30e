"""Linear layers with a leaky ReLU or a tanh behind them, run as one."""

from __future__ import annotations

from typing import Any

from pyqref.nn import functional as F
from pyqref.nn import intrinsic as nni
from pyqref.nn import modules as nn
from pyqref.quantization.backend_config.pattern_config import BackendPatternConfig
from pyqref.quantization.fuser_method_mappings import fuse_linear_bn
from pyqref.tensor import tanh

from .building import DTypes, group, pattern
from .linear import weighted

__all__ = ["linear_leaky_relu_configs", "linear_tanh_configs"]


def linear_leaky_relu_configs(dtypes: DTypes) -> list[BackendPatternConfig]:
    """``Linear`` and ``LeakyReLU``, perhaps with a batch norm between them."""
    return [
        *_with(nn.LeakyReLU, F.leaky_relu, nni.LinearLeakyReLU, dtypes),
        pattern((nn.Linear, nn.BatchNorm1d, nn.LeakyReLU), dtypes)
        .set_fused_module(nni.LinearLeakyReLU)
        .set_fuser_method(_fuse_linear_bn_leaky_relu),
    ]


def linear_tanh_configs(dtypes: DTypes) -> list[BackendPatternConfig]:
    """``Linear`` and ``Tanh``."""
    return _with(nn.Tanh, tanh, nni.LinearTanh, dtypes)


def _with(module: Any, function: Any, fused: Any, dtypes: DTypes) -> list[BackendPatternConfig]:
    return [
        *(
            pattern((nn.Linear, each), dtypes)
            .set_fused_module(fused)
            .set_fuser_method(group(fused))
            for each in (module, function)
        ),
        weighted(fused, dtypes),
        pattern((F.linear, module), dtypes),
        pattern((F.linear, function), dtypes),
    ]


def _fuse_linear_bn_leaky_relu(is_qat: bool, linear: Any, bn: Any, leaky_relu: Any) -> Any:
    """Fold the batch norm, then group."""
    if is_qat:
        raise ValueError(
            "Linear, BatchNorm1d and LeakyReLU cannot be fused for training; call model.eval() "
            "and prepare_fx, or pass backend_config=get_native_backend_config()"
        )
    return nni.LinearLeakyReLU(fuse_linear_bn(False, linear, bn), leaky_relu)
