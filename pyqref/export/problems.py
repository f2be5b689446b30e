"""What cannot be exported: all of it in one error."""

from __future__ import annotations

from .._problems import Problem, ProblemsError

__all__ = ["Problem", "Unsupported", "UnsupportedError"]


class Unsupported(Exception):  # noqa: N818  # it never leaves the package
    """One operation has no counterpart; the text says why."""


class UnsupportedError(ProblemsError):
    """A model has parts that the format cannot express.

    Attributes
    ----------
    problems : tuple of Problem
        All of them.

    Examples
    --------
    >>> print(UnsupportedError((Problem("body.sort", "sort", "no such operator"),)))
    pyqref.export.onnx cannot export 1 part(s):
    path       type  reason
    body.sort  sort  no such operator
    """

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__(problems, "pyqref.export.onnx cannot export")
