"""Scales and zero points in a state dict: refused by their key where no tensor has them.

What is raised here, ``load_state_dict`` raises with the path of the module; the model stays as it
was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pyqref.dtypes import dtype as Dtype
from pyqref.tensor.base import TensorBase
from pyqref.tensor.quantized.validation import check_scale

__all__ = [
    "integers_of",
    "require_loaded_finite",
    "require_loaded_grid",
    "require_loaded_scale",
]


def require_loaded_grid(
    state_dict: Mapping[str, Any], scale: str, zero_point: str, limits: tuple[int, int] | None
) -> None:
    """Raise unless two entries, those that are there, are a scale and a zero point.

    Parameters
    ----------
    state_dict
        What is loaded. An entry that is no tensor of real numbers is left to who takes it.
    scale, zero_point
        The keys.
    limits
        The smallest and the largest zero point, see :func:`integers_of`; None for zero points
        that are real numbers, as of ``per_channel_affine_float_qparams``.

    Raises
    ------
    ValueError
        A scale is not positive or not finite, or a zero point is out of range.
    """
    require_loaded_scale(state_dict, scale)
    if limits is None:
        require_loaded_finite(state_dict, zero_point)
        return
    given, (low, high) = _array(state_dict, zero_point), limits
    if given is not None:
        with np.errstate(all="ignore"):
            fits = (given >= low) & (given <= high) & (given == np.floor(given))
        _require(fits, given, zero_point, f"an integer in [{low}, {high}]")


def require_loaded_finite(state_dict: Mapping[str, Any], key: str) -> None:
    """Raise unless an entry, if it is there, holds neither nan nor infinity."""
    given = _array(state_dict, key)
    if given is not None:
        _require(np.isfinite(given), given, key, "finite")


def integers_of(dtype: Dtype) -> tuple[int, int]:
    """Smallest and largest integer of a dtype, be it quantized or not; of int32 if it has none.

    Examples
    --------
    >>> import pyqref
    >>> integers_of(pyqref.quint8), integers_of(pyqref.int8)
    ((0, 255), (-128, 127))
    """
    if dtype.quant_min is not None and dtype.quant_max is not None:
        return dtype.quant_min, dtype.quant_max
    kind = np.dtype(dtype.numpy_dtype)
    info = np.iinfo(kind if kind.kind in "iu" else np.int32)
    return int(info.min), int(info.max)


def require_loaded_scale(state_dict: Mapping[str, Any], key: str) -> None:
    """Raise unless an entry, if it is there, holds scales: positive and finite numbers.

    Examples
    --------
    >>> import pyqref
    >>> require_loaded_scale({"fc.scale": pyqref.tensor([0.5, -1.0])}, "fc.scale")
    Traceback (most recent call last):
        ...
    ValueError: fc.scale must be positive, got -1.0
    """
    given = _array(state_dict, key)
    if given is not None:
        for each in (given.min(), given.max()):  # nan is both, if it is among them
            check_scale(float(each), key)


def _require(fits: Any, given: Any, key: str, wanted: str) -> None:
    if not fits.all():
        raise ValueError(f"{key} must be {wanted}, got {given[~fits].flat[0]}")


def _array(state_dict: Any, key: str) -> Any:
    given = state_dict.get(key)
    if not isinstance(given, TensorBase) or given.is_quantized:
        return None
    array = given._array
    return array if array.size and array.dtype.kind in "biuf" else None
