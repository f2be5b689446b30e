"""Ranges of activation observers that the swapped modules do not keep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyqref.nn.quantized.integer_range import is_narrow, keeps_range
from pyqref.nn.quantized.modules import Quantize
from pyqref.quantization.narrow_ranges import described_range, warn_of_narrow_ranges

from .observe import NAME
from .swap import Swap, ran_unobserved

__all__ = ["warn_of_narrow_swaps"]


def warn_of_narrow_swaps(asks: str, swaps: list[Swap]) -> None:
    """Warn of ranges that are lost, by module path.

    Parameters
    ----------
    asks
        Who asks.
    swaps
        The exchanges of float for quantized modules.
    """
    lost = [each for swap in swaps for each in _lost(swap)]
    warn_of_narrow_ranges(asks, lost)


def _lost(swap: Swap) -> Iterator[str]:
    for below, module in swap.old.named_modules():
        if NAME in below.split(".") or ran_unobserved(module):
            continue
        observer = _activation_observer(swap, module)
        if not is_narrow(observer):
            continue
        if isinstance(swap.new, Quantize) and keeps_range(observer):
            continue
        path = f"{swap.path}.{below}" if below else swap.path
        yield f"{path} ({type(module).__name__}): {described_range(observer)}"


def _activation_observer(swap: Swap, module: Any) -> Any:
    """What a quantized output was observed with; of a dynamic layer what its inputs would be."""
    if getattr(swap.new, "_IS_REFERENCE", False):
        return None
    observer = getattr(module, NAME, None)
    if observer is None and module is swap.old and is_dynamic(swap.new):
        make = getattr(getattr(module, "qconfig", None), "activation", None)
        observer = None if make is None else make()
    return observer


def is_dynamic(module: Any) -> bool:
    """Whether a quantized layer takes float inputs, for which it chooses the grid itself."""
    return "dynamic" in type(module).__module__.split(".")
