"""Where a model's numbers are quantized, and where they become real again."""

from __future__ import annotations

from typing import Any

from pyqref.nn.modules.module import Module

__all__ = ["DeQuantStub", "QuantStub"]


class QuantStub(Module):
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

    qconfig: Any

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig is not None:
            self.qconfig = qconfig

    def forward(self, x: Any) -> Any:
        """``x`` itself."""
        return x


class DeQuantStub(Module):
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

    qconfig: Any

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig is not None:
            self.qconfig = qconfig

    def forward(self, x: Any) -> Any:
        """``x`` itself."""
        return x
