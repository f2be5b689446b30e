"""The back end "tensorrt": signed activations and weights."""

from __future__ import annotations

from typing import Any

from pyqref.dtypes import float32, qint8
from pyqref.tensor import addmm

from .backend_config import BackendConfig
from .dtype_config import DTypeConfig
from .patterns.binary import binary_configs
from .patterns.building import pattern
from .patterns.conv import conv_configs
from .patterns.linear import linear_configs
from .patterns.share import cat_config, shape_configs, share_configs

__all__ = ["get_tensorrt_backend_config", "get_tensorrt_backend_config_dict"]


def get_tensorrt_backend_config() -> BackendConfig:
    """Return the config of TensorRT, for reference models that are lowered elsewhere.

    Notes
    -----
    Source: ``torch.ao.quantization.backend_config.get_tensorrt_backend_config``.

    Examples
    --------
    >>> get_tensorrt_backend_config().configs[0].dtype_configs[0].input_dtype
    pyqref.qint8
    """
    weighted = [
        DTypeConfig(input_dtype=qint8, output_dtype=qint8, weight_dtype=qint8, bias_dtype=float32)
    ]
    default = [DTypeConfig(input_dtype=qint8, output_dtype=qint8)]
    addmm_config = pattern(addmm, weighted)
    addmm_config._set_input_type_to_index({"bias": 0, "input": 1, "weight": 2})
    return (
        BackendConfig("tensorrt")
        .set_backend_pattern_configs(conv_configs(weighted))
        .set_backend_pattern_config(addmm_config)
        .set_backend_pattern_config(cat_config(default))
        .set_backend_pattern_configs(linear_configs(weighted))
        .set_backend_pattern_configs(binary_configs(weighted))
        .set_backend_pattern_configs(share_configs(default))
        .set_backend_pattern_configs(shape_configs(default))
    )


def get_tensorrt_backend_config_dict() -> dict[str, Any]:
    """:func:`get_tensorrt_backend_config` as a dictionary.

    Examples
    --------
    >>> from pyqref.quantization.backend_config import get_tensorrt_backend_config_dict
    >>> get_tensorrt_backend_config_dict()["name"]
    'tensorrt'
    """
    return get_tensorrt_backend_config().to_dict()
