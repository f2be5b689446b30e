"""The back end "qnnpack": ARM processors, with QNNPACK and XNNPACK."""

from __future__ import annotations

from .backend_config import BackendConfig
from .dtypes import (
    default_op_qint8_symmetric,
    default_op_quint8,
    weighted_op_qint8_symmetric,
    weighted_op_quint8,
)
from .native import EMBEDDING, LINEAR, RECURRENT
from .patterns.binary import binary_configs
from .patterns.conv import conv_configs
from .patterns.embedding import embedding_configs
from .patterns.linear import linear_configs
from .patterns.normalization import batch_norm_configs
from .patterns.pointwise import fixed_qparams_configs, pointwise_configs
from .patterns.recurrent import recurrent_configs
from .patterns.share import cat_config, share_configs

__all__ = ["get_qnnpack_backend_config"]


def get_qnnpack_backend_config() -> BackendConfig:
    """Return the config of qnnpack, with signed activations of scale 2**-12 or more.

    Notes
    -----
    Source: ``torch.ao.quantization.backend_config.get_qnnpack_backend_config``.

    Examples
    --------
    >>> get_qnnpack_backend_config().name
    'qnnpack'
    """
    weighted = [weighted_op_qint8_symmetric, weighted_op_quint8]
    linear = [weighted_op_qint8_symmetric, *LINEAR]
    default = [default_op_qint8_symmetric, default_op_quint8]
    return (
        BackendConfig("qnnpack")
        .set_backend_pattern_configs(conv_configs(weighted))
        .set_backend_pattern_configs(linear_configs(linear))
        .set_backend_pattern_configs(binary_configs(default))
        .set_backend_pattern_config(cat_config(default))
        .set_backend_pattern_configs(pointwise_configs(default))
        .set_backend_pattern_configs(fixed_qparams_configs(default))
        .set_backend_pattern_configs(share_configs(default))
        .set_backend_pattern_configs(batch_norm_configs(default))
        .set_backend_pattern_configs(recurrent_configs(RECURRENT))
        .set_backend_pattern_configs(embedding_configs(EMBEDDING))
    )
