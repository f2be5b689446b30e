"""Error that lists everything that cannot be taken over."""

from __future__ import annotations

from .._problems import Problem, ProblemsError

__all__ = ["Problem", "UnsupportedError"]


class UnsupportedError(ProblemsError):
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
        super().__init__(problems, f"{function} cannot take over")
