"""The two packed weights of a recurrent cell."""

from __future__ import annotations

from typing import Any

from pyqref import dtypes
from pyqref.ops import quantized as ops
from pyqref.tensor.creation import zeros
from pyqref.tensor.quantized import make_per_tensor

__all__ = ["PackedProjections", "empty_weight", "prepack"]


def prepack(weight: Any, bias: Any) -> Any:
    """Pack a qint8 weight, or a float one to be kept as float16."""
    return (ops.linear_prepack if weight.is_quantized else ops.linear_prepack_fp16)(weight, bias)


def empty_weight(rows: int, columns: int, dtype: Any) -> Any:
    """A zero weight of a new layer."""
    if dtype is dtypes.float16:
        return zeros(rows, columns)
    integers = zeros(rows, columns, dtype=dtypes.int8)._array
    return make_per_tensor(integers, 1.0, 0, dtypes.qint8)


class PackedProjections:
    """The packed weights of one layer in one direction: of the input, of the hidden state."""

    def __init__(self, weight_ih: Any, bias_ih: Any, weight_hh: Any, bias_hh: Any) -> None:
        self.of_input = prepack(weight_ih, bias_ih)
        self.of_hidden = prepack(weight_hh, bias_hh)

    def unpack(self) -> tuple[Any, Any, Any, Any]:
        """``weight_ih, bias_ih, weight_hh, bias_hh``."""
        return (*self.of_input.unpack(), *self.of_hidden.unpack())
