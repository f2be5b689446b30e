"""Switching observers and fake quantizers of a whole model, with ``model.apply``.

Each function is called once for every module. A model without any fake quantizer is noticed
when ``apply`` comes to the model itself.
"""

from __future__ import annotations

from typing import Any

from pyqref._insides.stack import caller
from pyqref.nn.modules.module import Module
from pyqref.quantization.diagnostics import NoEffectWarning, warn
from pyqref.quantization.observer.base import ObserverBase

from .base import FakeQuantizeBase

__all__ = ["disable_fake_quant", "disable_observer", "enable_fake_quant", "enable_observer"]


def disable_fake_quant(mod: Module) -> None:
    """Let numbers pass a fake quantizer unchanged; other modules are left alone.

    Warns
    -----
    NoEffectWarning
        The model whose ``apply`` calls this function has no fake quantizer. So for the three
        other switches.

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
    else:
        _warn_if_none("disable_fake_quant", mod)


def enable_fake_quant(mod: Module) -> None:
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
    else:
        _warn_if_none("enable_fake_quant", mod)


def disable_observer(mod: Module) -> None:
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
    else:
        _warn_if_none("disable_observer", mod)


def enable_observer(mod: Module) -> None:
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
    else:
        _warn_if_none("enable_observer", mod)


def _warn_if_none(switch: str, mod: Any) -> None:
    """Warn if ``mod`` is the model that is switched, and has no fake quantizer at all."""
    applies = caller(2)
    outermost = (
        applies is not None
        and applies.f_code is _APPLY
        and (applies.f_back is None or applies.f_back.f_code is not _APPLY)
    )
    if not outermost or any(isinstance(each, FakeQuantizeBase) for each in mod.modules()):
        return
    observes = any(isinstance(each, ObserverBase) for each in mod.modules())
    state = "only observers, which are always on" if observes else "none"
    warn(
        f"{switch} has no effect on this {type(mod).__name__}: it switches fake quantizers, and "
        f"the model has {state}; call prepare_qat or prepare_qat_fx first, with a qconfig such "
        "as get_default_qat_qconfig('x86')",
        NoEffectWarning,
    )


_APPLY = Module.apply.__code__
