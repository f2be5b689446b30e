"""Lets the quantizable layers prepare and convert their own parts."""

from __future__ import annotations

import copy
from typing import Any

from pyqref.nn.quantizable.workflow import register_workflow
from pyqref.quantization.quantization_mappings import (
    get_default_qat_module_mappings,
    get_default_static_quant_module_mappings,
)

from .convert import clean, convert_with
from .custom_modules import OBSERVED_TO_QUANTIZED
from .prepare import fake_quantize_, observe_

__all__: list[str] = []


def _prepare(module: Any) -> Any:
    observe_(module)
    return module


def _prepare_qat(module: Any) -> Any:
    table = get_default_qat_module_mappings()
    fake_quantize_(module, table, table)
    return module


def _convert(module: Any) -> Any:
    module = copy.deepcopy(module)
    table = get_default_static_quant_module_mappings()
    convert_with("convert", module, table, table, custom=OBSERVED_TO_QUANTIZED)
    clean(module)
    return module


register_workflow(_prepare, _prepare_qat, _convert)
