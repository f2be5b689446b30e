"""Base class of the layers with output parameters and without packed weights."""

from __future__ import annotations

from typing import Any

from pyqref import dtypes
from pyqref._typing import AnyModule, Tensor
from pyqref.nn.loaded_grid import integers_of, require_loaded_grid
from pyqref.nn.modules import Module
from pyqref.ops import quantized as ops
from pyqref.tensor.arguments import described
from pyqref.tensor.base import TensorBase
from pyqref.tensor.creation import tensor
from pyqref.tensor.parameter import Parameter

from .utils import require_output_observer

__all__ = [
    "EVERY_DTYPE",
    "LoadsGrid",
    "as_parameter",
    "observed_grid",
    "plain_grid",
    "register_grid",
]

EVERY_DTYPE = (dtypes.quint8, dtypes.qint8, dtypes.qint32)


class LoadsGrid(Module):
    """Base of layers with buffers ``scale`` and ``zero_point``; it stands before the float layer.

    It refuses to load what no output can have.
    """

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        # The call checks the range of the dtype of its input, where the layer itself has none.
        dtype = getattr(self, "dtype", dtypes.qint32)
        require_loaded_grid(state_dict, f"{prefix}scale", f"{prefix}zero_point", integers_of(dtype))
        super()._load_from_state_dict(state_dict, prefix, *args)


def register_grid(layer: Module, scale: float, zero_point: int) -> None:
    """Make ``scale`` (float32) and ``zero_point`` (int64) buffers of a layer."""
    scale, zero_point = plain_grid(layer, scale, zero_point)
    layer.register_buffer("scale", tensor(scale))
    layer.register_buffer("zero_point", tensor(zero_point))


def plain_grid(layer: Module, scale: float, zero_point: int) -> tuple[float, int]:
    """``scale`` and ``zero_point`` as plain numbers that some dtype allows.

    The call checks the range of the dtype of its input.
    """
    return ops.require_output_parameters(type(layer).__name__, scale, zero_point, dtypes.qint32)


def observed_grid(cls: type, mod: AnyModule) -> tuple[float, int]:
    """Scale and zero point that the observer of a float layer found for its output."""
    scale, zero_point = require_output_observer(cls, mod).calculate_qparams()
    return float(scale), int(zero_point)


def as_parameter(value: Tensor | None) -> Any:
    """A Parameter, or None, for a tensor, a Parameter or None."""
    if value is None or isinstance(value, Parameter):
        return value
    if not isinstance(value, TensorBase):
        raise TypeError(f"weight and bias must be tensors or None, got {described(value)}")
    return Parameter(value, requires_grad=False)
