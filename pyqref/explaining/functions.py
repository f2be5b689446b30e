"""Named functions of real numbers that steps apply where no rational formula gives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import NumberOrArray
from ..numerics import activation
from ..tape.gated import Gelu

__all__ = ["FUNCTIONS", "apply_function", "function"]


def _gelu(x: Any, approximate: str = "none") -> Any:
    operation = Gelu()
    operation.needs = (None, None)
    return operation.forward(np.asarray(x, np.float64), approximate)


#: Of one number or of a row of numbers; further operands are parameters.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sigmoid": activation.sigmoid,
    "tanh": activation.tanh,
    "hardsigmoid": activation.hardsigmoid,
    "hardswish": activation.hardswish,
    "elu": activation.elu,
    "leaky_relu": activation.leaky_relu,
    "threshold": activation.threshold,
    "gelu": lambda x: _gelu(x, "none"),
    "gelu_tanh": lambda x: _gelu(x, "tanh"),
    "tanh32": np.tanh,
}


def function(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function of numbers a name that steps can say."""
    FUNCTIONS[name] = compute
    return compute


def apply_function(name: str, *operands: NumberOrArray) -> np.float32:
    """The value of a named function, as float32.

    Examples
    --------
    >>> apply_function("hardsigmoid", np.float32(0))
    np.float32(0.5)
    """
    first, *rest = operands
    value = np.atleast_1d(np.asarray(first, np.float32))
    with np.errstate(all="ignore"):
        result = FUNCTIONS[name](value, *rest)
    return np.float32(np.asarray(result).ravel()[0])
