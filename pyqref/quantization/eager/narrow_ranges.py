"""Ranges of activation observers that the swapped modules do not keep."""

from __future__ import annotations

from typing import Any

from pyqref.nn.quantized.integer_range import is_narrow, keeps_range
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
    lost = []
    for swap in swaps:
        observer = _activation_observer(swap)
        if not is_narrow(observer) or ran_unobserved(swap.old):
            continue
        can = getattr(swap.new, "_KEEPS_RANGE", False) and not _is_dynamic(swap.new)
        if not (can and keeps_range(observer)):
            lost.append(f"{swap.path} ({type(swap.old).__name__}): {described_range(observer)}")
    warn_of_narrow_ranges(asks, lost)


def _activation_observer(swap: Swap) -> Any:
    """Return the observer of a quantized output, or of the inputs of a dynamic layer."""
    if getattr(swap.new, "_IS_REFERENCE", False):
        return None
    observer = getattr(swap.old, NAME, None)
    if observer is None and _is_dynamic(swap.new):
        make = getattr(getattr(swap.old, "qconfig", None), "activation", None)
        observer = None if make is None else make()
    return observer


def _is_dynamic(module: Any) -> bool:
    """Return True if a quantized layer takes float inputs and chooses their grid itself."""
    return "dynamic" in type(module).__module__.split(".")
