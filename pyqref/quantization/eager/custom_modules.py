"""Layers that ``prepare`` takes apart, so that their parts can be quantized."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyqref._typing import Module
from pyqref.nn import modules as nn
from pyqref.nn import quantizable as nnqz
from pyqref.nn import quantized as nnq

__all__ = [
    "CUSTOM_TABLES",
    "FLOAT_TO_OBSERVED",
    "OBSERVED_TO_QUANTIZED",
    "get_default_custom_config_dict",
    "types_in",
]

FLOAT_TO_OBSERVED: dict[Any, Any] = {
    nn.LSTM: nnqz.LSTM,
    nn.MultiheadAttention: nnqz.MultiheadAttention,
}

OBSERVED_TO_QUANTIZED: dict[Any, Any] = {
    nnqz.LSTM: nnq.LSTM,
    nnqz.MultiheadAttention: nnq.MultiheadAttention,
}

#: The tables of the dictionary that ``prepare`` and ``convert`` share. Each reads its own.
CUSTOM_TABLES = (
    "float_to_observed_custom_module_class",
    "observed_to_quantized_custom_module_class",
)


def get_default_custom_config_dict() -> dict[str, dict[Any, Any]]:
    """The custom layers of ``prepare`` and ``convert`` where none are given.

    Both take the dictionary as it is, or with entries of the user's own besides.

    Examples
    --------
    >>> from pyqref import nn
    >>> tables = get_default_custom_config_dict()
    >>> tables["float_to_observed_custom_module_class"][nn.LSTM]
    <class 'pyqref.nn.quantizable.modules.rnn.LSTM'>
    """
    observed, quantized = CUSTOM_TABLES
    return {observed: dict(FLOAT_TO_OBSERVED), quantized: dict(OBSERVED_TO_QUANTIZED)}


def types_in(model: Module, table: Mapping[Any, Any]) -> dict[Any, Any]:
    """The entries for types that the model has."""
    present = {type(each) for each in model.modules()}
    return {each: table[each] for each in table if each in present}
