"""A back end's configuration as dictionaries from pattern to setting.

A pattern stands as graphs read it, from the output: ``(ReLU, (BatchNorm2d, Conv2d))``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .backend_config import BackendConfig
from .dtype_config import DTypeConfig
from .pattern_format import complex_format

__all__ = [
    "get_fused_module_classes",
    "get_fuser_method_mapping",
    "get_fusion_pattern_to_extra_inputs_getter",
    "get_fusion_pattern_to_root_node_getter",
    "get_module_to_qat_module",
    "get_pattern_to_dtype_configs",
    "get_pattern_to_input_type_to_index",
    "get_qat_module_classes",
    "get_root_module_to_quantized_reference_module",
]


def get_pattern_to_dtype_configs(backend_config: BackendConfig) -> dict[Any, list[DTypeConfig]]:
    """The supported types of each pattern.

    Examples
    --------
    >>> from pyqref import nn
    >>> from pyqref.quantization.backend_config import get_native_backend_config
    >>> len(get_pattern_to_dtype_configs(get_native_backend_config())[nn.Linear])
    3
    """
    return {complex_format(each): each.dtype_configs for each in backend_config.configs}


def get_qat_module_classes(backend_config: BackendConfig) -> tuple[type, ...]:
    """The classes that fake-quantize their weights in training, in no particular order."""
    return tuple({each.qat_module for each in backend_config.configs if each.qat_module})


def get_fused_module_classes(backend_config: BackendConfig) -> tuple[type, ...]:
    """The classes that fusion puts in place of several modules, in no particular order."""
    return tuple({each.fused_module for each in backend_config.configs if each.fused_module})


def get_pattern_to_input_type_to_index(backend_config: BackendConfig) -> dict[Any, dict[str, int]]:
    """Return the places of weight and bias among the arguments of each pattern."""
    return {complex_format(each): each._input_type_to_index for each in backend_config.configs}


def get_root_module_to_quantized_reference_module(
    backend_config: BackendConfig,
) -> dict[type, type]:
    """The reference module of each module with a weight.

    Examples
    --------
    >>> from pyqref import nn
    >>> from pyqref.quantization.backend_config import get_native_backend_config
    >>> get_root_module_to_quantized_reference_module(get_native_backend_config())[nn.Conv2d]
    <class 'pyqref.nn.quantized.reference.modules.conv.Conv2d'>
    """
    return {
        each.root_module: each.reference_quantized_module
        for each in backend_config.configs
        if each.root_module is not None and each.reference_quantized_module is not None
    }


def get_fuser_method_mapping(backend_config: BackendConfig) -> dict[Any, Callable[..., Any]]:
    """The function that fuses each pattern; it takes the modules in the pattern's order.

    Examples
    --------
    >>> from pyqref import nn
    >>> from pyqref.quantization.backend_config import get_native_backend_config
    >>> methods = get_fuser_method_mapping(get_native_backend_config())
    >>> type(methods[(nn.ReLU, nn.Linear)](False, nn.ReLU(), nn.Linear(2, 2))).__name__
    'LinearReLU'
    """
    return {
        complex_format(each): _from_the_output(each.fuser_method)
        if each._pattern_complex_format is None
        else each.fuser_method
        for each in backend_config.configs
        if each.fuser_method is not None
    }


def _from_the_output(fuser_method: Callable[..., Any]) -> Callable[..., Any]:
    """A fuser method that takes the modules from last to first, nested or not."""

    def reversed_method(is_qat: bool, last: Any, before: Any) -> Any:
        modules = [last]
        while isinstance(before, tuple):
            modules.append(before[0])
            before = before[1]
        return fuser_method(is_qat, *reversed([*modules, before]))

    return reversed_method


def get_module_to_qat_module(backend_config: BackendConfig) -> dict[Any, type]:
    """The class for training of each pattern that has one."""
    return {
        complex_format(each): each.qat_module
        for each in backend_config.configs
        if each.qat_module is not None
    }


def get_fusion_pattern_to_root_node_getter(
    backend_config: BackendConfig,
) -> dict[Any, Callable[..., Any]]:
    """The function that finds the node with the weight, of each pattern that has one."""
    return {
        complex_format(each): each._root_node_getter
        for each in backend_config.configs
        if each._root_node_getter is not None
    }


def get_fusion_pattern_to_extra_inputs_getter(
    backend_config: BackendConfig,
) -> dict[Any, Callable[..., Any]]:
    """The function that finds further inputs of the fused module, of each pattern with one."""
    return {
        complex_format(each): each._extra_inputs_getter
        for each in backend_config.configs
        if each._extra_inputs_getter is not None
    }
