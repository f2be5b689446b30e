"""Errors for models that cannot be written as vectors, and for wrong results of a device."""

from __future__ import annotations

from ..._problems import ProblemsError
from ..problems import Problem, UnsupportedError

__all__ = ["GotError", "Problem", "VectorsError"]


class VectorsError(UnsupportedError):
    """A model of which no vectors can be written.

    Attributes
    ----------
    problems : tuple of Problem
        All of them.

    Examples
    --------
    >>> print(VectorsError((Problem("fc", "Linear", "it is no quantized layer"),)))
    pyqref.export.vectors cannot write vectors of 1 part(s):
    path  type    reason
    fc    Linear  it is no quantized layer
    """

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        ProblemsError.__init__(self, problems, "pyqref.export.vectors cannot write vectors of")


class GotError(ProblemsError):
    """Arrays of a device do not fit the vectors that they are compared with.

    Attributes
    ----------
    problems : tuple of Problem
        All of them.

    Examples
    --------
    >>> print(GotError((Problem("fc", "array", "of shape (2,), not (3,)"),)))
    pyqref.export.verify cannot compare 1 part(s):
    path  type   reason
    fc    array  of shape (2,), not (3,)
    """

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__(problems, "pyqref.export.verify cannot compare")
