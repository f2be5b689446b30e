"""What cannot be taken over: all of it in one error."""

from __future__ import annotations

from typing import NamedTuple

from .report import aligned

__all__ = ["Problem", "UnsupportedError"]


class Problem(NamedTuple):
    """What cannot be taken over: where, in a module of which class, and why."""

    path: str
    type: str
    reason: str


class UnsupportedError(TypeError):
    """A model has parts with no counterpart here.

    Attributes
    ----------
    problems : tuple of Problem
        All of them.

    Examples
    --------
    >>> print(UnsupportedError((Problem("body.norm", "SyncBatchNorm", "no such layer here"),)))
    from_torch cannot take over 1 part(s):
    path       type           reason
    body.norm  SyncBatchNorm  no such layer here
    """

    def __init__(self, problems: tuple[Problem, ...], function: str = "from_torch") -> None:
        self.problems = problems
        table = aligned([("path", "type", "reason"), *problems])
        super().__init__(f"{function} cannot take over {len(problems)} part(s):\n{table}")
