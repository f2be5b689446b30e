"""Activations that were one value in all of calibration, which their parameters may wipe out.

The documentation gives data with equal minimum and maximum the scale 1.0 and the zero point 0. A
sum that was always 0.3 is then rounded to 0. That happens where calibration ran on a single number,
and where a model computes with numbers of its own, such as the sum of a bias.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pyqref.quantization.constant_channels import TOLERANCE
from pyqref.quantization.diagnostics import ConstantChannelWarning, warn
from pyqref.quantization.fake_quantize.fake_quantize import FakeQuantize
from pyqref.tensor.quantized import quantize_per_tensor

__all__ = ["warn_of_constant_activations"]


def warn_of_constant_activations(asks: str, observed: Iterable[tuple[str, Any]]) -> None:
    """Warn of observers that saw one value only, which their parameters cannot hold.

    Parameters
    ----------
    asks
        Who asks.
    observed
        What messages call each place, and its observer or fake quantizer.
    """
    for place, observer in observed:
        lost = _lost(observer)
        if lost is not None:
            warn(
                f"{asks}: {place} was {lost[0]:g} in all of the calibration and becomes "
                f"{lost[1]:g}, because constant data is documented to have scale 1.0 and zero "
                "point 0; calibrate on data that differs, set the qconfig of this place to None, "
                "or pyqref.backends.quantized.conventions = 'torch'",
                ConstantChannelWarning,
            )


def _lost(observer: Any) -> tuple[float, float] | None:
    """The one value that an observer saw, and what it becomes; None if nothing is lost."""
    dtype: Any = getattr(observer, "dtype", None)
    inner = observer.activation_post_process if isinstance(observer, FakeQuantize) else observer
    low, high = getattr(inner, "min_val", None), getattr(inner, "max_val", None)
    if low is None or high is None or low.numel() != 1 or not getattr(dtype, "is_quantized", False):
        return None
    value = float(low.item())
    if value != float(high.item()) or value == 0 or not np.isfinite(value):
        return None
    scale, zero_point = observer.calculate_qparams()
    kept = quantize_per_tensor(low, float(scale.item()), int(zero_point.item()), dtype)
    after = float(kept.dequantize().item())
    return (value, after) if abs(after - value) > TOLERANCE * abs(value) else None
