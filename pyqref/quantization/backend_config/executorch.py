"""The back end "executorch": phones and small devices, with XNNPACK."""

from __future__ import annotations

from pyqref.dtypes import float32
from pyqref.nn import functional as F
from pyqref.nn import modules as nn
from pyqref.tensor import clamp, flatten, mean, permute, squeeze

from .backend_config import BackendConfig
from .dtype_config import DTypeConfig
from .dtypes import (
    act_qint8_scale_min_2_neg_12,
    default_dynamic_float16,
    default_dynamic_int8,
    default_op_qint8_symmetric,
    default_op_quint8,
    weight_only_quint8,
    weight_qint8_neg_127_to_127_scale_min_2_neg_12,
    weighted_op_qint8_symmetric,
    weighted_op_quint8,
)
from .patterns.binary import binary_configs
from .patterns.building import SHARED, pattern, patterns
from .patterns.conv import conv_configs
from .patterns.embedding import embedding_configs
from .patterns.linear import plain_linear_configs
from .patterns.share import cat_config

__all__ = ["get_executorch_backend_config"]

_DYNAMIC_QINT8 = DTypeConfig(
    input_dtype=act_qint8_scale_min_2_neg_12,
    output_dtype=float32,
    weight_dtype=weight_qint8_neg_127_to_127_scale_min_2_neg_12,
    bias_dtype=float32,
    is_dynamic=True,
)
_SHARING = (
    *(nn.Flatten, F.adaptive_avg_pool2d, F.elu, F.hardtanh, F.max_pool2d, F.pad, F.relu),
    *(F.relu6, F.leaky_relu, F.leaky_relu_, nn.AdaptiveAvgPool2d, nn.ConstantPad2d, nn.ELU),
    *(nn.MaxPool2d, nn.ReLU6, nn.Hardtanh, nn.LeakyReLU),
    *(clamp, flatten, mean, permute, squeeze),
    *("clamp", "mean", "permute", "reshape", "relu", "relu_", "squeeze", "squeeze_"),
    "leaky_relu",
)


def get_executorch_backend_config() -> BackendConfig:
    """Return the config of XNNPACK under ExecuTorch: two dimensions, signed activations.

    Notes
    -----
    Source: ``torch.ao.quantization.backend_config.get_executorch_backend_config``. There
    ``torch.concat``, ``concatenate`` and ``permute_copy`` are listed besides; here the
    first two are ``cat`` itself, the third does not exist.

    Examples
    --------
    >>> get_executorch_backend_config().name
    'executorch'
    """
    linear = [
        *(weighted_op_qint8_symmetric, weighted_op_quint8, default_dynamic_int8),
        *(_DYNAMIC_QINT8, default_dynamic_float16),
    ]
    conv = [weighted_op_qint8_symmetric, weighted_op_quint8]
    binary = [default_op_qint8_symmetric, weighted_op_quint8]
    default = [default_op_qint8_symmetric, default_op_quint8]
    return (
        BackendConfig("executorch")
        .set_backend_pattern_configs(plain_linear_configs(linear))
        .set_backend_pattern_configs(conv_configs(conv, (2,), transposed=False))
        .set_backend_pattern_configs(
            binary_configs(binary, ("add", "sub", "mul"), with_matmul=False)
        )
        .set_backend_pattern_configs(patterns(_SHARING, default, SHARED))
        .set_backend_pattern_config(pattern(nn.BatchNorm2d, default))
        .set_backend_pattern_config(cat_config(default))
        .set_backend_pattern_configs(embedding_configs([weight_only_quint8], function=True))
    )
