"""Stubs that mark where a model's numbers are quantized, and where they become real again."""

from __future__ import annotations

from typing import Any

from pyqref._typing import Tensor
from pyqref.nn.modules.module import Module
from pyqref.nn.quantizable.stubs import DeQuantStub as DeQuantStub
from pyqref.nn.quantizable.stubs import QuantStub as QuantStub

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper"]


for _stub in (QuantStub, DeQuantStub):
    _stub.__module__ = __name__  # where they are found in torch


class QuantWrapper(Module):
    """A module between a :class:`QuantStub` and a :class:`DeQuantStub`.

    ``wrapper(x) == wrapper.dequant(wrapper.module(wrapper.quant(x)))``

    Parameters
    ----------
    module
        What to wrap; its ``qconfig`` is given to the stubs.

    Raises
    ------
    TypeError
        ``module`` is no module.

    Notes
    -----
    Source: ``torch.quantization.QuantWrapper``.

    Examples
    --------
    >>> import pyqref
    >>> QuantWrapper(pyqref.nn.ReLU())
    QuantWrapper(
      (quant): QuantStub()
      (dequant): DeQuantStub()
      (module): ReLU()
    )
    """

    quant: Any
    dequant: Any
    module: Any

    def __init__(self, module: Module) -> None:
        super().__init__()
        if not isinstance(module, Module):
            raise TypeError(f"QuantWrapper wraps a Module, got {module!r}")
        qconfig = getattr(module, "qconfig", None)
        self.add_module("quant", QuantStub(qconfig))
        self.add_module("dequant", DeQuantStub(qconfig))
        self.add_module("module", module)
        self.train(module.training)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` quantized, put through the module, and dequantized."""
        return self.dequant(self.module(self.quant(x)))
