"""The arguments of a constructor, read from the attributes of a layer of ``torch``."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from .arrays import to_value

__all__ = ["arguments_of"]

#: Arguments that no attribute keeps: old forms of other arguments, and initial values.
_NOT_KEPT = {
    *("size_average", "reduce", "min_value", "max_value"),
    *("_weight", "_freeze", "device", "dtype", "qconfig", "factory_kwargs"),
}


#: What recurrent layers and dynamic convolutions pass on to the class that they extend.
_PASSED_ON = [
    *("input_size", "hidden_size", "num_layers", "batch_first", "dropout", "bidirectional"),
    *("stride", "padding", "dilation", "groups", "bias", "padding_mode", "output_padding"),
]


def arguments_of(twin: type, source: Any, known: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of the constructor of ``twin``, read from attributes of ``source``.

    Parameters
    ----------
    twin
        A class of this package.
    source
        The layer of ``torch``, which keeps them under the same names.
    known
        Values that are known otherwise.
    """
    arguments: dict[str, Any] = {}
    parameters = inspect.signature(twin).parameters
    names = list(parameters)
    if any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        names += _PASSED_ON
    for name in names:
        if name in known:
            arguments[name] = known[name]
        elif name in _NOT_KEPT:
            continue
        elif name == "bias" and hasattr(source, name):
            arguments[name] = source.bias is not None and source.bias is not False
        elif hasattr(source, name):
            arguments[name] = to_value(getattr(source, name))
    return arguments
