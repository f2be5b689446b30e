"""The workflow of eager mode, at its path in ``torch``."""

from __future__ import annotations

from .eager import parts as parts
from .eager.convert import convert as convert
from .eager.convert import swap_module as swap_module
from .eager.custom_modules import (
    get_default_custom_config_dict as get_default_custom_config_dict,
)
from .eager.dynamic import quantize_dynamic as quantize_dynamic
from .eager.observe import add_observer_ as add_observer_
from .eager.observe import get_observer_dict as get_observer_dict
from .eager.prepare import prepare as prepare
from .eager.prepare import prepare_qat as prepare_qat
from .eager.propagate import propagate_qconfig_ as propagate_qconfig_
from .eager.quantize import add_quant_dequant as add_quant_dequant
from .eager.quantize import default_eval_fn as default_eval_fn
from .eager.quantize import quantize as quantize
from .eager.quantize import quantize_qat as quantize_qat

# Their names in torch 2.13, where these two are no longer public.
_add_observer_ = add_observer_
_get_observer_dict = get_observer_dict

__all__ = [
    "add_observer_",
    "add_quant_dequant",
    "convert",
    "default_eval_fn",
    "get_default_custom_config_dict",
    "get_observer_dict",
    "prepare",
    "prepare_qat",
    "propagate_qconfig_",
    "quantize",
    "quantize_dynamic",
    "quantize_qat",
    "swap_module",
]
