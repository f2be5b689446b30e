"""Fake quantization of tensors: to the grid of integers and back, with gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref.backends import quantized as settings
from pyqref.tape import Array, is_grad_enabled
from pyqref.tape.fake_quantize import FakeQuantizePerChannel, FakeQuantizePerTensor

from .arguments import as_integer, as_number, described, refused_number
from .base import TensorBase, wrap
from .dispatch import apply, is_recorded
from .foreign import kind_of
from .quantized.validation import no_such_axis
from .tensor import Tensor

__all__ = ["fake_quantize_per_channel_affine", "fake_quantize_per_tensor_affine"]

_FLOAT32 = np.dtype(np.float32)
#: Scales between these are positive and finite in float32.
_SMALLEST, _LARGEST = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)


def fake_quantize_per_tensor_affine(
    input: Tensor, scale: Any, zero_point: Any, quant_min: int, quant_max: int
) -> Tensor:
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
    RuntimeError
        ``scale`` or ``zero_point`` requires a gradient, which it would not get: see
        :func:`~pyqref.tensor.learnable_fake_quantize._fake_quantize_learnable_per_tensor_affine`.

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
    if type(scale) is not float or type(zero_point) is not int:
        try:
            learns = scale._goes_to or zero_point._goes_to
        except AttributeError:
            learns = _learns(scale) or _learns(zero_point)
        if learns:
            refuse_learned(
                "fake_quantize_per_tensor_affine", "_fake_quantize_learnable_per_tensor_affine"
            )
    name = "fake_quantize_per_tensor_affine"
    quant_min, quant_max = check_input(name, input, quant_min, quant_max)
    if not (type(scale) is float and type(zero_point) is int):
        scale, zero_point = _single("scale", scale), _single("zero_point", zero_point)
    if not (_SMALLEST <= scale <= _LARGEST and quant_min <= zero_point <= quant_max):
        arrays = np.asarray(scale), np.asarray(zero_point)
        _check_parameters(name, *arrays, quant_min, quant_max)
    parameters = scale, zero_point, quant_min, quant_max, settings.conventions
    if not is_recorded(input):
        array = input._array
        y, _ = _kernels.fake_quantize_per_tensor(array, *parameters, False)  # type: ignore[arg-type]
        return wrap(y)
    return apply(FakeQuantizePerTensor, input, parameters=parameters)


def _learns(value: Any) -> bool:
    return isinstance(value, TensorBase) and value.requires_grad


def refuse_learned(name: str, learnable: str) -> None:
    """Raise if gradients are recorded; called for a scale or zero point that requires one."""
    if is_grad_enabled():
        raise RuntimeError(
            f"{name} has no gradient with respect to scale and zero_point, one of which requires "
            f"it; call {learnable}, which has, or detach them"
        )


def _single(what: str, value: Any) -> Any:
    """The scale or the zero point of a whole tensor as a plain number."""
    kind = "f" if what == "scale" else "i"
    if type(value) is Tensor and value._array.size == 1 and value._array.dtype.kind == kind:
        return value._array.item()
    name = f"fake_quantize_per_tensor_affine: {what}"
    if isinstance(value, (TensorBase, list, tuple)) and len(_flat(value)) != 1:
        raise ValueError(f"{name} must have one element, got {described(value)}")
    return as_number(value, name) if what == "scale" else as_integer(value, name)


def fake_quantize_per_channel_affine(
    input: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> Tensor:
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
    RuntimeError
        ``scale`` or ``zero_point`` requires a gradient.

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
    try:
        learns = scale._goes_to or zero_point._goes_to
    except AttributeError:
        learns = _learns(scale) or _learns(zero_point)
    if learns:
        refuse_learned(
            "fake_quantize_per_channel_affine", "_fake_quantize_learnable_per_channel_affine"
        )
    name = "fake_quantize_per_channel_affine"
    quant_min, quant_max = check_input(name, input, quant_min, quant_max)
    shape = input._array.shape
    if (
        type(scale) is type(zero_point) is Tensor
        and type(axis) is int
        and -len(shape) <= axis < len(shape)
        and _kernels.is_grid(scale._array, zero_point._array, shape[axis], quant_min, quant_max)
    ):
        grid = scale._array, zero_point._array, axis % len(shape)
    else:
        grid = _checked_grid(name, shape, scale, zero_point, axis, quant_min, quant_max)
    parameters = *grid, quant_min, quant_max, settings.conventions
    if not is_recorded(input):
        array = input._array
        y, _ = _kernels.fake_quantize_per_channel(array, *parameters, False)  # type: ignore[arg-type]
        return wrap(y)
    return apply(FakeQuantizePerChannel, input, parameters=parameters)


def _checked_grid(
    name: str,
    shape: tuple[int, ...],
    scale: Any,
    zero_point: Any,
    axis: Any,
    quant_min: int,
    quant_max: int,
) -> tuple[Array, Array, int]:
    """Scales, zero points and the axis of channels of any kind; raise if they are not right."""
    scales = _single_precision(_values(name, "scale", scale))
    zero_points = _values(name, "zero_point", zero_point)
    axis = as_integer(axis, f"{name}: axis")
    ndim = len(shape)
    if not -ndim <= axis < ndim:
        raise no_such_axis(f"{name}: axis", axis, ndim)
    channels = shape[axis]
    if not scales.shape == zero_points.shape == (channels,):
        what, value = (
            ("scale", scales) if scales.shape != (channels,) else ("zero_point", zero_points)
        )
        raise ValueError(
            f"{name}: {what} must have shape ({channels},), one for each index of axis {axis} "
            f"of the input, got {value.shape}"
        )
    _check_parameters(name, scales, zero_points, quant_min, quant_max)
    return scales, zero_points, axis % ndim


def _flat(value: Any) -> Any:
    return value._array.reshape(-1) if isinstance(value, TensorBase) else value


def _values(name: str, what: str, value: Any) -> Array:
    """The numbers of a tensor or a list."""
    try:
        array = value._array if isinstance(value, TensorBase) else np.asarray(value)
    except (TypeError, ValueError, RuntimeError):
        array = np.asarray(None)
    if array.dtype.kind not in "iuf" or getattr(value, "is_quantized", False):
        raise TypeError(f"{name}: {what} must hold numbers, got {refused_number(value)}")
    return array


def check_input(name: str, input: Tensor, quant_min: int, quant_max: int) -> tuple[int, int]:
    """The range of the integers; raise unless it is one and the input a tensor of floats."""
    if not isinstance(input, TensorBase):
        raise TypeError(f"{name}: input must be a Tensor, got {kind_of(input)}")
    if input._array.dtype.kind != "f":
        raise TypeError(
            f"{name}: input must be of a floating point dtype, got {input.dtype!r}; "
            "call dequantize() or float() first"
        )
    if not (type(quant_min) is int and type(quant_max) is int):
        quant_min = as_integer(quant_min, f"{name}: quant_min")
        quant_max = as_integer(quant_max, f"{name}: quant_max")
    if -(2**31) <= quant_min <= quant_max < 2**31:
        return quant_min, quant_max
    got = f"got [{described(quant_min)}, {described(quant_max)}]"
    if quant_min > quant_max:
        raise ValueError(f"{name}: quant_min must not exceed quant_max, {got}")
    raise ValueError(f"{name}: quant_min and quant_max must fit 32 bits, {got}")


def _check_parameters(
    name: str, scale: Array, zero_point: Array, quant_min: int, quant_max: int
) -> None:
    kept = _single_precision(scale)
    if not kept.size:
        return
    smallest, largest = _kernels.extremes(kept)
    if not (smallest > 0 and largest <= _LARGEST):
        raise ValueError(f"{name}: scale must be positive and finite in float32, got {scale}")
    kind = zero_point.dtype.kind
    if kind == "f":
        return
    if kind not in "iu":
        raise TypeError(f"{name}: zero_point must be integers or floats, got {zero_point.dtype}")
    lowest, highest = _kernels.extremes(zero_point)
    if not (lowest >= quant_min and highest <= quant_max):
        raise ValueError(
            f"{name}: zero_point must be in [{quant_min}, {quant_max}], got {zero_point}"
        )


def _single_precision(scale: Array) -> Array:
    """Scales as float32; those that do not fit become 0 or infinite."""
    if scale.dtype == _FLOAT32:
        return scale
    with np.errstate(over="ignore", under="ignore"):
        return scale.astype(_FLOAT32)
