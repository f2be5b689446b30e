"""Descriptions of what a back end can quantize, and how: :class:`BackendConfig`.

Read :mod:`.dtype_config`, :mod:`.pattern_config` and :mod:`.backend_config`, then one of
the configurations, :mod:`.native` first, and the families of patterns that it is made of
in :mod:`.patterns`.
"""

from __future__ import annotations

from .backend_config import BackendConfig as BackendConfig
from .dtype_config import DTypeConfig as DTypeConfig
from .dtype_config import DTypeWithConstraints as DTypeWithConstraints
from .executorch import get_executorch_backend_config as get_executorch_backend_config
from .fbgemm import get_fbgemm_backend_config as get_fbgemm_backend_config
from .native import get_native_backend_config as get_native_backend_config
from .native import get_native_backend_config_dict as get_native_backend_config_dict
from .observation_type import ObservationType as ObservationType
from .onednn import get_onednn_backend_config as get_onednn_backend_config
from .pattern_config import BackendPatternConfig as BackendPatternConfig
from .qnnpack import get_qnnpack_backend_config as get_qnnpack_backend_config
from .tensorrt import get_tensorrt_backend_config as get_tensorrt_backend_config
from .tensorrt import get_tensorrt_backend_config_dict as get_tensorrt_backend_config_dict

__all__ = [
    "BackendConfig",
    "BackendPatternConfig",
    "DTypeConfig",
    "DTypeWithConstraints",
    "ObservationType",
    "get_executorch_backend_config",
    "get_fbgemm_backend_config",
    "get_native_backend_config",
    "get_native_backend_config_dict",
    "get_onednn_backend_config",
    "get_qnnpack_backend_config",
    "get_tensorrt_backend_config",
    "get_tensorrt_backend_config_dict",
]
