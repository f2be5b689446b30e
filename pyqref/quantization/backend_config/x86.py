"""The back end "x86": fbgemm and oneDNN, whichever is quicker."""

from __future__ import annotations

from .backend_config import BackendConfig
from .dtypes import default_op_quint8, weighted_op_quint8
from .native import EMBEDDING, LINEAR, RECURRENT
from .patterns.binary import binary_configs
from .patterns.conv import conv_configs
from .patterns.embedding import embedding_configs
from .patterns.linear import linear_configs
from .patterns.normalization import batch_norm_configs
from .patterns.pointwise import fixed_qparams_configs, pointwise_configs
from .patterns.recurrent import recurrent_configs
from .patterns.share import cat_config, shape_configs, share_configs

__all__ = ["get_x86_backend_config"]


def get_x86_backend_config() -> BackendConfig:
    """Return the config of engine x86: that of fbgemm, where sums and products may have weights.

    Notes
    -----
    Source: ``torch.ao.quantization.backend_config.x86.get_x86_backend_config``.

    Examples
    --------
    >>> get_x86_backend_config().name
    'x86'
    """
    weighted, default = [weighted_op_quint8], [default_op_quint8]
    return (
        BackendConfig("x86")
        .set_backend_pattern_configs(conv_configs(weighted))
        .set_backend_pattern_configs(linear_configs(LINEAR))
        .set_backend_pattern_configs(binary_configs(weighted))
        .set_backend_pattern_config(cat_config(default))
        .set_backend_pattern_configs(pointwise_configs(default))
        .set_backend_pattern_configs(fixed_qparams_configs(weighted))
        .set_backend_pattern_configs(share_configs(default))
        .set_backend_pattern_configs(shape_configs(default))
        .set_backend_pattern_configs(batch_norm_configs(default))
        .set_backend_pattern_configs(recurrent_configs(RECURRENT))
        .set_backend_pattern_configs(embedding_configs(EMBEDDING))
    )
