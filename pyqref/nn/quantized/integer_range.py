"""The range of integers that an observer was made for, kept by what is quantized with it."""

from __future__ import annotations

import numpy as np

from pyqref._typing import AnyModule, Module, Tensor
from pyqref.backends import quantized as settings
from pyqref.dtypes import dtype as Dtype
from pyqref.numerics.qparams import quant_range
from pyqref.tensor.quantized import make_quantized

__all__ = [
    "clamp_has_no_effect",
    "clamp_integers",
    "in_range_of",
    "is_narrow",
    "keeps_range",
    "range_entries",
    "range_of",
]

SIX_BITS = 64


def clamp_has_no_effect(dtype: Dtype, quant_min: int, quant_max: int) -> bool:
    """Return True if a range holds all integers of a quantized dtype."""
    low, high = quant_range(dtype)
    return quant_min <= low and quant_max >= high


def clamp_integers(input: Tensor, quant_min: int, quant_max: int) -> Tensor:
    """Clamp the integers of a quantized tensor; scale and zero point stay.

    Parameters
    ----------
    input
        A quantized tensor, per tensor or per channel.
    quant_min, quant_max
        The range; what lies beyond that of the dtype has no effect.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([-9.0, 8.0]), 1.0, 0, pyqref.qint8)
    >>> clamp_integers(x, -8, 7).int_repr().tolist()
    [-8, 7]
    """
    if clamp_has_no_effect(input.dtype, quant_min, quant_max):
        return input
    low, high = quant_range(input.dtype)
    integers = np.clip(input._array, max(quant_min, low), min(quant_max, high))
    return make_quantized(integers, input._quantizer)


def range_of(observer: AnyModule | None) -> tuple[int, int] | None:
    """The range of integers of an observer or a fake quantizer; None if it has none.

    Examples
    --------
    >>> import pyqref
    >>> range_of(pyqref.quantization.MinMaxObserver(reduce_range=True))
    (0, 127)
    """
    low, high = getattr(observer, "quant_min", None), getattr(observer, "quant_max", None)
    return None if low is None or high is None else (int(low), int(high))


def in_range_of(observer: AnyModule, quantized: Tensor) -> Tensor:
    """A tensor that was quantized as an observer says, its integers within the observer's range.

    Quantizing alone clamps to the range of the dtype. A symmetric scheme puts the largest
    number on a half step, which may round to the integer behind a narrower range.
    """
    chosen = range_of(observer)
    return quantized if chosen is None else clamp_integers(quantized, *chosen)


def range_entries(observer: Module) -> dict[str, int]:
    """The range of an observer as entries of a dictionary of quantization parameters."""
    chosen = range_of(observer)
    return {} if chosen is None else {"quant_min": chosen[0], "quant_max": chosen[1]}


def keeps_range(observer: AnyModule) -> bool:
    """Return True if a step that only quantizes clamps to the range of its observer.

    It does where the range :func:`is_narrow`; under the conventions of torch it never does.
    """
    return settings.conventions != "torch" and is_narrow(observer)


def is_narrow(observer: AnyModule | None) -> bool:
    """Return True if an observer of activations asks for fewer integers than operations give.

    For a fake quantizer any range counts that is neither that of the dtype nor the 7 bits of
    ``reduce_range``: a model was trained in it. An observer only measures, so that a range counts
    if it has less than 7 bits, as one must have a reason for. The 7 bits of ``reduce_range`` are no
    such format but a precaution against overflow in the next product; what lies outside the
    calibrated range is better off with the eighth bit.

    Examples
    --------
    >>> from pyqref.quantization import MinMaxObserver
    >>> [
    ...     is_narrow(MinMaxObserver(**options))
    ...     for options in ({}, {"reduce_range": True}, {"quant_min": 0, "quant_max": 15})
    ... ]
    [False, False, True]
    """
    chosen, dtype = range_of(observer), getattr(observer, "dtype", None)
    if chosen is None or not isinstance(dtype, Dtype) or not dtype.is_quantized:
        return False
    full = quant_range(dtype)
    inside = max(chosen[0], full[0]), min(chosen[1], full[1])
    if hasattr(observer, "fake_quant_enabled"):
        return inside not in (full, quant_range(dtype, reduce=True))
    return inside[1] - inside[0] + 1 <= SIX_BITS
