"""Functions of two or three tensors, some of them made of several operations."""

from __future__ import annotations

from .._typing import Tensor, TensorOrNumber
from ..tape import elementwise
from .arithmetic import add, div, mul
from .choosing import where
from .dispatch import apply
from .inplace import in_place
from .promotion import promote, to_floating
from .wrong_arguments import explains_errors

__all__ = [
    "hypot_",
    "xlogy_",
    "addcdiv",
    "addcmul",
    "atan2",
    "fmax",
    "fmin",
    "hypot",
    "lerp",
    "logaddexp",
    "xlogy",
]


def atan2(input: Tensor, other: TensorOrNumber) -> Tensor:
    """Angle of the points ``(other, input)``, in [-pi, pi].

    Examples
    --------
    >>> import pyqref
    >>> round(pyqref.atan2(pyqref.tensor([-1.0]), pyqref.tensor([-1.0])).item(), 4)  # -3/4 pi
    -2.3562
    """
    return apply(elementwise.Atan2, *to_floating(input, other))


@explains_errors
def fmax(input: Tensor, other: TensorOrNumber) -> Tensor:
    """The larger of two, element by element, the first of equal ones; a nan loses.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.fmax(pyqref.tensor([float("nan"), 1.0]), pyqref.tensor([2.0, 3.0])).tolist()
    [2.0, 3.0]
    """
    a, b = promote(input, other)
    return where(b.isnan() | (a >= b), a, b)


@explains_errors
def fmin(input: Tensor, other: TensorOrNumber) -> Tensor:
    """The smaller of two, element by element, the first of equal ones; a nan loses.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.fmin(pyqref.tensor([float("nan"), 1.0]), pyqref.tensor([2.0, 3.0])).tolist()
    [2.0, 1.0]
    """
    a, b = promote(input, other)
    return where(b.isnan() | (a <= b), a, b)


def hypot(input: Tensor, other: TensorOrNumber) -> Tensor:
    """``sqrt(input**2 + other**2)``, also where the squares leave the range.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.hypot(pyqref.tensor([3.0]), pyqref.tensor([4.0])).tolist()
    [5.0]
    """
    return apply(elementwise.Hypot, *to_floating(input, other))


def logaddexp(input: Tensor, other: TensorOrNumber) -> Tensor:
    """``log(exp(input) + exp(other))``, without overflow.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.logaddexp(pyqref.tensor([1000.0]), pyqref.tensor([0.0])).tolist()
    [1000.0]
    """
    return apply(elementwise.LogAddExp, *to_floating(input, other))


def xlogy(input: Tensor, other: TensorOrNumber) -> Tensor:
    """``input * log(other)``; 0 where ``input`` is 0, unless ``other`` is nan.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([0.0, 1.0])
    >>> pyqref.xlogy(x, x).tolist()  # 0 log 0 is 0
    [0.0, 0.0]
    """
    return apply(elementwise.XLogY, *to_floating(input, other))


def lerp(input: Tensor, end: Tensor, weight: Tensor | float) -> Tensor:
    """``input + weight * (end - input)``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.lerp(pyqref.tensor([0.0, 0.0]), pyqref.tensor([10.0, 20.0]), 0.25).tolist()
    [2.5, 5.0]
    """
    return apply(elementwise.Lerp, *promote(input, end, weight))


@explains_errors
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """``input + value * tensor1 * tensor2``.

    Examples
    --------
    >>> import pyqref
    >>> x, y = pyqref.tensor([6.0]), pyqref.tensor([3.0])
    >>> pyqref.addcmul(pyqref.tensor([1.0]), x, y, value=10).tolist()
    [181.0]
    """
    return add(input, mul(mul(tensor1, value) if value != 1 else tensor1, tensor2))


@explains_errors
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """``input + value * tensor1 / tensor2``.

    Examples
    --------
    >>> import pyqref
    >>> x, y = pyqref.tensor([6.0]), pyqref.tensor([3.0])
    >>> pyqref.addcdiv(pyqref.tensor([1.0]), x, y, value=10).tolist()
    [21.0]
    """
    return add(input, div(mul(tensor1, value) if value != 1 else tensor1, tensor2))


lerp_ = in_place(lerp)
addcmul_ = in_place(addcmul)
addcdiv_ = in_place(addcdiv)
atan2_ = in_place(atan2)
hypot_ = in_place(hypot)
xlogy_ = in_place(xlogy)
