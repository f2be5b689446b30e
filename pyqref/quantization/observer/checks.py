"""Checks for data that an observer refuses, and their messages."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref._typing import Module, Tensor
from pyqref.nn.module_path import module_path
from pyqref.quantization.diagnostics import UncalibratedWarning as UncalibratedWarning
from pyqref.tape import Array
from pyqref.tensor.foreign import kind_of

__all__ = ["UncalibratedWarning", "calibration_array", "named", "not_finite"]

_FLOAT32 = np.dtype(np.float32)


def named(observer: Module) -> str:
    """How messages call an observer: its class and, where known, its module path."""
    path = module_path(observer)
    return f"{type(observer).__name__} at '{path}'" if path else type(observer).__name__


def calibration_array(observer: Module, x: Tensor) -> Array:
    """The elements of ``x`` as a float32 array with at least one axis.

    Raises
    ------
    TypeError
        ``x`` is no tensor, or is quantized already.
    """
    array = getattr(x, "_array", None)
    if array is None:
        raise TypeError(f"{named(observer)} observes tensors, got {kind_of(x)}{_remedy(x)}")
    if x.is_quantized:
        raise TypeError(
            f"{named(observer)} got a tensor that is quantized already ({x.dtype!r}); "
            "observe the float model, before convert"
        )
    if array.dtype is _FLOAT32 and array.ndim:
        return array
    return np.ascontiguousarray(array, dtype=np.float32)


def _remedy(x: Any) -> str:
    if x is None:
        return "; a module that returns nothing cannot be observed: set its qconfig to None"
    if isinstance(x, tuple | list | dict):
        return "; a module that returns several tensors cannot be observed: set its qconfig to None"
    return ""


def not_finite(observer: Module, array: Array) -> ValueError:
    """Return the error for calibration data with nan or infinity.

    They would make every later scale nan or infinite.
    """
    nans, infinities = int(np.isnan(array).sum()), int(np.isinf(array).sum())
    return ValueError(
        f"{named(observer)}: calibration data must be finite, got {nans} nan and {infinities} "
        f"infinite of {array.size} elements; remove them, or set the qconfig of this module to None"
    )
