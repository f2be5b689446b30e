"""Stubs that mark where a model's numbers are quantized, and where they become real again."""

from __future__ import annotations

from typing import Any

from pyqref._typing import Tensor
from pyqref.nn.module_path import describe_module
from pyqref.nn.modules.module import Module

__all__ = ["DeQuantStub", "QuantStub"]


class _Stub(Module):
    """The identity, at a place that ``convert`` will find."""

    qconfig: Any

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        _refuse_module(self, "qconfig must be a QConfig", qconfig)
        if qconfig is not None:
            self.qconfig = qconfig

    def forward(self, x: Tensor) -> Tensor:
        """``x`` itself."""
        _refuse_module(self, "takes a tensor", x)
        return x


def _refuse_module(stub: Module, wants: str, value: Any) -> None:
    if isinstance(value, Module):
        name = type(value).__name__
        raise TypeError(
            f"{describe_module(stub)} {wants}, got a {name}; to put a stub before and after a "
            "module write QuantWrapper(module)"
        )


class QuantStub(_Stub):
    """Mark where a tensor is quantized.

    Before calibration the identity; ``prepare`` gives it an observer, ``convert`` swaps it
    for :class:`pyqref.nn.quantized.Quantize`.

    Parameters
    ----------
    qconfig
        How to quantize; if None, that of the parent module is taken.

    Notes
    -----
    Source: ``torch.quantization.QuantStub``.

    Examples
    --------
    >>> import pyqref
    >>> QuantStub()(pyqref.tensor([1.5]))
    tensor([1.5000])
    """


class DeQuantStub(_Stub):
    """Mark where a quantized tensor becomes a float one.

    Before calibration the identity; ``convert`` swaps it for
    :class:`pyqref.nn.quantized.DeQuantize`.

    Parameters
    ----------
    qconfig
        If None, that of the parent module is taken.

    Notes
    -----
    Source: ``torch.quantization.DeQuantStub``.

    Examples
    --------
    >>> import pyqref
    >>> DeQuantStub()(pyqref.tensor([1.5]))
    tensor([1.5000])
    """
