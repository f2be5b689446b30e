"""Ranges of integers narrower than that of the dtype, which a converted operation cannot keep."""

from __future__ import annotations

from collections.abc import Sequence

from pyqref._typing import Module
from pyqref.nn.quantized.integer_range import range_of
from pyqref.quantization.diagnostics import NarrowRangeWarning, warn

__all__ = ["described_range", "warn_of_narrow_ranges"]


def described_range(observer: Module) -> str:
    """``0 to 15 of quint8``."""
    low, high = range_of(observer) or (None, None)
    return f"{low} to {high} of {str(observer.dtype).removeprefix('pyqref.')}"


def warn_of_narrow_ranges(asks: str, places: Sequence[str]) -> None:
    """Warn of operations that do not keep the range of their observers.

    Parameters
    ----------
    asks
        Who asks.
    places
        The operations with their ranges; nothing is said if there are none.
    """
    if places:
        warn(
            f"{asks}: these operations were observed for fewer integers than they give when they "
            f"are quantized: {', '.join(places)}; beyond the observed values their results differ "
            "from those of the prepared model; leave quant_min and quant_max of the activation "
            "observer out, or evaluate the reference model, which keeps the ranges: "
            "convert_to_reference_fx",
            NarrowRangeWarning,
        )
