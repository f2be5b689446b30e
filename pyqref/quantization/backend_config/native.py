"""The back end "native": the quantized operations of fbgemm and qnnpack together."""

from __future__ import annotations

from typing import Any

from .backend_config import BackendConfig
from .dtypes import (
    default_dynamic_float16,
    default_dynamic_int8,
    default_op_quint8,
    layer_norm_quint8,
    weight_only_quint4x2,
    weight_only_quint8,
    weighted_op_quint8,
)
from .patterns.binary import binary_configs
from .patterns.conv import conv_configs
from .patterns.embedding import embedding_configs
from .patterns.linear import linear_configs
from .patterns.normalization import batch_norm_configs, layer_norm_configs
from .patterns.pointwise import fixed_qparams_configs, pointwise_configs
from .patterns.recurrent import recurrent_configs
from .patterns.share import cat_config, shape_configs, share_configs

__all__ = ["get_native_backend_config", "get_native_backend_config_dict"]

LINEAR = [weighted_op_quint8, default_dynamic_int8, default_dynamic_float16]
RECURRENT = [default_dynamic_int8, default_dynamic_float16]
EMBEDDING = [weight_only_quint8, weight_only_quint4x2]


def get_native_backend_config() -> BackendConfig:
    """The configuration that graph mode uses where none is given.

    Notes
    -----
    Source: ``torch.ao.quantization.backend_config.get_native_backend_config``.

    Examples
    --------
    >>> config = get_native_backend_config()
    >>> config.name, len(config.configs)
    ('native', 194)
    """
    weighted, default = [weighted_op_quint8], [default_op_quint8]
    return (
        BackendConfig("native")
        .set_backend_pattern_configs(conv_configs(weighted))
        .set_backend_pattern_configs(linear_configs(LINEAR))
        .set_backend_pattern_configs(binary_configs(default))
        .set_backend_pattern_config(cat_config(default))
        .set_backend_pattern_configs(pointwise_configs(default))
        .set_backend_pattern_configs(fixed_qparams_configs(default))
        .set_backend_pattern_configs(share_configs(default))
        .set_backend_pattern_configs(shape_configs(default))
        .set_backend_pattern_configs(batch_norm_configs(default))
        .set_backend_pattern_configs(layer_norm_configs([layer_norm_quint8]))
        .set_backend_pattern_configs(recurrent_configs(RECURRENT))
        .set_backend_pattern_configs(embedding_configs(EMBEDDING))
    )


def get_native_backend_config_dict() -> dict[str, Any]:
    """:func:`get_native_backend_config` as a dictionary.

    Examples
    --------
    >>> from pyqref.quantization.backend_config import get_native_backend_config_dict
    >>> get_native_backend_config_dict()["name"]
    'native'
    """
    return get_native_backend_config().to_dict()
