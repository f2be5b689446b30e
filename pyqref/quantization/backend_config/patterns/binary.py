"""Sums, differences and products of two tensors or a tensor and a number; ``matmul``."""

from __future__ import annotations

import operator
from itertools import product
from typing import Any

from pyqref.nn import functional as F
from pyqref.nn import modules as nn
from pyqref.quantization.backend_config.pattern_config import BackendPatternConfig
from pyqref.tensor import add, matmul, mul, relu, sub

from .building import DIFFERENT, SHARED, DTypes, pattern

__all__ = ["binary_configs"]

_OPERATIONS: dict[str, tuple[Any, Any]] = {
    "add": (operator.add, add),
    "sub": (operator.sub, sub),
    "mul": (operator.mul, mul),
}
#: ``x + 1`` rewrites the parameters of ``x``, ``x + y`` has its own.
_BY_TENSORS = {0: DIFFERENT, 1: SHARED, 2: DIFFERENT}


def binary_configs(
    dtypes: DTypes, names: tuple[str, ...] = ("add", "mul"), *, with_matmul: bool = True
) -> list[BackendPatternConfig]:
    """Binary operations, alone and with ReLU.

    Parameters
    ----------
    dtypes
        The supported types.
    names
        Of ``"add"``, ``"sub"``, ``"mul"``.
    with_matmul
        Whether with ``matmul``.
    """
    found = []
    for operation in (each for name in names for each in _OPERATIONS[name]):
        with_relu = product((operation,), (nn.ReLU, F.relu, relu))
        found += [
            pattern(what, dtypes)._set_num_tensor_args_to_observation_type(dict(_BY_TENSORS))
            for what in (*with_relu, operation)
        ]
    if with_matmul:
        found.append(pattern(matmul, dtypes))
    return found
