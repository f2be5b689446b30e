"""Sets of numbers and matrices; ``check`` says of each element whether it is in the set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..tensor import Tensor
from ..tensor.base import wrap

__all__ = ["Constraint", "nonnegative", "positive", "positive_definite", "real"]


class Constraint:
    """A set.

    Examples
    --------
    >>> import pyqref
    >>> positive.check(pyqref.tensor([-1.0, 2.0])).tolist()
    [False, True]
    """

    def __init__(self, name: str, contains: Callable[[Any], Any]) -> None:
        self._name, self._contains = name, contains

    def check(self, value: Tensor) -> Tensor:
        """Return True if each number, or each matrix in the last two dimensions, is in the set."""
        found: Tensor = wrap(np.asarray(self._contains(value.detach().numpy())))
        return found

    def __repr__(self) -> str:
        return self._name


def _positive_definite(matrices: Any) -> Any:
    """Symmetric, with eigenvalues that are all positive."""
    symmetric = np.isclose(matrices, matrices.swapaxes(-1, -2), atol=1e-6).all((-2, -1))
    return symmetric & (np.linalg.eigvalsh(matrices) > 0).all(-1)


real = Constraint("Real()", lambda x: x == x)
positive = Constraint("GreaterThan(lower_bound=0.0)", lambda x: x > 0)
nonnegative = Constraint("GreaterThanEq(lower_bound=0.0)", lambda x: x >= 0)
positive_definite = Constraint("PositiveDefinite()", _positive_definite)
