"""How layers are quantized: :class:`QConfig` (:mod:`.base`) and those that have a name."""

from __future__ import annotations

from .base import QConfig as QConfig
from .base import QConfigAny as QConfigAny
from .base import QConfigDynamic as QConfigDynamic
from .base import qconfig_equals as qconfig_equals
from .defaults import _default_fp32_placeholder_qconfig as _default_fp32_placeholder_qconfig
from .defaults import _default_quint8_placeholder_qconfig as _default_quint8_placeholder_qconfig
from .defaults import default_activation_only_qconfig as default_activation_only_qconfig
from .defaults import default_debug_qconfig as default_debug_qconfig
from .defaults import default_dynamic_qat_qconfig as default_dynamic_qat_qconfig
from .defaults import default_dynamic_qconfig as default_dynamic_qconfig
from .defaults import default_embedding_qat_qconfig as default_embedding_qat_qconfig
from .defaults import default_embedding_qat_qconfig_4bit as default_embedding_qat_qconfig_4bit
from .defaults import default_per_channel_qconfig as default_per_channel_qconfig
from .defaults import (
    default_per_channel_symmetric_qnnpack_qat_qconfig as default_per_channel_symmetric_qnnpack_qat_qconfig,  # noqa: E501
)
from .defaults import (
    default_per_channel_symmetric_qnnpack_qconfig as default_per_channel_symmetric_qnnpack_qconfig,
)
from .defaults import default_qat_qconfig as default_qat_qconfig
from .defaults import default_qat_qconfig_v2 as default_qat_qconfig_v2
from .defaults import default_qconfig as default_qconfig
from .defaults import default_quint8_weight_qconfig as default_quint8_weight_qconfig
from .defaults import default_reuse_input_qconfig as default_reuse_input_qconfig
from .defaults import default_symmetric_qnnpack_qat_qconfig as default_symmetric_qnnpack_qat_qconfig
from .defaults import default_symmetric_qnnpack_qconfig as default_symmetric_qnnpack_qconfig
from .defaults import default_weight_only_qconfig as default_weight_only_qconfig
from .defaults import float16_dynamic_qconfig as float16_dynamic_qconfig
from .defaults import float16_static_qconfig as float16_static_qconfig
from .defaults import float_qparams_weight_only_qconfig as float_qparams_weight_only_qconfig
from .defaults import (
    float_qparams_weight_only_qconfig_4bit as float_qparams_weight_only_qconfig_4bit,
)
from .defaults import get_default_qat_qconfig as get_default_qat_qconfig
from .defaults import get_default_qconfig as get_default_qconfig
from .defaults import per_channel_dynamic_qconfig as per_channel_dynamic_qconfig
from .saved import add_to_files as _add_to_files

__all__ = [
    "QConfig",
    "QConfigAny",
    "QConfigDynamic",
    "default_activation_only_qconfig",
    "default_debug_qconfig",
    "default_dynamic_qat_qconfig",
    "default_dynamic_qconfig",
    "default_embedding_qat_qconfig",
    "default_embedding_qat_qconfig_4bit",
    "default_per_channel_qconfig",
    "default_per_channel_symmetric_qnnpack_qat_qconfig",
    "default_per_channel_symmetric_qnnpack_qconfig",
    "default_qat_qconfig",
    "default_qat_qconfig_v2",
    "default_qconfig",
    "default_quint8_weight_qconfig",
    "default_reuse_input_qconfig",
    "default_symmetric_qnnpack_qat_qconfig",
    "default_symmetric_qnnpack_qconfig",
    "default_weight_only_qconfig",
    "float16_dynamic_qconfig",
    "float16_static_qconfig",
    "float_qparams_weight_only_qconfig",
    "float_qparams_weight_only_qconfig_4bit",
    "get_default_qat_qconfig",
    "get_default_qconfig",
    "per_channel_dynamic_qconfig",
    "qconfig_equals",
]

_add_to_files()
