"""ReLU behind a layer for quantization-aware training."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref._typing import Tensor
from pyqref.nn import functional as F
from pyqref.nn.modules import Module, ReLU

__all__ = ["ThenReLU"]


class ThenReLU(Module):
    """Lets ReLU follow the layer whose class comes next among the bases.

    Between the two nothing is rounded: one fake quantizer follows the ReLU.
    """

    _FLOAT_GROUP: ClassVar[Any]

    def forward(self, input: Tensor) -> Tensor:
        """ReLU of what the layer gives, with its fake-quantized weight."""
        return F.relu(super().forward(input))

    def to_float(self) -> Module:
        """The float layer, with copies of the trained parameters, and ReLU."""
        layer: Any = super()
        return self._FLOAT_GROUP(layer.to_float(), ReLU()).train(self.training)
