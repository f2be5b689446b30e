"""Batch norm and layer norm."""

from __future__ import annotations

from pyqref.nn import functional as F
from pyqref.nn import intrinsic as nni
from pyqref.nn import modules as nn
from pyqref.quantization.backend_config.pattern_config import BackendPatternConfig

from .building import DTypes, group, pattern, patterns

__all__ = ["batch_norm_configs", "layer_norm_configs"]

_FUSED = {nn.BatchNorm2d: nni.BNReLU2d, nn.BatchNorm3d: nni.BNReLU3d}


def batch_norm_configs(dtypes: DTypes) -> list[BackendPatternConfig]:
    """Batch norm, alone and with ReLU."""
    found = []
    for bn, fused in _FUSED.items():
        for relu in (nn.ReLU, F.relu):
            config = pattern((bn, relu), dtypes).set_fused_module(fused)
            found.append(config.set_fuser_method(group(fused)))
        found.append(pattern(bn, dtypes))
    return [*found, *patterns(_FUSED.values(), dtypes)]


def layer_norm_configs(dtypes: DTypes) -> list[BackendPatternConfig]:
    """Layer norm, whose weight stays float."""
    function = pattern(F.layer_norm, dtypes)
    return [
        pattern(nn.LayerNorm, dtypes),
        function._set_input_type_to_index({"weight": 2, "bias": 3}),
    ]
