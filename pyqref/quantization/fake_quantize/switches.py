"""Switching observers and fake quantizers of a whole model, with ``model.apply``."""

from __future__ import annotations

from typing import Any

from .base import FakeQuantizeBase

__all__ = ["disable_fake_quant", "disable_observer", "enable_fake_quant", "enable_observer"]


def disable_fake_quant(mod: Any) -> None:
    """Let numbers pass a fake quantizer unchanged; other modules are left alone.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.nn.Sequential(pyqref.quantization.FakeQuantize())
    >>> _ = model.apply(disable_fake_quant)
    >>> model[0].fake_quant_enabled
    tensor([0], dtype=pyqref.uint8)
    """
    if isinstance(mod, FakeQuantizeBase):
        mod.disable_fake_quant()


def enable_fake_quant(mod: Any) -> None:
    """Apply the quantization error of a fake quantizer; other modules are left alone.

    Examples
    --------
    >>> from pyqref import quantization
    >>> fake_quantize = quantization.FakeQuantize().apply(quantization.disable_fake_quant)
    >>> fake_quantize.apply(quantization.enable_fake_quant).fake_quant_enabled.item()
    1
    """
    if isinstance(mod, FakeQuantizeBase):
        mod.enable_fake_quant()


def disable_observer(mod: Any) -> None:
    """Keep a fake quantizer's scale and zero point; other modules are left alone.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import quantization
    >>> fake_quantize = quantization.FakeQuantize()
    >>> _ = fake_quantize(pyqref.tensor([0.0, 1.0]))
    >>> _ = fake_quantize.apply(quantization.disable_observer)
    >>> _ = fake_quantize(pyqref.tensor([0.0, 9.0]))
    >>> fake_quantize.activation_post_process.max_val.item()
    1.0
    """
    if isinstance(mod, FakeQuantizeBase):
        mod.disable_observer()


def enable_observer(mod: Any) -> None:
    """Let a fake quantizer observe again; other modules are left alone.

    Examples
    --------
    >>> from pyqref import quantization
    >>> fake_quantize = quantization.FakeQuantize().apply(quantization.disable_observer)
    >>> fake_quantize.apply(quantization.enable_observer).observer_enabled.item()
    1
    """
    if isinstance(mod, FakeQuantizeBase):
        mod.enable_observer()
