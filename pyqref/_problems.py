"""Parts of a model that cannot be taken over or written: all of them in one error."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Problem", "ProblemsError", "aligned"]


class Problem(NamedTuple):
    """A part of a model that has no counterpart: its place, its type, and the reason.

    Examples
    --------
    >>> Problem("body.sort", "sort", "no such operator").path
    'body.sort'
    """

    path: str
    type: str
    reason: str


class ProblemsError(TypeError):
    """A model has parts without a counterpart.

    Parameters
    ----------
    problems
        All of them.
    refusal
        Who cannot do what with them, as ``"from_torch cannot take over"``.
    """

    def __init__(self, problems: tuple[Problem, ...], refusal: str) -> None:
        self.problems = problems
        table = aligned([("path", "type", "reason"), *problems])
        super().__init__(f"{refusal} {len(problems)} part(s):\n{table}")


def aligned(lines: list[tuple[str, ...]]) -> str:
    """Columns of text below each other."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
