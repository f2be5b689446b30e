"""Fake quantization of tensors: to the grid of integers and back, with gradients."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref.backends import quantized as settings
from pyqref.numerics.dynamic_qparams import choose_qparams_dynamic, choose_qparams_of_range
from pyqref.numerics.fused_observe import fused_average, fused_average_of_one
from pyqref.tape import Array
from pyqref.tape.fake_quantize import FakeQuantizePerChannel, FakeQuantizePerTensor

from .arguments import as_flag, as_integer, as_number, described
from .base import TensorBase
from .dispatch import apply

__all__ = [
    "fake_quantize_per_channel_affine",
    "fake_quantize_per_tensor_affine",
    "fused_moving_avg_obs_fake_quant",
]

#: Scales between these are positive and finite in float32.
_SMALLEST, _LARGEST = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)


def fake_quantize_per_tensor_affine(
    input: Any, scale: Any, zero_point: Any, quant_min: int, quant_max: int
) -> Any:
    r"""Quantize and dequantize with one scale and zero point.

    .. math:: y = (\mathrm{clamp}(\mathrm{round}(x / s + z), q_{min}, q_{max}) - z) \cdot s

    (``eq-fake-quantize``), with the straight-through gradient
    (``eq-straight-through``).

    Parameters
    ----------
    input : Tensor
        Floating point numbers of any shape.
    scale : float or Tensor
        Positive and finite; a tensor has one element.
    zero_point : int or Tensor
        In [quant_min, quant_max].
    quant_min, quant_max
        Range of the integers.

    Returns
    -------
    Tensor
        Of the shape and dtype of ``input``.

    Raises
    ------
    TypeError
        ``input`` is no tensor of floating point numbers.
    ValueError
        ``scale``, ``zero_point`` or the range is out of its own range.

    Notes
    -----
    torch adds the zero point after rounding: ``pyqref.backends.quantized.conventions``.
    Source: ``torch.fake_quantize_per_tensor_affine``.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([-0.3, 0.26, 99.0], requires_grad=True)
    >>> y = pyqref.fake_quantize_per_tensor_affine(x, 0.5, 0, 0, 255)
    >>> y
    tensor([ 0.0000,  0.5000, 99.0000], grad_fn=<FakeQuantizePerTensorBackward0>)
    >>> y.sum().backward()
    >>> x.grad
    tensor([0., 1., 1.])
    """
    name = "fake_quantize_per_tensor_affine"
    quant_min, quant_max = _check_input(name, input, quant_min, quant_max)
    if not (type(scale) is float and type(zero_point) is int):
        scale, zero_point = _single("scale", scale), _single("zero_point", zero_point)
    if not (_SMALLEST <= scale <= _LARGEST and quant_min <= zero_point <= quant_max):
        arrays = np.asarray(scale), np.asarray(zero_point)
        _check_parameters(name, *arrays, quant_min, quant_max)
    return apply(
        FakeQuantizePerTensor, input, scale, zero_point, quant_min, quant_max, settings.conventions
    )


def _single(what: str, value: Any) -> Any:
    """The scale or the zero point of a whole tensor as a plain number."""
    name = f"fake_quantize_per_tensor_affine: {what}"
    if isinstance(value, (TensorBase, list, tuple)) and len(_flat(value)) != 1:
        raise ValueError(f"{name} must have one element, got {described(value)}")
    return as_number(value, name) if what == "scale" else as_integer(value, name)


def fake_quantize_per_channel_affine(
    input: Any, scale: Any, zero_point: Any, axis: int, quant_min: int, quant_max: int
) -> Any:
    r"""Quantize and dequantize with a scale and zero point for each index of an axis.

    As :func:`fake_quantize_per_tensor_affine`, for each channel by itself
    (``eq-fake-quantize-channel``, ``eq-straight-through``).

    Parameters
    ----------
    input : Tensor
        Floating point numbers ``(..., C, ...)``, C at ``axis``.
    scale : Tensor
        ``(C,)``, positive and finite.
    zero_point : Tensor
        ``(C,)``: integers in [quant_min, quant_max], or floats, then unlimited.
    axis
        The axis of the channels.
    quant_min, quant_max
        Range of the integers.

    Raises
    ------
    TypeError
        ``input`` is no tensor of floating point numbers.
    IndexError
        ``input`` has no axis ``axis``.
    ValueError
        A shape does not fit, or a value is out of range.

    Notes
    -----
    Source: ``torch.fake_quantize_per_channel_affine``.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([[1.2, 1.2], [1.2, 1.2]])
    >>> scale, zero_point = pyqref.tensor([1.0, 0.5]), pyqref.tensor([0, 0])
    >>> pyqref.fake_quantize_per_channel_affine(x, scale, zero_point, 0, 0, 255)
    tensor([[1., 1.],
            [1., 1.]])
    """
    name = "fake_quantize_per_channel_affine"
    quant_min, quant_max = _check_input(name, input, quant_min, quant_max)
    with np.errstate(over="ignore"):
        scales = _values(f"{name}: scale", scale).astype(np.float32)
    zero_points = _values(f"{name}: zero_point", zero_point)
    axis = as_integer(axis, f"{name}: axis")
    ndim = input._array.ndim
    if not -ndim <= axis < ndim:
        raise IndexError(f"{name}: axis must be in [{-ndim}, {ndim - 1}], got {axis}")
    channels = input._array.shape[axis]
    for what, value in (("scale", scales), ("zero_point", zero_points)):
        if value.shape != (channels,):
            raise ValueError(
                f"{name}: {what} must have shape ({channels},), one for each index of axis {axis} "
                f"of the input, got {value.shape}"
            )
    _check_parameters(name, scales, zero_points, quant_min, quant_max)
    return apply(
        FakeQuantizePerChannel,
        input,
        scales,
        zero_points,
        axis % ndim,
        quant_min,
        quant_max,
        settings.conventions,
    )


def fused_moving_avg_obs_fake_quant(
    input: Any,
    observer_on: Any,
    fake_quant_on: Any,
    running_min: Any,
    running_max: Any,
    scale: Any,
    zero_point: Any,
    averaging_const: float,
    quant_min: int,
    quant_max: int,
    ch_axis: int = -1,
    per_row_fake_quant: bool = False,
    symmetric_quant: bool = False,
) -> Any:
    """Update a moving average of the range, choose parameters for it, and fake quantize.

    ``eq-fused-average``, then ``eq-choose-qparams-dynamic``, then ``eq-fake-quantize``.

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
    quant_min, quant_max, ch_axis
        As in :func:`fake_quantize_per_channel_affine`.
    per_row_fake_quant
        Parameters for each index of ``ch_axis``.
    symmetric_quant
        Put zero in the middle where the range contains it.

    Raises
    ------
    ValueError
        While observing: ``input`` holds nan or infinity.

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
    quant_min, quant_max = _check_input(name, input, quant_min, quant_max)
    if quant_min == quant_max:
        raise ValueError(
            f"{name}: quant_min must be less than quant_max, got [{quant_min}, {quant_max}]"
        )
    per_row = as_flag(per_row_fake_quant, f"{name}: per_row_fake_quant")
    ch_axis = as_integer(ch_axis, f"{name}: ch_axis")
    axis = _channel_axis(name, ch_axis, input._array.ndim) if per_row else None
    channels = 1 if axis is None else input._array.shape[axis]
    for what, state in (("running_min", running_min), ("running_max", running_max)):
        _check_state(f"{name}: {what}", state, channels)
    for what, state in (("scale", scale), ("zero_point", zero_point)):
        _check_state(f"{name}: {what}", state, channels)
    constant = as_number(averaging_const, f"{name}: averaging_const", finite=True)
    if not 0 <= constant <= 1:
        raise ValueError(f"{name}: averaging_const must be in [0, 1], got {constant}")
    symmetric_quant = as_flag(symmetric_quant, f"{name}: symmetric_quant")
    if _is_on(name, "observer_on", observer_on) and input._array.size:
        array = np.ascontiguousarray(input._array, dtype=np.float32)
        _observe(array, running_min, running_max, constant, axis)
    if not (_is_on(name, "fake_quant_on", fake_quant_on) and input._array.size):
        return input
    if per_row:
        _resize(running_min, running_max, channels)
    _choose(running_min, running_max, scale, zero_point, quant_min, quant_max, symmetric_quant)
    if per_row:
        return fake_quantize_per_channel_affine(
            input, scale, zero_point, ch_axis, quant_min, quant_max
        )
    parameters = scale._array.item(), zero_point._array.item()
    return fake_quantize_per_tensor_affine(input, *parameters, quant_min, quant_max)


def _is_on(name: str, what: str, switch: Any) -> bool:
    """Whether a switch, a tensor of one element or a number, is 1."""
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
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        nans, infinities = int(np.isnan(array).sum()), int(np.isinf(array).sum())
        raise ValueError(
            f"input: observed data must be finite, got {nans} nan and {infinities} infinite "
            f"of {array.size} elements"
        )
    for running, batch in ((running_min, low), (running_max, high)):
        before = running._array
        if before.size != np.size(batch):
            before = np.full(np.shape(batch), np.inf, np.float32)
        _assign(running, fused_average(before, batch, constant))


def _move(running: Any, batch: Any, constant: float) -> None:
    """One end of the range, of one element."""
    running._array.fill(fused_average_of_one(running._array.item(), float(batch), constant))
    running._version[0] += 1


def _resize(running_min: Any, running_max: Any, channels: int) -> None:
    """Ranges of channels that were never observed are empty."""
    for running, empty in ((running_min, np.inf), (running_max, -np.inf)):
        if running._array.size != channels:
            _assign(running, np.full(channels, empty))


def _choose(
    running_min: Any,
    running_max: Any,
    scale: Any,
    zero_point: Any,
    quant_min: int,
    quant_max: int,
    symmetric: bool,
) -> None:
    """Scale and zero point for the running range."""
    low, high = running_min._array, running_max._array
    if not symmetric and low.size == high.size == scale._array.size == zero_point._array.size == 1:
        chosen = choose_qparams_of_range(low.item(), high.item(), quant_min, quant_max, single=True)
        for tensor, value in zip((scale, zero_point), chosen, strict=True):
            tensor._array.fill(value)
            tensor._version[0] += 1
        return
    scales, zero_points = choose_qparams_dynamic(
        np.atleast_1d(low),
        np.atleast_1d(high),
        quant_min,
        quant_max,
        symmetric=symmetric,
        single=True,
    )
    _assign(scale, scales)
    _assign(zero_point, zero_points)


def _assign(tensor: Any, values: Array) -> None:
    """Change a tensor in place, its size too."""
    own = tensor._array
    values = np.asarray(values).astype(own.dtype)
    if values.size == own.size:
        own[...] = values.reshape(own.shape)
    else:
        tensor._array = values
    tensor._version[0] += 1


def _flat(value: Any) -> Any:
    return value._array.reshape(-1) if isinstance(value, TensorBase) else value


def _values(name: str, value: Any) -> Array:
    """The numbers of a tensor or a list."""
    try:
        array = value._array if isinstance(value, TensorBase) else np.asarray(value)
    except (TypeError, ValueError, RuntimeError):
        array = np.asarray(None)
    if array.dtype.kind not in "iuf" or getattr(value, "is_quantized", False):
        raise TypeError(f"{name} must hold numbers, got {described(value)}")
    return array


def _channel_axis(name: str, axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:
        raise IndexError(f"{name}: ch_axis must be in [{-ndim}, {ndim - 1}], got {axis}")
    return axis % ndim


def _check_state(name: str, state: Any, channels: int) -> None:
    """A tensor that is not quantized, with one element, none yet, or one for each channel."""
    if not isinstance(state, TensorBase) or state.is_quantized:
        raise TypeError(f"{name} must be a tensor that is not quantized, got {described(state)}")
    if state._array.size not in (0, 1, channels):
        wanted = "1 element" if channels == 1 else f"1 or {channels} elements"
        raise ValueError(f"{name} must have {wanted}, got shape {state._array.shape}")


def _check_input(name: str, input: Any, quant_min: Any, quant_max: Any) -> tuple[int, int]:
    if not isinstance(input, TensorBase):
        raise TypeError(f"{name}: input must be a Tensor, got {type(input).__name__}")
    if not input.dtype.is_floating_point:
        raise TypeError(
            f"{name}: input must be of a floating point dtype, got {input.dtype!r}; "
            "call dequantize() or float() first"
        )
    low = as_integer(quant_min, f"{name}: quant_min")
    high = as_integer(quant_max, f"{name}: quant_max")
    if low > high:
        raise ValueError(f"{name}: quant_min must not exceed quant_max, got [{low}, {high}]")
    if low < -(2**31) or high >= 2**31:
        raise ValueError(f"{name}: quant_min and quant_max must fit 32 bits, got [{low}, {high}]")
    return low, high


def _check_parameters(
    name: str, scale: Array, zero_point: Array, quant_min: int, quant_max: int
) -> None:
    with np.errstate(over="ignore", under="ignore"):
        kept = scale.astype(np.float32)
    if not ((kept > 0) & np.isfinite(kept)).all():
        raise ValueError(f"{name}: scale must be positive and finite in float32, got {scale}")
    if zero_point.dtype.kind not in "iuf":
        raise TypeError(f"{name}: zero_point must be integers or floats, got {zero_point.dtype}")
    inside = (zero_point >= quant_min) & (zero_point <= quant_max)
    if zero_point.dtype.kind in "iu" and not inside.all():
        raise ValueError(
            f"{name}: zero_point must be in [{quant_min}, {quant_max}], got {zero_point}"
        )
