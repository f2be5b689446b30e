"""Fake quantization whose scale and zero point are trained."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref.backends import quantized as settings
from pyqref.tape.learnable_fake_quantize import (
    FakeQuantizeLearnablePerChannelAffine,
    FakeQuantizeLearnablePerTensorAffine,
)

from .arguments import as_integer, as_number
from .base import TensorBase
from .dispatch import apply
from .fake_quantize import check_input
from .quantized.validation import no_such_axis

__all__ = [
    "_fake_quantize_learnable_per_channel_affine",
    "_fake_quantize_learnable_per_tensor_affine",
]


def _fake_quantize_learnable_per_tensor_affine(
    self: Any,
    scale: Any,
    zero_point: Any,
    quant_min: int,
    quant_max: int,
    grad_factor: float = 1.0,
) -> Any:
    r"""Quantize and dequantize with one scale and zero point, which get gradients as well.

    The result is that of :func:`fake_quantize_per_tensor_affine` with the rounded zero point
    (``eq-fake-quantize``, ``eq-learnable-zero-point``); the gradients are
    ``eq-straight-through``, ``eq-learnable-scale-gradient`` and
    ``eq-learnable-zero-point-gradient``.

    Parameters
    ----------
    self : Tensor
        Floating point numbers of any shape.
    scale : Tensor
        One positive and finite number.
    zero_point : Tensor
        One number. It is rounded and clamped to [quant_min, quant_max].
    quant_min, quant_max
        Range of the integers.
    grad_factor
        By which the gradients of scale and zero point are multiplied.

    Returns
    -------
    Tensor
        Of the shape and dtype of ``self``.

    Raises
    ------
    TypeError
        ``self`` is no tensor of floating point numbers, or scale or zero point no tensor.
    ValueError
        ``scale``, ``zero_point`` or the range is out of its own range.

    Notes
    -----
    torch takes a scale of 0 and below as well, and gives numbers of no use. The gradients of
    scale and zero point are sums, rounded once here and step by step in torch: they differ
    within ``eq-learnable-gradient-error``. Source:
    ``torch._fake_quantize_learnable_per_tensor_affine``; S. K. Esser et al., *Learned step size
    quantization*, ICLR 2020.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([-1.0, 0.75, 9.0])
    >>> scale = pyqref.tensor([0.5], requires_grad=True)
    >>> y = pyqref._fake_quantize_learnable_per_tensor_affine(x, scale, pyqref.zeros(1), 0, 3)
    >>> y.sum().backward()
    >>> scale.grad  # 0 is clamped from below, (2 - 0.75 / 0.5) rounded, 3 clamped from above
    tensor([3.5000])
    """
    name = "_fake_quantize_learnable_per_tensor_affine"
    limits = check_input(name, self, quant_min, quant_max)
    for what, value in (("scale", scale), ("zero_point", zero_point)):
        _check_grid(name, what, value)
        if value._array.size != 1:
            raise ValueError(f"{name}: {what} must have one element, got {tuple(value.shape)}")
    return apply(
        FakeQuantizeLearnablePerTensorAffine,
        self,
        scale,
        zero_point,
        limits=limits,
        factor=as_number(grad_factor, f"{name}: grad_factor"),
        convention=settings.conventions,
    )


def _fake_quantize_learnable_per_channel_affine(
    self: Any,
    scale: Any,
    zero_point: Any,
    axis: int,
    quant_min: int,
    quant_max: int,
    grad_factor: float = 1.0,
) -> Any:
    r"""Quantize and dequantize with learned scales and zero points along an axis.

    As :func:`_fake_quantize_learnable_per_tensor_affine`, for each channel by itself
    (``eq-fake-quantize-channel``).

    Parameters
    ----------
    self : Tensor
        Floating point numbers ``(..., C, ...)``, C at ``axis``.
    scale, zero_point : Tensor
        ``(C,)``, as in :func:`_fake_quantize_learnable_per_tensor_affine`.
    axis
        The axis of the channels.
    quant_min, quant_max, grad_factor
        As in :func:`_fake_quantize_learnable_per_tensor_affine`.

    Raises
    ------
    TypeError
        ``self`` is no tensor of floating point numbers, or scale or zero point no tensor.
    IndexError
        ``self`` has no axis ``axis``.
    ValueError
        A shape does not fit, or a value is out of range.

    Notes
    -----
    torch refuses a negative axis, and gives the gradients of inputs of one axis the wrong
    shape. Source: ``torch._fake_quantize_learnable_per_channel_affine``.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([[-1.0, 0.75], [9.0, 0.75]])
    >>> scale = pyqref.tensor([0.5, 0.5], requires_grad=True)
    >>> y = pyqref._fake_quantize_learnable_per_channel_affine(x, scale, pyqref.zeros(2), 0, 0, 3)
    >>> y.sum().backward()
    >>> scale.grad
    tensor([0.5000, 3.5000])
    """
    name = "_fake_quantize_learnable_per_channel_affine"
    limits = check_input(name, self, quant_min, quant_max)
    axis, ndim = as_integer(axis, f"{name}: axis"), self._array.ndim
    if not -ndim <= axis < ndim:
        raise no_such_axis(f"{name}: axis", axis, ndim)
    channels = (self._array.shape[axis],)
    for what, value in (("scale", scale), ("zero_point", zero_point)):
        _check_grid(name, what, value)
        if value._array.shape != channels:
            raise ValueError(
                f"{name}: {what} must have shape {channels}, one for each index of axis {axis} "
                f"of the input, got {tuple(value.shape)}"
            )
    return apply(
        FakeQuantizeLearnablePerChannelAffine,
        self,
        scale,
        zero_point,
        axis=axis % ndim,
        limits=limits,
        factor=as_number(grad_factor, f"{name}: grad_factor"),
        convention=settings.conventions,
    )


def _check_grid(name: str, what: str, value: Any) -> None:
    """Refuse a scale or zero point that is no tensor of numbers in its range."""
    if not isinstance(value, TensorBase) or value.is_quantized:
        raise TypeError(
            f"{name}: {what} must be a Tensor, got {getattr(value, 'dtype', type(value).__name__)}"
        )
    array = value._array
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name}: {what} must hold numbers, got {value.dtype!r}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: {what} must be finite, got {array}")
    if what == "scale":
        with np.errstate(over="ignore", under="ignore"):
            kept = array.astype(np.float32)
        if not ((kept > 0) & np.isfinite(kept)).all():
            raise ValueError(
                f"{name}: scale must be positive and finite in float32, got {array}; after a "
                "step of an optimizer, scale.data.clamp_(min=1e-7) keeps it so"
            )
