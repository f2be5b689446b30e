"""Mapping from operations to qconfigs: :mod:`.mapping`, and the usual :mod:`.defaults`."""

from __future__ import annotations

from .defaults import _FIXED_QPARAMS_OP_TO_OBSERVER as _FIXED_QPARAMS_OP_TO_OBSERVER
from .defaults import get_default_qat_qconfig_mapping as get_default_qat_qconfig_mapping
from .defaults import get_default_qconfig_mapping as get_default_qconfig_mapping
from .defaults import (
    get_symmetric_qnnpack_qat_qconfig_mapping as get_symmetric_qnnpack_qat_qconfig_mapping,
)
from .defaults import (
    get_symmetric_qnnpack_qconfig_mapping as get_symmetric_qnnpack_qconfig_mapping,
)
from .dictionaries import get_default_qat_qconfig_dict as get_default_qat_qconfig_dict
from .dictionaries import get_default_qconfig_dict as get_default_qconfig_dict
from .mapping import QConfigMapping as QConfigMapping

# Their names in torch 2.13.
_get_symmetric_qnnpack_qconfig_mapping = get_symmetric_qnnpack_qconfig_mapping
_get_symmetric_qnnpack_qat_qconfig_mapping = get_symmetric_qnnpack_qat_qconfig_mapping

__all__ = [
    "get_default_qat_qconfig_dict",
    "get_default_qconfig_dict",
    "QConfigMapping",
    "get_default_qat_qconfig_mapping",
    "get_default_qconfig_mapping",
    "get_symmetric_qnnpack_qat_qconfig_mapping",
    "get_symmetric_qnnpack_qconfig_mapping",
]
