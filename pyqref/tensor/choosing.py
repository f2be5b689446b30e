"""Elements chosen between bounds, or by a condition."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from .._typing import Tensor, TensorOrNumber
from ..tape import bounds, elementwise
from .aliases import alias
from .base import ANY_TENSOR, wrap
from .dispatch import apply
from .foreign import no_tensor
from .inplace import in_place
from .promotion import fitting, promote
from .refusal import refuse_quantized
from .usual import own_numbers

__all__ = ["clamp", "clamp_max", "clamp_min", "clip", "where"]


def clamp(
    input: Tensor, min: TensorOrNumber | None = None, max: TensorOrNumber | None = None
) -> Tensor:
    """``min(max(input, min), max)``; a bound may be None, a number or a tensor.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.clamp(pyqref.tensor([-5.0, 0.5, 5.0]), -1.0, 1.0).tolist()
    [-1.0, 0.5, 1.0]
    """
    if min is None and max is None:
        raise RuntimeError("clamp: at least one of 'min' or 'max' must not be None")
    own = own_numbers(input, (min, max))
    if own is not None:
        return apply(bounds.Clamp, input, *own)
    input, *given = _fitted(input, *[each for each in (min, max) if each is not None])
    low, high = [None if each is None else given.pop(0) for each in (min, max)]
    return apply(bounds.Clamp, input, low, high)


def clamp_min(input: Tensor, min: TensorOrNumber) -> Tensor:
    """``max(input, min)``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.clamp_min(pyqref.tensor([-5.0, 5.0]), 1.0).tolist()
    [1.0, 5.0]
    """
    return clamp(input, min)


def clamp_max(input: Tensor, max: TensorOrNumber) -> Tensor:
    """``min(input, max)``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.clamp_max(pyqref.tensor([-5.0, 5.0]), 1.0).tolist()
    [-5.0, 1.0]
    """
    return clamp(input, None, max)


@overload
def where(condition: Tensor) -> tuple[Tensor, ...]: ...
@overload
def where(condition: Tensor, input: TensorOrNumber, other: TensorOrNumber) -> Tensor: ...
def where(
    condition: Tensor, input: TensorOrNumber | None = None, other: TensorOrNumber | None = None
) -> Tensor | tuple[Tensor, ...]:
    """``input`` where ``condition`` holds, else ``other``.

    With ``condition`` alone: the indices at which it holds, one tensor an axis.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.where(pyqref.tensor([True, False]), pyqref.tensor([1.0, 2.0]), 0.0).tolist()
    [1.0, 0.0]
    """
    if not isinstance(condition, ANY_TENSOR):
        raise no_tensor("where", "condition", condition)
    if input is None and other is None:
        refuse_quantized(condition)
        return tuple(wrap(index) for index in np.nonzero(np.atleast_1d(condition._array)))
    if condition.dtype._name != "bool":
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, got {condition.dtype}"
        )
    return apply(elementwise.Where, condition, *_fitted(input, other))


def _fitted(*operands: Any) -> list[Any]:
    """The operands in their common type, which must hold the numbers among them."""
    found = promote(*operands)
    for given, cast in zip(operands, found, strict=True):
        if isinstance(given, (int, float)) and isinstance(cast, np.generic):
            fitting(given, cast.dtype)
    return found


def where_method(input: Tensor, condition: Tensor, other: TensorOrNumber) -> Tensor:
    """``input`` where ``condition`` holds, else ``other``."""
    return where(condition, input, other)


clip = alias(clamp, "clip")

clamp_ = clip_ = in_place(clamp, elementwise=True)
clamp_min_ = in_place(clamp_min, elementwise=True)
clamp_max_ = in_place(clamp_max, elementwise=True)
