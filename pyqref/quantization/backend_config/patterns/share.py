"""Operations that keep the scale and zero point of their input; and those without output."""

from __future__ import annotations

import operator

from pyqref.nn import functional as F
from pyqref.nn import modules as nn
from pyqref.quantization.backend_config.pattern_config import BackendPatternConfig
from pyqref.tensor import (
    cat,
    clamp,
    flatten,
    mean,
    narrow,
    repeat_interleave,
    squeeze,
    stack,
    transpose,
    unsqueeze,
)

from .building import NONE, SHARED, DTypes, pattern, patterns

__all__ = ["cat_config", "share_configs", "shape_configs"]

MODULES = (
    *(nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d),
    *(nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d, nn.Hardtanh, nn.Identity),
    *(nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d, nn.PixelShuffle, nn.PixelUnshuffle),
    *(nn.ReLU, nn.ReLU6),
)
FUNCTIONS = (
    *(F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d),
    *(F.hardtanh, F.hardtanh_, F.interpolate, F.max_pool1d, F.max_pool2d, F.max_pool3d),
    *(F.pixel_shuffle, F.pixel_unshuffle, F.relu, F.relu6),
    *(F.avg_pool1d, F.avg_pool2d, F.avg_pool3d),
    *(clamp, flatten, mean, narrow, repeat_interleave),
    *(transpose, squeeze, stack, unsqueeze, operator.floordiv),
)
METHODS = (
    *("contiguous", "clamp", "detach", "detach_", "mean", "permute", "repeat"),
    *("repeat_interleave", "reshape", "resize_", "relu", "relu_", "squeeze", "squeeze_"),
    *("transpose", "unsqueeze", "unsqueeze_", "view"),
)


def share_configs(dtypes: DTypes) -> list[BackendPatternConfig]:
    """Pooling, shape changes, clamping: the output is on the grid of the input."""
    return patterns((*MODULES, *FUNCTIONS, *METHODS), dtypes, SHARED)


def shape_configs(dtypes: DTypes) -> list[BackendPatternConfig]:
    """``x.shape`` and ``x.size()``: the output is no"""
    return patterns(("shape", "size"), dtypes, NONE)


def cat_config(dtypes: DTypes) -> BackendPatternConfig:
    """``cat``: all inputs and the output on one grid."""
    return pattern(cat, dtypes, SHARED)
