"""Observe a moving range, choose parameters and fake quantize, in one function."""

from __future__ import annotations

from math import isfinite, isnan
from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref._kernels.observe.one_range import choose_qparams_of_range, fused_average_of_one
from pyqref._typing import Tensor
from pyqref.backends import quantized as settings
from pyqref.tape import Array

from .arguments import as_flag, as_integer, as_number, refused_number
from .assign import assign
from .base import TensorBase
from .fake_quantize import (
    check_input,
    fake_quantize_per_channel_affine,
    fake_quantize_per_tensor_affine,
    refuse_learned,
)
from .quantized.validation import no_such_axis

__all__ = ["choose_for_range", "fused_moving_avg_obs_fake_quant"]

_FLOAT32 = np.dtype(np.float32)


def fused_moving_avg_obs_fake_quant(
    input: Tensor,
    observer_on: Tensor,
    fake_quant_on: Tensor,
    running_min: Tensor,
    running_max: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    averaging_const: float,
    quant_min: int,
    quant_max: int,
    ch_axis: int = -1,
    per_row_fake_quant: bool = False,
    symmetric_quant: bool = False,
) -> Tensor:
    """Update a moving average of the range, choose parameters for it, and fake quantize.

    ``eq-fused-average``, then ``eq-choose-qparams-dynamic``, then ``eq-fake-quantize``. A range of
    one point gives scale 1.0 and zero point 0, as the observers are documented to do.

    Parameters
    ----------
    input : Tensor
        Floating point numbers.
    observer_on, fake_quant_on : Tensor
        One element; 1 means on.
    running_min, running_max, scale, zero_point : Tensor
        State, changed in place; per row it gets the size of the channel axis.
    averaging_const
        Weight of this tensor's range.
    quant_min, quant_max
        Range of the integers.
    ch_axis
        The axis of the channels.
    per_row_fake_quant
        Parameters for each index of ``ch_axis``.
    symmetric_quant
        Put zero in the middle where the range contains it.

    Raises
    ------
    ValueError
        While observing: ``input`` holds nan or infinity.
    RuntimeError
        ``scale`` or ``zero_point`` requires a gradient.

    Notes
    -----
    ``scale`` and ``zero_point`` are chosen only while fake quantization is on. Source:
    ``torch.fused_moving_avg_obs_fake_quant``; torch knows ``ch_axis`` 0 only.

    Examples
    --------
    >>> import pyqref
    >>> on = pyqref.tensor([1])
    >>> low, high = pyqref.tensor(float("inf")), pyqref.tensor(float("-inf"))
    >>> scale, zero_point = pyqref.ones(1), pyqref.zeros(1, dtype=pyqref.int32)
    >>> x = pyqref.tensor([0.0, 1.0, 2.55])
    >>> y = pyqref.fused_moving_avg_obs_fake_quant(
    ...     x, on, on, low, high, scale, zero_point, 0.01, 0, 255, 0
    ... )
    >>> low.item(), round(high.item(), 2), round(scale.item(), 4)
    (0.0, 2.55, 0.01)
    """
    name = "fused_moving_avg_obs_fake_quant"
    quant_min, quant_max = check_input(name, input, quant_min, quant_max)
    if quant_min == quant_max:
        raise ValueError(
            f"{name}: quant_min must be less than quant_max, got [{quant_min}, {quant_max}]"
        )
    per_row = as_flag(per_row_fake_quant, f"{name}: per_row_fake_quant")
    ch_axis = as_integer(ch_axis, f"{name}: ch_axis")
    axis = _channel_axis(name, ch_axis, input._array.ndim) if per_row else None
    channels = 1 if axis is None else input._array.shape[axis]
    _check_state("running_min", running_min, channels)
    _check_state("running_max", running_max, channels)
    _check_state("scale", scale, channels)
    _check_state("zero_point", zero_point, channels)
    if scale._goes_to or zero_point._goes_to:
        refuse_learned(name, "quantization._learnable_fake_quantize._LearnableFakeQuantize")
    constant = as_number(averaging_const, f"{name}: averaging_const", finite=True)
    if not 0 <= constant <= 1:
        raise ValueError(f"{name}: averaging_const must be in [0, 1], got {constant}")
    symmetric_quant = as_flag(symmetric_quant, f"{name}: symmetric_quant")
    observes = _is_on(name, "observer_on", observer_on)
    fake_quantizes = _is_on(name, "fake_quant_on", fake_quant_on)
    if observes and input._array.size:
        array = input._array
        if array.dtype != _FLOAT32 or not array.ndim:
            array = np.ascontiguousarray(array, dtype=_FLOAT32)
        _observe(array, running_min, running_max, constant, axis)
    if not (fake_quantizes and input._array.size):
        return input
    if per_row:
        _resize(running_min, running_max, channels)
    choose_for_range(
        running_min, running_max, scale, zero_point, quant_min, quant_max, symmetric_quant
    )
    if per_row:
        return fake_quantize_per_channel_affine(
            input, scale, zero_point, ch_axis, quant_min, quant_max
        )
    parameters = scale._array.item(), zero_point._array.item()
    return fake_quantize_per_tensor_affine(input, *parameters, quant_min, quant_max)


def _is_on(name: str, what: str, switch: Any) -> bool:
    """Return True if a switch, a tensor of one element or a number, is 1."""
    if isinstance(switch, TensorBase):
        array = switch._array
        if array.size == 1 and array.dtype.kind in "iub" and not switch.is_quantized:
            return bool(array.item() == 1)
    return as_integer(switch, f"{name}: {what}") == 1


def _observe(
    array: Array, running_min: Any, running_max: Any, constant: float, axis: int | None
) -> None:
    """One step of the moving average of the range."""
    if axis is None:
        low, high = _kernels.min_max(array)
    else:
        low, high = _kernels.min_max_per_channel(array, axis)
    of_one = axis is None and running_min._array.size == running_max._array.size == 1
    if of_one and isfinite(low) and isfinite(high):
        _move(running_min, low, constant)
        _move(running_max, high, constant)
        return
    if not all(isfinite(end) for each in (low, high) for end in _ends(each)):
        nans, infinities = int(np.isnan(array).sum()), int(np.isinf(array).sum())
        raise ValueError(
            f"input: observed data must be finite, got {nans} nan and {infinities} infinite "
            f"of {array.size} elements"
        )
    for running, batch in ((running_min, low), (running_max, high)):
        before = running._array
        if before.size != np.size(batch):
            before = np.full(np.shape(batch), np.inf, np.float32)
        assign(running, _kernels.fused_average(before, batch, constant))


def _ends(values: Any) -> tuple[float, float]:
    """The smallest and the largest of an array, or a number twice."""
    return _kernels.extremes(values) if values.ndim else (values, values)


def _move(running: Any, batch: Any, constant: float) -> None:
    """One end of the range, of one element."""
    running._array.fill(fused_average_of_one(running._array.item(), float(batch), constant))
    running._version[0] += 1


def _nan_range(low: Array, high: Array) -> ValueError:
    count = int(np.isnan(low).sum()), int(np.isnan(high).sum())
    return ValueError(
        "fused_moving_avg_obs_fake_quant: running_min and running_max must be numbers, got "
        f"{count[0]} and {count[1]} nan; set them to inf and -inf to begin again"
    )


def _resize(running_min: Any, running_max: Any, channels: int) -> None:
    """Ranges of channels that were never observed are empty."""
    for running, empty in ((running_min, np.inf), (running_max, -np.inf)):
        if running._array.size != channels:
            assign(running, np.full(channels, empty))


def choose_for_range(
    running_min: Any,
    running_max: Any,
    scale: Any,
    zero_point: Any,
    quant_min: int,
    quant_max: int,
    symmetric: bool,
) -> None:
    """Scale and zero point for the running range (``eq-fused-observe``)."""
    low, high = running_min._array, running_max._array
    if not symmetric and low.size == high.size == scale._array.size == zero_point._array.size == 1:
        ends = low.item(), high.item()
        if isnan(ends[0]) or isnan(ends[1]):
            raise _nan_range(low, high)
        if ends[0] == ends[1] and settings.conventions == "documented":
            chosen = 1.0, 0
        else:
            chosen = choose_qparams_of_range(*ends, quant_min, quant_max, single=True)
        for tensor, value in zip((scale, zero_point), chosen, strict=True):
            tensor._array.fill(value)
            tensor._version[0] += 1
        return
    if np.isnan(low).any() or np.isnan(high).any():
        raise _nan_range(low, high)
    scales, zero_points = _kernels.choose_qparams_dynamic(
        np.atleast_1d(low),
        np.atleast_1d(high),
        quant_min,
        quant_max,
        symmetric=symmetric,
        single=True,
    )
    if settings.conventions == "documented":
        constant = np.atleast_1d(low == high)
        if constant.any():
            scales = np.where(constant, 1, scales)
            zero_points = np.where(constant, 0, zero_points)
    assign(scale, scales)
    assign(zero_point, zero_points)


def _channel_axis(name: str, axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:
        raise no_such_axis(f"{name}: ch_axis", axis, ndim)
    return axis % ndim


def _check_state(what: str, state: Any, channels: int) -> None:
    """A tensor that is not quantized, with one element, none yet, or one for each channel."""
    name = "fused_moving_avg_obs_fake_quant"
    if not isinstance(state, TensorBase) or state.is_quantized:
        raise TypeError(
            f"{name}: {what} must be a tensor that is not quantized, got {refused_number(state)}"
        )
    if state._array.size not in (0, 1, channels):
        wanted = "1 element" if channels == 1 else f"1 or {channels} elements"
        raise ValueError(f"{name}: {what} must have {wanted}, got shape {state._array.shape}")
