"""Which other arithmetic gives the integers that a device gave."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...arithmetic import names, use
from ...explaining.running import Call, called, intercepted
from ...explaining.values import is_quantized, leaves
from ...nn.diagnostics import NoEffectWarning
from ...nn.modules import Module

__all__ = ["resembling"]


def resembling(
    model: Module, inputs: tuple[Any, ...], node: str, got: np.ndarray[Any, Any]
) -> tuple[str, ...]:
    """The arithmetics in which a layer gives just these integers.

    Parameters
    ----------
    model, inputs
        Run once, in what arithmetic is set.
    node
        The layer, whose inputs are those that the model gives it.
    got
        What the device gave.
    """
    found: list[str] = []

    def decide(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = call.run(*args, **kwargs)
        path, count = call.key
        if (f"{path}#{count}" if count else path) == node and is_quantized(leaves(result)[0]):
            found.extend(each for each in names() if _gives(each, call, args, kwargs, got))
        return result

    with intercepted(model, decide):
        called(model, inputs)
    return tuple(found)


def _gives(name: str, call: Call, args: Any, kwargs: Any, got: Any) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoEffectWarning)
        with use(name):
            integers = leaves(call.run(*args, **kwargs))[0].int_repr()
    return np.array_equal(np.asarray(integers), got)
