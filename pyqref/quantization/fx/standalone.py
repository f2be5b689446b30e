"""A module that is quantized by itself, within a model around it.

As in torch both functions are private names of :mod:`pyqref.quantization.quantize_fx`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyqref.fx import GraphModule
from pyqref.quantization.backend_config import BackendConfig
from pyqref.quantization.qconfig_mapping import QConfigMapping

from .arguments import config_from
from .convert import convert
from .custom_config import ConvertCustomConfig, PrepareCustomConfig
from .prepare import prepare_as_asked

__all__: list[str] = []


def _prepare_standalone_module_fx(
    model: Any,
    qconfig_mapping: QConfigMapping | Mapping[str, Any],
    is_qat: bool,
    example_inputs: tuple[Any, ...],
    prepare_custom_config: PrepareCustomConfig | Mapping[str, Any] | None = None,
    backend_config: BackendConfig | Mapping[str, Any] | None = None,
) -> GraphModule:
    """Prepare a module to be quantized by itself, within a model around it.

    Where its custom config lists inputs or outputs as quantized, the model around it must
    give and take quantized tensors.
    """
    return prepare_as_asked(
        "prepare_fx",
        model,
        qconfig_mapping,
        is_qat,
        example_inputs,
        prepare_custom_config,
        backend_config,
        is_standalone=True,
    )


def _convert_standalone_module_fx(
    graph_module: GraphModule,
    is_reference: bool = False,
    convert_custom_config: ConvertCustomConfig | Mapping[str, Any] | None = None,
) -> GraphModule:
    """Convert a module that :func:`_prepare_standalone_module_fx` prepared, by itself."""
    return convert(
        "_convert_standalone_module_fx",
        graph_module,
        config_from("convert_custom_config", convert_custom_config, ConvertCustomConfig),
        is_reference=is_reference,
    )
