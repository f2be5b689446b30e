"""Ranges of integers, and the parameters of a range of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref._typing import Module, Tensor
from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import (
    int8,
    int16,
    int32,
    per_channel_affine,
    per_channel_affine_float_qparams,
    per_channel_symmetric,
    per_tensor_affine,
    per_tensor_symmetric,
    qint8,
    qint32,
    quint2x4,
    quint4x2,
    quint8,
    uint8,
)
from pyqref.dtypes import qscheme as Qscheme
from pyqref.quantization.fake_quantize.base import FakeQuantizeBase
from pyqref.quantization.observer.base import ObserverBase
from pyqref.quantization.observer.min_max import MinMaxObserver
from pyqref.quantization.observer.per_channel_min_max import PerChannelMinMaxObserver
from pyqref.quantization.observer.placeholder import PlaceholderObserver

__all__ = [
    "calculate_qmin_qmax",
    "check_min_max_valid",
    "determine_qparams",
    "get_qparam_dict",
    "is_per_channel",
    "is_per_tensor",
    "to_underlying_dtype",
    "validate_qmin_qmax",
]

_UNDERLYING = {
    quint8: uint8,
    qint8: int8,
    qint32: int32,
    quint4x2: uint8,
    quint2x4: uint8,
    **{each: each for each in (uint8, int8, int16, int32)},
}


def is_per_tensor(qscheme: Qscheme) -> bool:
    """Return True if a scheme has one scale for the whole tensor.

    Examples
    --------
    >>> import pyqref
    >>> is_per_tensor(pyqref.per_tensor_symmetric), is_per_tensor(pyqref.per_channel_affine)
    (True, False)
    """
    return qscheme in (per_tensor_affine, per_tensor_symmetric)


def is_per_channel(qscheme: Qscheme) -> bool:
    """Return True if a scheme has a scale for each channel.

    Examples
    --------
    >>> import pyqref
    >>> is_per_channel(pyqref.per_tensor_symmetric), is_per_channel(pyqref.per_channel_affine)
    (False, True)
    """
    channels = (per_channel_affine, per_channel_affine_float_qparams, per_channel_symmetric)
    return qscheme in channels


def to_underlying_dtype(qdtype: Dtype) -> Dtype:
    """The integers in which a quantized type is stored.

    Raises
    ------
    ValueError
        ``qdtype`` is no quantized or integer type.

    Examples
    --------
    >>> import pyqref
    >>> to_underlying_dtype(pyqref.qint8)
    pyqref.int8
    """
    if qdtype not in _UNDERLYING:
        raise ValueError(f"qdtype must be one of {tuple(_UNDERLYING)}, got {qdtype!r}")
    return _UNDERLYING[qdtype]


def validate_qmin_qmax(quant_min: int, quant_max: int) -> None:
    """Refuse a range of integers that quantization cannot use.

    Raises
    ------
    ValueError
        The range does not contain 0, or is a single integer.

    Examples
    --------
    >>> validate_qmin_qmax(-128, 127)
    >>> validate_qmin_qmax(1, 255)
    Traceback (most recent call last):
        ...
    ValueError: the range quant_min..quant_max must contain 0, got [1, 255]
    """
    if not quant_min <= 0 <= quant_max:
        raise ValueError(
            f"the range quant_min..quant_max must contain 0, got [{quant_min}, {quant_max}]"
        )
    if quant_min == quant_max:
        raise ValueError(f"quant_min must be less than quant_max, got [{quant_min}, {quant_max}]")


def calculate_qmin_qmax(
    quant_min: int, quant_max: int, has_customized_qrange: bool, dtype: Dtype, reduce_range: bool
) -> tuple[int, int]:
    """The range of integers that an observer uses.

    Parameters
    ----------
    quant_min, quant_max
        The user's range; looked at only if ``has_customized_qrange``.
    has_customized_qrange
        Whether there is one.
    dtype
        The type whose range is used otherwise.
    reduce_range
        Whether to take one bit off.

    Examples
    --------
    >>> import pyqref
    >>> calculate_qmin_qmax(0, 255, False, pyqref.qint8, True)
    (-64, 63)
    """
    given = (quant_min, quant_max) if has_customized_qrange else (None, None)
    observer = MinMaxObserver(
        dtype=dtype, reduce_range=reduce_range, quant_min=given[0], quant_max=given[1]
    )
    return observer.quant_min, observer.quant_max


def check_min_max_valid(min_val: Tensor, max_val: Tensor) -> bool:
    """Return True if a range was observed, and False before any data.

    Raises
    ------
    ValueError
        A minimum exceeds its maximum.

    Examples
    --------
    >>> import pyqref
    >>> check_min_max_valid(pyqref.tensor(-1.0), pyqref.tensor(2.0))
    True
    """
    low, high = np.asarray(min_val), np.asarray(max_val)
    if low.size == 0 or high.size == 0:
        return False
    if low.ndim == 0 and low == np.inf and high == -np.inf:
        return False
    if (low > high).any():
        raise ValueError(f"min_val must not exceed max_val, got {low} and {high}")
    return True


def determine_qparams(
    min_val: Tensor,
    max_val: Tensor,
    quant_min: int,
    quant_max: int,
    dtype: Dtype,
    eps: float,
    has_customized_qrange: bool,
    qscheme: Qscheme = per_tensor_affine,
) -> tuple[Any, Any]:
    """Scale and zero point of a range, as an observer works them out (``eq-choose-qparams``).

    Parameters
    ----------
    min_val, max_val
        Tensors of shape ``()``, or ``(C,)`` for a scheme per channel.
    quant_min, quant_max
        The integers that are used.
    dtype
        Their type.
    eps
        Smallest scale.
    has_customized_qrange
        Whether the integers are not those of the type, so that the zero point of symmetric
        quantization is their midpoint.
    qscheme
        The scheme.

    Returns
    -------
    tuple of Tensor
        The float32 scale as float64, and the zero point as int64, as torch gives them.

    Examples
    --------
    >>> import pyqref
    >>> low, high = pyqref.tensor(-1.0), pyqref.tensor(254.0)
    >>> determine_qparams(low, high, 0, 255, pyqref.quint8, 1e-7, False)
    (tensor([1.], dtype=pyqref.float64), tensor([1]))
    """
    if not isinstance(qscheme, Qscheme):
        raise TypeError(f"determine_qparams: qscheme must be a qscheme, got {qscheme!r}")
    for name, value in (("min_val", min_val), ("max_val", max_val)):
        if not hasattr(value, "_array"):
            raise TypeError(f"determine_qparams: {name} must be a tensor, got {value!r}")
    kind = PerChannelMinMaxObserver if qscheme.is_per_channel else MinMaxObserver
    given = (quant_min, quant_max) if has_customized_qrange else (None, None)
    observer = kind(
        dtype=dtype, qscheme=qscheme, quant_min=given[0], quant_max=given[1], eps=float(eps)
    )
    observer.quant_min, observer.quant_max = quant_min, quant_max
    scale, zero_point = observer._calculate_qparams(min_val, max_val)
    return scale.double(), zero_point.long()


def get_qparam_dict(observer_or_fake_quant: Module) -> dict[str, Any]:
    """All that quantizing with an observer's parameters takes.

    Returns
    -------
    dict
        ``qscheme`` and ``dtype``; where it has any, ``scale``, ``zero_point``, ``quant_min``,
        ``quant_max`` and, per channel, ``axis``.

    Examples
    --------
    >>> import pyqref
    >>> observer = pyqref.quantization.MinMaxObserver()
    >>> _ = observer(pyqref.tensor([0.0, 255.0]))
    >>> get_qparam_dict(observer)["scale"]
    tensor([1.])
    """
    observer = observer_or_fake_quant
    if not isinstance(observer, ObserverBase | FakeQuantizeBase):
        raise TypeError(
            f"observer_or_fake_quant must be an observer or a fake quantizer, got {observer!r}"
        )
    scheme = getattr(observer, "qscheme", None)
    found: dict[str, Any] = {"qscheme": scheme, "dtype": observer.dtype}
    if scheme is None or isinstance(observer, PlaceholderObserver):
        return {"qscheme": None, "dtype": observer.dtype}
    if is_per_channel(scheme):
        found["axis"] = observer.ch_axis
    found["scale"], found["zero_point"] = observer.calculate_qparams()
    for name in ("quant_min", "quant_max"):
        if hasattr(observer, name):
            found[name] = getattr(observer, name)
    return found
