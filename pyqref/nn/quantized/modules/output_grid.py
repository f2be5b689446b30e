"""What the layers with output parameters and without packed weights share."""

from __future__ import annotations

from typing import Any

from pyqref import dtypes
from pyqref.tensor.base import TensorBase
from pyqref.tensor.creation import tensor
from pyqref.tensor.parameter import Parameter

from .utils import require_output_observer

__all__ = ["EVERY_DTYPE", "as_parameter", "observed_grid", "register_grid"]

EVERY_DTYPE = (dtypes.quint8, dtypes.qint8, dtypes.qint32)


def register_grid(layer: Any, scale: Any, zero_point: Any) -> None:
    """Make ``scale`` (float32) and ``zero_point`` (int64) buffers of a layer."""
    layer.register_buffer("scale", _number(scale, float))
    layer.register_buffer("zero_point", _number(zero_point, int))


def _number(value: Any, kind: Any) -> Any:
    return tensor(kind(value._array.item() if isinstance(value, TensorBase) else value))


def observed_grid(cls: type, mod: Any) -> tuple[float, int]:
    """Scale and zero point that the observer of a float layer found for its output."""
    scale, zero_point = require_output_observer(cls, mod).calculate_qparams()
    return float(scale), int(zero_point)


def as_parameter(value: Any) -> Any:
    """A Parameter, or None, for a tensor, a Parameter or None."""
    if value is None or isinstance(value, Parameter):
        return value
    return Parameter(value, requires_grad=False)
