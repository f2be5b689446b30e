"""Tables of layers and their successors, which ``prepare_qat`` and ``convert`` read."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from pyqref.nn import functional as F
from pyqref.nn import intrinsic as nni
from pyqref.nn import modules as nn
from pyqref.nn import qat as nnqat
from pyqref.nn import quantizable as nnqz
from pyqref.nn import quantized as nnq
from pyqref.nn.intrinsic import qat as nniqat
from pyqref.nn.intrinsic import quantized as nniq
from pyqref.nn.intrinsic.quantized import dynamic as nniqd
from pyqref.nn.modules.linear import NonDynamicallyQuantizableLinear
from pyqref.nn.qat import dynamic as nnqatd
from pyqref.nn.quantized import dynamic as nnqd
from pyqref.nn.quantized import reference as nnqr
from pyqref.ops import quantized as ops

from .fake_quantize.defaults import (
    default_fixed_qparams_range_0to1_fake_quant,
    default_fixed_qparams_range_neg1to1_fake_quant,
)
from .stubs import DeQuantStub, QuantStub

__all__ = [
    "DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS",
    "DEFAULT_FLOAT_TO_QUANTIZED_OPERATOR_MAPPINGS",
    "DEFAULT_MODULE_TO_ACT_POST_PROCESS",
    "DEFAULT_QAT_MODULE_MAPPINGS",
    "DEFAULT_REFERENCE_STATIC_QUANT_MODULE_MAPPINGS",
    "DEFAULT_STATIC_QUANT_MODULE_MAPPINGS",
    "get_default_compare_output_module_list",
    "get_default_dynamic_quant_module_mappings",
    "get_default_float_to_quantized_operator_mappings",
    "get_default_qat_module_mappings",
    "get_default_qconfig_propagation_list",
    "get_default_static_quant_module_mappings",
    "get_default_static_quant_reference_module_mappings",
    "get_dynamic_quant_module_class",
    "get_embedding_qat_module_mappings",
    "get_embedding_static_quant_module_mappings",
    "get_quantized_operator",
    "get_static_quant_module_class",
    "no_observer_set",
]

#: Float, or trained with fake quantization, to statically quantized.
DEFAULT_STATIC_QUANT_MODULE_MAPPINGS: dict[Any, Any] = {
    QuantStub: nnq.Quantize,
    DeQuantStub: nnq.DeQuantize,
    nn.Linear: nnq.Linear,
    NonDynamicallyQuantizableLinear: nnq.Linear,
    nn.Conv1d: nnq.Conv1d,
    nn.Conv2d: nnq.Conv2d,
    nn.Conv3d: nnq.Conv3d,
    nn.ConvTranspose1d: nnq.ConvTranspose1d,
    nn.ConvTranspose2d: nnq.ConvTranspose2d,
    nn.ConvTranspose3d: nnq.ConvTranspose3d,
    nn.BatchNorm2d: nnq.BatchNorm2d,
    nn.BatchNorm3d: nnq.BatchNorm3d,
    nn.GroupNorm: nnq.GroupNorm,
    nn.InstanceNorm1d: nnq.InstanceNorm1d,
    nn.InstanceNorm2d: nnq.InstanceNorm2d,
    nn.InstanceNorm3d: nnq.InstanceNorm3d,
    nn.LayerNorm: nnq.LayerNorm,
    nn.Dropout: nnq.Dropout,
    nn.ELU: nnq.ELU,
    nn.Hardswish: nnq.Hardswish,
    nn.LeakyReLU: nnq.LeakyReLU,
    nn.PReLU: nnq.PReLU,
    nn.ReLU6: nnq.ReLU6,
    nn.Embedding: nnq.Embedding,
    nn.EmbeddingBag: nnq.EmbeddingBag,
    nnq.FloatFunctional: nnq.QFunctional,
    nni.BNReLU2d: nniq.BNReLU2d,
    nni.BNReLU3d: nniq.BNReLU3d,
    nni.ConvReLU1d: nniq.ConvReLU1d,
    nni.ConvReLU2d: nniq.ConvReLU2d,
    nni.ConvReLU3d: nniq.ConvReLU3d,
    nni.ConvAdd2d: nniq.ConvAdd2d,
    nni.ConvAddReLU2d: nniq.ConvAddReLU2d,
    nni.LinearReLU: nniq.LinearReLU,
    nni.LinearLeakyReLU: nniq.LinearLeakyReLU,
    nni.LinearTanh: nniq.LinearTanh,
    nniqat.ConvBn1d: nnq.Conv1d,
    nniqat.ConvBn2d: nnq.Conv2d,
    nniqat.ConvBn3d: nnq.Conv3d,
    nniqat.ConvBnReLU1d: nniq.ConvReLU1d,
    nniqat.ConvBnReLU2d: nniq.ConvReLU2d,
    nniqat.ConvBnReLU3d: nniq.ConvReLU3d,
    nniqat.ConvReLU2d: nniq.ConvReLU2d,
    nniqat.ConvReLU3d: nniq.ConvReLU3d,
    nniqat.LinearReLU: nniq.LinearReLU,
    nniqat.LinearBn1d: nnq.Linear,
    nnqat.Linear: nnq.Linear,
    nnqat.Conv2d: nnq.Conv2d,
    nnqat.Conv3d: nnq.Conv3d,
}

#: Float to dynamically quantized.
DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS: dict[Any, Any] = {
    nn.Linear: nnqd.Linear,
    NonDynamicallyQuantizableLinear: nnqd.Linear,
    nnqatd.Linear: nnqd.Linear,
    nni.LinearReLU: nniqd.LinearReLU,
    nn.LSTM: nnqd.LSTM,
    nn.GRU: nnqd.GRU,
    nn.LSTMCell: nnqd.LSTMCell,
    nn.GRUCell: nnqd.GRUCell,
    nn.RNNCell: nnqd.RNNCell,
    nn.Embedding: nnq.Embedding,
    nn.EmbeddingBag: nnq.EmbeddingBag,
}

#: Float to trained with fake quantization.
DEFAULT_QAT_MODULE_MAPPINGS: dict[Any, Any] = {
    nn.Linear: nnqat.Linear,
    NonDynamicallyQuantizableLinear: nnqat.Linear,
    nn.Conv2d: nnqat.Conv2d,
    nn.Conv3d: nnqat.Conv3d,
    nni.ConvBn1d: nniqat.ConvBn1d,
    nni.ConvBn2d: nniqat.ConvBn2d,
    nni.ConvBn3d: nniqat.ConvBn3d,
    nni.ConvBnReLU1d: nniqat.ConvBnReLU1d,
    nni.ConvBnReLU2d: nniqat.ConvBnReLU2d,
    nni.ConvBnReLU3d: nniqat.ConvBnReLU3d,
    nni.ConvReLU2d: nniqat.ConvReLU2d,
    nni.ConvReLU3d: nniqat.ConvReLU3d,
    nni.LinearReLU: nniqat.LinearReLU,
    nni.LinearBn1d: nniqat.LinearBn1d,
}

#: Float to the float form that carries the grid of its weight.
DEFAULT_REFERENCE_STATIC_QUANT_MODULE_MAPPINGS: dict[Any, Any] = {
    QuantStub: nnq.Quantize,
    DeQuantStub: nnq.DeQuantize,
    nn.Linear: nnqr.Linear,
    nn.Conv1d: nnqr.Conv1d,
    nn.Conv2d: nnqr.Conv2d,
    nn.Conv3d: nnqr.Conv3d,
    nn.ConvTranspose1d: nnqr.ConvTranspose1d,
    nn.ConvTranspose2d: nnqr.ConvTranspose2d,
    nn.ConvTranspose3d: nnqr.ConvTranspose3d,
    nn.Embedding: nnqr.Embedding,
    nn.EmbeddingBag: nnqr.EmbeddingBag,
    nn.GRUCell: nnqr.GRUCell,
    nn.LSTMCell: nnqr.LSTMCell,
    nn.RNNCell: nnqr.RNNCell,
    nn.LSTM: nnqr.LSTM,
}

#: Functions of floats that have a quantized form with output parameters.
DEFAULT_FLOAT_TO_QUANTIZED_OPERATOR_MAPPINGS: dict[Any, Any] = {
    F.elu: ops.elu,
    F.hardswish: ops.hardswish,
    F.instance_norm: ops.instance_norm,
    F.layer_norm: ops.layer_norm,
    F.leaky_relu: ops.leaky_relu,
    F.dropout: ops.dropout,
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


def get_default_static_quant_reference_module_mappings() -> dict[Any, Any]:
    """A copy of the table for ``convert(..., is_reference=True)``.

    Examples
    --------
    >>> from pyqref import nn
    >>> get_default_static_quant_reference_module_mappings()[nn.Linear]
    <class 'pyqref.nn.quantized.reference.modules.linear.Linear'>
    """
    return copy.copy(DEFAULT_REFERENCE_STATIC_QUANT_MODULE_MAPPINGS)


def get_default_dynamic_quant_module_mappings() -> dict[Any, Any]:
    """A copy of the table for dynamic quantization.

    Examples
    --------
    >>> from pyqref import nn, quantization
    >>> quantization.get_default_dynamic_quant_module_mappings()[nn.LSTM]
    <class 'pyqref.nn.quantized.dynamic.modules.rnn.LSTM'>
    """
    return copy.copy(DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS)


def get_default_qat_module_mappings() -> dict[Any, Any]:
    """A copy of the table for quantization-aware training.

    Examples
    --------
    >>> from pyqref import nn, quantization
    >>> quantization.get_default_qat_module_mappings()[nn.Conv2d]
    <class 'pyqref.nn.qat.modules.conv.Conv2d'>
    """
    return copy.copy(DEFAULT_QAT_MODULE_MAPPINGS)


def get_embedding_static_quant_module_mappings() -> dict[Any, Any]:
    """The table for static quantization, with trained embeddings.

    Examples
    --------
    >>> from pyqref import nn, quantization
    >>> quantization.get_embedding_static_quant_module_mappings()[nn.qat.Embedding]
    <class 'pyqref.nn.quantized.modules.embedding_ops.Embedding'>
    """
    return {
        **DEFAULT_STATIC_QUANT_MODULE_MAPPINGS,
        nnqat.EmbeddingBag: nnq.EmbeddingBag,
        nnqat.Embedding: nnq.Embedding,
    }


def get_embedding_qat_module_mappings() -> dict[Any, Any]:
    """The table for quantization-aware training, with embeddings.

    Examples
    --------
    >>> from pyqref import nn
    >>> get_embedding_qat_module_mappings()[nn.Embedding]
    <class 'pyqref.nn.qat.modules.embedding_ops.Embedding'>
    """
    return {
        **DEFAULT_QAT_MODULE_MAPPINGS,
        nn.EmbeddingBag: nnqat.EmbeddingBag,
        nn.Embedding: nnqat.Embedding,
    }


def get_default_float_to_quantized_operator_mappings() -> dict[Any, Any]:
    """A copy of the table from functions of floats to quantized operations.

    Examples
    --------
    >>> from pyqref import nn, quantization
    >>> quantization.get_default_float_to_quantized_operator_mappings()[nn.functional.elu].__name__
    'elu'
    """
    return copy.copy(DEFAULT_FLOAT_TO_QUANTIZED_OPERATOR_MAPPINGS)


def get_quantized_operator(float_op: Callable[..., Any]) -> Callable[..., Any]:
    """The quantized form of a function of floats.

    Raises
    ------
    ValueError
        It has none.

    Examples
    --------
    >>> get_quantized_operator(F.elu).__name__
    'elu'
    """
    table = DEFAULT_FLOAT_TO_QUANTIZED_OPERATOR_MAPPINGS
    if (found := table.get(float_op)) is None:
        known = ", ".join(sorted(each.__name__ for each in table))
        name = getattr(float_op, "__name__", repr(float_op))
        raise ValueError(f"{name} has no quantized operator; those that have: {known}")
    return found


def no_observer_set() -> set[Any]:
    """Types of modules behind which no observer stands: they observe their own parts.

    Examples
    --------
    >>> from pyqref import nn, quantization
    >>> nn.quantizable.LSTM in quantization.no_observer_set()
    True
    """
    return {nnqz.LSTM, nnqz.MultiheadAttention}


def get_default_qconfig_propagation_list() -> set[Any]:
    """Types of leaf modules that ``prepare`` gives an observer.

    Examples
    --------
    >>> from pyqref import nn, quantization
    >>> nn.Linear in quantization.get_default_qconfig_propagation_list()
    True
    """
    return (
        set(DEFAULT_STATIC_QUANT_MODULE_MAPPINGS)
        | set(DEFAULT_QAT_MODULE_MAPPINGS)
        | set(DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS)
        | {nn.Sequential}
    )


def get_default_compare_output_module_list() -> set[Any]:
    """Types whose outputs are worth comparing between a float and a quantized model.

    Examples
    --------
    >>> from pyqref import nn, quantization
    >>> nn.Linear in quantization.get_default_compare_output_module_list()
    True
    """
    tables = (
        DEFAULT_STATIC_QUANT_MODULE_MAPPINGS,
        DEFAULT_QAT_MODULE_MAPPINGS,
        DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS,
    )
    return {nn.Sequential, *(each for table in tables for pair in table.items() for each in pair)}


def get_static_quant_module_class(
    float_module_class: type[Any],
    additional_static_quant_mapping: Mapping[Any, Any] | None = None,
    is_reference: bool = False,
) -> type[Any]:
    """Return the class that a type becomes by static quantization.

    Parameters
    ----------
    float_module_class
        A type of float modules.
    additional_static_quant_mapping
        Entries that come before those of the table.
    is_reference
        Look into the table of reference layers.

    Raises
    ------
    ValueError
        The table has no entry for it.

    Examples
    --------
    >>> from pyqref import nn, quantization
    >>> quantization.get_static_quant_module_class(nn.Linear, is_reference=True)
    <class 'pyqref.nn.quantized.reference.modules.linear.Linear'>
    """
    defaults = (
        DEFAULT_REFERENCE_STATIC_QUANT_MODULE_MAPPINGS
        if is_reference
        else DEFAULT_STATIC_QUANT_MODULE_MAPPINGS
    )
    table = {**defaults, **(additional_static_quant_mapping or {})}
    return _lookup("static", table, float_module_class)


def get_dynamic_quant_module_class(
    float_module_class: type[Any],
    additional_dynamic_quant_mapping: Mapping[Any, Any] | None = None,
) -> type[Any]:
    """Return the class that a type becomes by dynamic quantization.

    Raises
    ------
    ValueError
        The table has no entry for it.

    Examples
    --------
    >>> from pyqref import nn, quantization
    >>> quantization.get_dynamic_quant_module_class(nn.Linear)
    <class 'pyqref.nn.quantized.dynamic.modules.linear.Linear'>
    """
    table = {**DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS, **(additional_dynamic_quant_mapping or {})}
    return _lookup("dynamic", table, float_module_class)


def _lookup(kind: str, table: Mapping[Any, Any], float_module_class: Any) -> Any:
    found = table.get(float_module_class)
    if found is None:
        known = ", ".join(sorted({getattr(each, "__name__", repr(each)) for each in table}))
        raise ValueError(
            f"{float_module_class!r} has no {kind}ally quantized form; those that have: {known}"
        )
    return copy.deepcopy(found)
