"""Dropout in a quantized model: nothing to do."""

from __future__ import annotations

from pyqref._typing import AnyModule, Self, Tensor
from pyqref.nn import modules as nn
from pyqref.nn.conversion_checks import require_members
from pyqref.tensor.dispatch import require_tensor

__all__ = ["Dropout"]


class Dropout(nn.Dropout):
    """The input itself: a quantized model is not trained.

    Parameters
    ----------
    p : float
        In [0, 1]; kept for the representation.
    inplace : bool
        No effect.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.quantized.Dropout(0.2)
    QuantizedDropout(p=0.2, inplace=False)
    """

    def _get_name(self) -> str:
        return "QuantizedDropout"

    def forward(self, input: Tensor) -> Tensor:
        """The input itself."""
        require_tensor(self._get_name(), "input", input)
        return input

    @classmethod
    def from_float(cls, mod: AnyModule, use_precomputed_fake_quant: bool = False) -> Self:
        """The quantized layer of an ``nn.Dropout``."""
        require_members(cls, "from_float", mod, "p", "inplace")
        return cls(mod.p, mod.inplace)

    @classmethod
    def from_reference(cls, mod: AnyModule, scale: float, zero_point: int) -> Self:
        """The quantized layer of an ``nn.Dropout``; the output parameters have no effect."""
        require_members(cls, "from_reference", mod, "p", "inplace")
        return cls(mod.p, mod.inplace)
