"""``Case``: arguments of an operation, what they are there for, and the integers they give."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .conditions import counts
from .operation import Arguments, Operation, Stages

__all__ = ["Case"]


@dataclass(frozen=True)
class Case:
    """Arguments of an operation, what they are there for, and what it gives.

    Attributes
    ----------
    operation : str
        Its name, such as ``"conv2d"``.
    name : str
        What is special about the arguments.
    engine : str
        The engine, or the arithmetic, whose integers are expected.
    arguments : dict
        By name: arrays of stored integers, scales, zero points, and so on.
    expected : ndarray
        The result, by the equations of :mod:`pyqref.numerics`.
    hits : tuple of str
        Conditions that the case is there for, keys of ``pyqref.testing.CONDITIONS``.
    arithmetic : str
        Labels of the equations, in the order in which they are applied.

    Examples
    --------
    >>> from pyqref.testing import conformance
    >>> case = next(each for each in conformance("linear") if each.name == "ties")
    >>> case
    <linear 'ties': tie, negative tie, tie, odd zero point, negative accumulator>
    >>> case.arguments["x"].shape, case.arguments["output_zero_point"], case.expected.dtype
    ((9, 7), 101, dtype('uint8'))
    >>> case.counts()["tie"]
    26
    """

    operation: str
    name: str
    engine: str
    arguments: Arguments
    expected: np.ndarray
    hits: tuple[str, ...]
    arithmetic: str
    _operation: Operation

    @cached_property
    def stages(self) -> Stages:
        """Numbers on the way to the result: sums, unrounded results, unclamped results."""
        with np.errstate(all="ignore"):
            return self._operation.stages(self.arguments, self.engine)

    def counts(self) -> dict[str, int]:
        """How many elements hit each of the conditions."""
        return counts(self.arguments, self.stages)

    def derive(self, index: tuple[int, ...]) -> str:
        """How one element of the result comes about, step by step.

        Parameters
        ----------
        index
            Of the element.

        Raises
        ------
        IndexError
            There is no such element.

        Examples
        --------
        >>> from pyqref.testing import conformance
        >>> case = conformance("linear", engine="qnnpack")[1]
        >>> print(case.derive((0, 1)).splitlines()[-2])
        zero point added: 4 + 101 = 105  [eq-requantize]
        """
        shape = self.expected.shape
        if len(index) != len(shape) or any(
            not 0 <= place < size for place, size in zip(index, shape, strict=True)
        ):
            raise IndexError(
                f"index must be {len(shape)} integers from 0 up to below {shape}, got {index!r}"
            )
        return self._operation.derivation(self.arguments, self.engine, tuple(index))

    def __repr__(self) -> str:
        what = ": " + ", ".join(self.hits) if self.hits else ""
        return f"<{self.operation} {self.name!r}{what}>"


def given_to(arguments: Arguments) -> dict[str, Any]:
    """Copies of the arguments, so that an implementation cannot change those of the case."""
    return {
        name: value.copy() if isinstance(value, np.ndarray) else value
        for name, value in arguments.items()
    }
