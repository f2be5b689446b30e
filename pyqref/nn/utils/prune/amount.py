"""Amount to prune: a number of elements, or a part of them."""

from __future__ import annotations

import math
from numbers import Integral, Real

from ...._typing import Tensor

__all__ = ["check_amount", "check_structured", "count_to_prune"]


def check_amount(amount: float) -> float:
    """A float in [0, 1] or an integer that is not negative, as it is.

    Raises
    ------
    TypeError
        It is no number.
    ValueError
        It is out of range.
    """
    if not isinstance(amount, Real):
        raise TypeError(f"amount must be a number, got {type(amount).__name__}")
    most = math.inf if isinstance(amount, Integral) else 1
    if not 0 <= float(amount) <= most:
        raise ValueError(
            f"amount={amount} should either be a float in the range [0.0, 1.0] or a "
            "non-negative integer"
        )
    return amount


def count_to_prune(amount: float, size: int) -> int:
    """Return how many of ``size`` elements are pruned.

    Examples
    --------
    >>> count_to_prune(0.5, 5), count_to_prune(3, 5)
    (2, 3)
    """
    if isinstance(amount, Integral) and int(amount) > size:
        raise ValueError(
            f"amount={amount} should be smaller than the number of parameters to prune={size}"
        )
    return int(amount) if isinstance(amount, Integral) else round(float(amount) * size)


def check_structured(t: Tensor, dim: int) -> None:
    """The tensor has channels, along an axis that exists."""
    if t.ndim <= 1:
        raise ValueError(
            "Structured pruning can only be applied to a multidimensional tensor, of dim > 1; got "
            f"{t.ndim}"
        )
    if not -t.ndim <= dim < t.ndim:
        raise IndexError(f"Invalid index {dim} for tensor of size {tuple(t.shape)}")
