"""Which layer becomes which: the tables that ``prepare_qat`` and ``convert`` read."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from pyqref.nn import intrinsic as nni
from pyqref.nn import modules as nn
from pyqref.nn import qat as nnqat
from pyqref.nn import quantized as nnq
from pyqref.nn.intrinsic import qat as nniqat
from pyqref.nn.intrinsic import quantized as nniq
from pyqref.nn.quantized import dynamic as nnqd

from .fake_quantize.defaults import (
    default_fixed_qparams_range_0to1_fake_quant,
    default_fixed_qparams_range_neg1to1_fake_quant,
)
from .stubs import DeQuantStub, QuantStub

__all__ = [
    "DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS",
    "DEFAULT_MODULE_TO_ACT_POST_PROCESS",
    "DEFAULT_QAT_MODULE_MAPPINGS",
    "DEFAULT_STATIC_QUANT_MODULE_MAPPINGS",
    "get_default_compare_output_module_list",
    "get_default_dynamic_quant_module_mappings",
    "get_default_qat_module_mappings",
    "get_default_qconfig_propagation_list",
    "get_default_static_quant_module_mappings",
    "get_dynamic_quant_module_class",
    "get_static_quant_module_class",
]

#: Float, or trained with fake quantization, to statically quantized.
DEFAULT_STATIC_QUANT_MODULE_MAPPINGS: dict[Any, Any] = {
    QuantStub: nnq.Quantize,
    DeQuantStub: nnq.DeQuantize,
    nn.Linear: nnq.Linear,
    nn.Conv1d: nnq.Conv1d,
    nn.Conv2d: nnq.Conv2d,
    nn.Conv3d: nnq.Conv3d,
    nn.ReLU6: nnq.ReLU6,
    nnq.FloatFunctional: nnq.QFunctional,
    nni.ConvReLU2d: nniq.ConvReLU2d,
    nni.ConvReLU3d: nniq.ConvReLU3d,
    nni.LinearReLU: nniq.LinearReLU,
    nniqat.ConvBn2d: nnq.Conv2d,
    nniqat.ConvBnReLU2d: nniq.ConvReLU2d,
    nniqat.ConvReLU2d: nniq.ConvReLU2d,
    nniqat.LinearReLU: nniq.LinearReLU,
    nnqat.Linear: nnq.Linear,
    nnqat.Conv2d: nnq.Conv2d,
}

#: Float to dynamically quantized.
DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS: dict[Any, Any] = {
    nn.Linear: nnqd.Linear,
    nn.LSTM: nnqd.LSTM,
    nn.GRU: nnqd.GRU,
    nn.LSTMCell: nnqd.LSTMCell,
    nn.GRUCell: nnqd.GRUCell,
    nn.RNNCell: nnqd.RNNCell,
}

#: Float to trained with fake quantization.
DEFAULT_QAT_MODULE_MAPPINGS: dict[Any, Any] = {
    nn.Linear: nnqat.Linear,
    nn.Conv2d: nnqat.Conv2d,
    nni.ConvBn2d: nniqat.ConvBn2d,
    nni.ConvBnReLU2d: nniqat.ConvBnReLU2d,
    nni.ConvReLU2d: nniqat.ConvReLU2d,
    nni.LinearReLU: nniqat.LinearReLU,
}

#: Layers whose output has a known range: their fake quantizers in training.
DEFAULT_MODULE_TO_ACT_POST_PROCESS: dict[Any, Any] = {
    nn.Hardsigmoid: default_fixed_qparams_range_0to1_fake_quant,
    nn.Sigmoid: default_fixed_qparams_range_0to1_fake_quant,
    nn.Softmax: default_fixed_qparams_range_0to1_fake_quant,
    nn.Tanh: default_fixed_qparams_range_neg1to1_fake_quant,
}


def get_default_static_quant_module_mappings() -> dict[Any, Any]:
    """A copy of the table for static quantization.

    Examples
    --------
    >>> from pyqref import nn
    >>> get_default_static_quant_module_mappings()[nn.Linear]
    <class 'pyqref.nn.quantized.modules.linear.Linear'>
    """
    return copy.copy(DEFAULT_STATIC_QUANT_MODULE_MAPPINGS)


def get_default_dynamic_quant_module_mappings() -> dict[Any, Any]:
    """A copy of the table for dynamic quantization."""
    return copy.copy(DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS)


def get_default_qat_module_mappings() -> dict[Any, Any]:
    """A copy of the table for quantization-aware training."""
    return copy.copy(DEFAULT_QAT_MODULE_MAPPINGS)


def get_default_qconfig_propagation_list() -> set[Any]:
    """Types of leaf modules that ``prepare`` gives an observer."""
    return (
        set(DEFAULT_STATIC_QUANT_MODULE_MAPPINGS)
        | set(DEFAULT_QAT_MODULE_MAPPINGS)
        | set(DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS)
        | {nn.Sequential}
    )


def get_default_compare_output_module_list() -> set[Any]:
    """Types whose outputs are worth comparing between a float and a quantized model."""
    tables = (DEFAULT_STATIC_QUANT_MODULE_MAPPINGS, DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS)
    return {each for table in tables for pair in table.items() for each in pair}


def get_static_quant_module_class(
    float_module_class: Any,
    additional_static_quant_mapping: Mapping[Any, Any] | None = None,
    is_reference: bool = False,
) -> Any:
    """What a type becomes by static quantization.

    Parameters
    ----------
    float_module_class
        A type of float modules.
    additional_static_quant_mapping
        Entries that come before those of the table.
    is_reference
        Must be False.

    Raises
    ------
    ValueError
        The table has no entry for it.
    """
    if is_reference:
        raise NotImplementedError(
            "get_static_quant_module_class: is_reference=True is not supported; use False"
        )
    table = {**DEFAULT_STATIC_QUANT_MODULE_MAPPINGS, **(additional_static_quant_mapping or {})}
    return _lookup("static", table, float_module_class)


def get_dynamic_quant_module_class(
    float_module_class: Any,
    additional_dynamic_quant_mapping: Mapping[Any, Any] | None = None,
) -> Any:
    """What a type becomes by dynamic quantization.

    Raises
    ------
    ValueError
        The table has no entry for it.
    """
    table = {**DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS, **(additional_dynamic_quant_mapping or {})}
    return _lookup("dynamic", table, float_module_class)


def _lookup(kind: str, table: Mapping[Any, Any], float_module_class: Any) -> Any:
    found = table.get(float_module_class)
    if found is None:
        known = ", ".join(sorted({each.__name__ for each in table}))
        raise ValueError(
            f"{float_module_class!r} has no {kind}ally quantized form; those that have: {known}"
        )
    return copy.deepcopy(found)
