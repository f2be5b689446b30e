"""The back end "onednn": x86 processors, with more operations run as one."""

from __future__ import annotations

from pyqref.dtypes import float32, qint8

from .backend_config import BackendConfig
from .dtype_config import DTypeConfig
from .dtypes import (
    default_dynamic_int8,
    default_op_quint8,
    layer_norm_quint8,
    weighted_op_quint8,
)
from .patterns.binary import binary_configs
from .patterns.conv import conv_configs
from .patterns.conv_add import conv_add_configs
from .patterns.embedding import embedding_configs
from .patterns.linear import linear_configs
from .patterns.linear_fused import linear_leaky_relu_configs, linear_tanh_configs
from .patterns.normalization import batch_norm_configs, layer_norm_configs
from .patterns.pointwise import fixed_qparams_configs, pointwise_configs
from .patterns.recurrent import recurrent_configs
from .patterns.share import cat_config, share_configs

__all__ = ["get_onednn_backend_config"]


def get_onednn_backend_config() -> BackendConfig:
    """Return the config of oneDNN, which also fuses convolution-add, linear-leaky ReLU and -tanh.

    Notes
    -----
    Source: ``torch.ao.quantization.backend_config.get_onednn_backend_config``.

    Examples
    --------
    >>> get_onednn_backend_config().name
    'onednn'
    """
    weighted, default = [weighted_op_quint8], [default_op_quint8]
    linear = [weighted_op_quint8, default_dynamic_int8]
    weight_only = DTypeConfig(input_dtype=float32, output_dtype=float32, weight_dtype=qint8)
    return (
        BackendConfig("onednn")
        .set_backend_pattern_configs(conv_configs(weighted))
        .set_backend_pattern_configs(conv_add_configs(weighted))
        .set_backend_pattern_configs(linear_configs(linear))
        .set_backend_pattern_configs(linear_leaky_relu_configs(linear))
        .set_backend_pattern_configs(linear_tanh_configs(linear))
        .set_backend_pattern_configs(binary_configs(default))
        .set_backend_pattern_config(cat_config(default))
        .set_backend_pattern_configs(pointwise_configs(default))
        .set_backend_pattern_configs(fixed_qparams_configs(default))
        .set_backend_pattern_configs(share_configs(default))
        .set_backend_pattern_configs(batch_norm_configs(default))
        .set_backend_pattern_configs(layer_norm_configs([layer_norm_quint8]))
        .set_backend_pattern_configs(recurrent_configs([default_dynamic_int8]))
        .set_backend_pattern_configs(embedding_configs([weight_only]))
    )
