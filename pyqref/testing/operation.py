"""Parts of the kit that every operation has: its expected integers, its stages, its mistakes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..course import Mistake

__all__ = ["Arguments", "Operation", "Recipe", "Stages"]

#: What an implementation is given, by name: arrays, numbers, tuples of integers, None.
Arguments = dict[str, Any]


class Stages(NamedTuple):
    """Numbers on the way to a result, each of the shape of the result.

    Attributes
    ----------
    accumulator
        Exact sums of products; None where there are none.
    scaled
        In units of the result, not yet rounded; None where nothing is rounded to integers.
    whole
        Rounded, the zero point added, not yet clamped; None as before.
    lower, upper
        Ends of the clamp.
    saturating
        What the sums are if pairs of products saturate at 16 bits; None where there are none.
    """

    accumulator: np.ndarray | None = None
    scaled: np.ndarray | None = None
    whole: np.ndarray | None = None
    lower: int = 0
    upper: int = 255
    saturating: np.ndarray | None = None


class Recipe(NamedTuple):
    """A case before its results are computed.

    Attributes
    ----------
    name
        What is special about it.
    hits
        Names of the conditions that it is there for.
    arguments
        What an implementation is given.
    """

    name: str
    hits: tuple[str, ...]
    arguments: Arguments


class Operation(ABC):
    """An operation that implementations are verified for.

    Attributes
    ----------
    name : str
        As :func:`pyqref.testing.conformance` takes it.
    arithmetic : str
        Its equations, in the order in which they are applied.
    names : tuple of str
        What an implementation can be given.
    any_arithmetic : bool
        Whether it is defined for every name of :func:`pyqref.arithmetic.names`, not for the
        engines alone.
    """

    name: str
    arithmetic: str
    names: tuple[str, ...]
    any_arithmetic: ClassVar[bool] = False

    @abstractmethod
    def recipes(self, engine: str, signed: bool) -> Iterator[Recipe]:
        """The cases; ``signed`` for activations in [-128, 127]."""

    @abstractmethod
    def expected(self, arguments: Arguments, engine: str) -> np.ndarray:
        """The result, by the equations of :mod:`pyqref.numerics`."""

    @abstractmethod
    def stages(self, arguments: Arguments, engine: str) -> Stages:
        """Numbers on the way to the result."""

    @abstractmethod
    def mistakes(self, engine: str) -> Iterator[Mistake]:
        """Known ways to be wrong, as functions from arguments to results."""

    @abstractmethod
    def derivation(self, arguments: Arguments, engine: str, index: tuple[int, ...]) -> str:
        """How one element of the result comes about, step by step."""
