"""What cannot be exported: all of it in one error."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Problem", "Unsupported", "UnsupportedError"]


class Problem(NamedTuple):
    """What cannot be exported: where, what it is, and why.

    Examples
    --------
    >>> Problem("body.sort", "sort", "no such operator").path
    'body.sort'
    """

    path: str
    type: str
    reason: str


class Unsupported(Exception):  # noqa: N818  # it never leaves the package
    """One operation has no counterpart; the text says why."""


class UnsupportedError(TypeError):
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
        self.problems = problems
        rows = [("path", "type", "reason"), *problems]
        widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
        table = "\n".join(f"{row[0]:{widths[0]}}  {row[1]:{widths[1]}}  {row[2]}" for row in rows)
        super().__init__(f"pyqref.export.onnx cannot export {len(problems)} part(s):\n{table}")
