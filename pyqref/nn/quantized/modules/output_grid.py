"""What the layers with output parameters and without packed weights share."""

from __future__ import annotations

from typing import Any

from pyqref import dtypes
from pyqref.tensor.arguments import as_integer, as_number, described
from pyqref.tensor.base import TensorBase
from pyqref.tensor.creation import tensor
from pyqref.tensor.parameter import Parameter

from .utils import require_output_observer

__all__ = ["EVERY_DTYPE", "as_parameter", "observed_grid", "plain_grid", "register_grid"]

EVERY_DTYPE = (dtypes.quint8, dtypes.qint8, dtypes.qint32)


def register_grid(layer: Any, scale: Any, zero_point: Any) -> None:
    """Make ``scale`` (float32) and ``zero_point`` (int64) buffers of a layer."""
    layer.register_buffer("scale", tensor(as_number(scale, f"{type(layer).__name__}: scale")))
    layer.register_buffer(
        "zero_point", tensor(as_integer(zero_point, f"{type(layer).__name__}: zero_point"))
    )


def plain_grid(layer: Any, scale: Any, zero_point: Any) -> tuple[float, int]:
    """``scale`` and ``zero_point`` as plain numbers; their ranges are checked in the call."""
    name = type(layer).__name__
    return as_number(scale, f"{name}: scale"), as_integer(zero_point, f"{name}: zero_point")


def observed_grid(cls: type, mod: Any) -> tuple[float, int]:
    """Scale and zero point that the observer of a float layer found for its output."""
    scale, zero_point = require_output_observer(cls, mod).calculate_qparams()
    return float(scale), int(zero_point)


def as_parameter(value: Any) -> Any:
    """A Parameter, or None, for a tensor, a Parameter or None."""
    if value is None or isinstance(value, Parameter):
        return value
    if not isinstance(value, TensorBase):
        raise TypeError(f"weight and bias must be tensors or None, got {described(value)}")
    return Parameter(value, requires_grad=False)
