"""Functions of each element: with parameters of their own, and with fixed ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pyqref.nn import functional as F
from pyqref.nn import modules as nn
from pyqref.quantization.backend_config.dtype_config import DTypeConfig, DTypeWithConstraints
from pyqref.quantization.backend_config.pattern_config import BackendPatternConfig
from pyqref.tensor import sigmoid, tanh

from .building import DTypes, pattern, patterns

__all__ = ["FIXED_QPARAMS", "fixed_qparams_configs", "pointwise_configs"]


def pointwise_configs(dtypes: DTypes) -> list[BackendPatternConfig]:
    """Activations, dropout and instance norm, whose output is observed."""
    modules = (
        *(nn.ELU, nn.LeakyReLU, nn.Hardswish),
        *(nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d),
        *(nn.Dropout, nn.PReLU),
    )
    functions = (F.elu, F.hardswish, F.leaky_relu, F.dropout)
    return [
        *patterns((*modules, *functions), dtypes),
        pattern(F.group_norm, dtypes)._set_input_type_to_index({"weight": 2, "bias": 3}),
        pattern(F.instance_norm, dtypes)._set_input_type_to_index({"weight": 3, "bias": 4}),
    ]


#: Outputs between 0 and 1, and between -1 and 1: what the scale and zero point must be.
_ZERO_TO_ONE = DTypeWithConstraints(
    quant_min_lower_bound=0,
    quant_max_upper_bound=255,
    scale_exact_match=1.0 / 256.0,
    zero_point_exact_match=0,
)
_PLUS_MINUS_ONE = DTypeWithConstraints(
    quant_min_lower_bound=0,
    quant_max_upper_bound=255,
    scale_exact_match=2.0 / 256.0,
    zero_point_exact_match=128,
)

#: Operations whose output range is known, with the parameters that follow from it.
FIXED_QPARAMS: dict[Any, DTypeWithConstraints] = {
    nn.Hardsigmoid: _ZERO_TO_ONE,
    F.hardsigmoid: _ZERO_TO_ONE,
    "hardsigmoid": _ZERO_TO_ONE,
    "hardsigmoid_": _ZERO_TO_ONE,
    nn.Sigmoid: _ZERO_TO_ONE,
    sigmoid: _ZERO_TO_ONE,
    "sigmoid": _ZERO_TO_ONE,
    "sigmoid_": _ZERO_TO_ONE,
    nn.Softmax: _ZERO_TO_ONE,
    nn.Tanh: _PLUS_MINUS_ONE,
    tanh: _PLUS_MINUS_ONE,
    "tanh": _PLUS_MINUS_ONE,
    "tanh_": _PLUS_MINUS_ONE,
}


def fixed_qparams_configs(dtypes: DTypes) -> list[BackendPatternConfig]:
    """Operations with a known range: unsigned types must have exactly its parameters."""
    return [
        pattern(what, fixed_qparams_dtypes(dtypes, constraints))
        for what, constraints in FIXED_QPARAMS.items()
    ]


def fixed_qparams_dtypes(dtypes: DTypes, constraints: DTypeWithConstraints) -> DTypes:
    """The supported types, where unsigned ones must have the parameters of ``constraints``."""
    return [_fixed(each, constraints) for each in dtypes]


def _fixed(dtype_config: DTypeConfig, constraints: DTypeWithConstraints) -> DTypeConfig:
    def constrain(given: DTypeWithConstraints) -> DTypeWithConstraints:
        if given.dtype is None or given.dtype.quant_min != 0:
            return given
        return replace(constraints, dtype=given.dtype)

    return _map(dtype_config, constrain)


def _map(
    dtype_config: DTypeConfig, change: Callable[[DTypeWithConstraints], DTypeWithConstraints]
) -> DTypeConfig:
    return DTypeConfig(
        input_dtype=change(dtype_config.input_dtype_with_constraints),
        output_dtype=change(dtype_config.output_dtype_with_constraints),
        weight_dtype=dtype_config.weight_dtype_with_constraints,
        bias_dtype=dtype_config.bias_dtype,
        is_dynamic=dtype_config.is_dynamic,
    )
