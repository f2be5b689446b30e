"""Error that lists everything that cannot be exported."""

from __future__ import annotations

from .._problems import Problem, ProblemsError

__all__ = ["Problem", "Unsupported", "UnsupportedError"]


class Unsupported(Exception):  # noqa: N818  # it never leaves the package
    """One operation has no counterpart; the text says why."""


class UnsupportedError(ProblemsError):
    """A model has parts that the format cannot express.

    Parameters
    ----------
    problems
        All of them.
    function
        What was called.

    Attributes
    ----------
    problems : tuple of Problem
        All of them.

    Examples
    --------
    >>> problem = Problem("body.sort", "sort", "no such operator")
    >>> print(UnsupportedError((problem,), "pyqref.export.onnx"))
    pyqref.export.onnx cannot export 1 part(s):
    path       type  reason
    body.sort  sort  no such operator
    """

    def __init__(self, problems: tuple[Problem, ...], function: str) -> None:
        super().__init__(problems, f"{function} cannot export")
