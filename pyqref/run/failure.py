"""The traceback of a script that failed, without the frames of what runs it."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from types import TracebackType

__all__ = ["report", "without_runner"]

HERE = str(Path(__file__).parent)


def _belongs_here(trace: TracebackType) -> bool:
    name = trace.tb_frame.f_code.co_filename
    return name.startswith((HERE, "<frozen importlib", "<frozen runpy"))


def _trimmed(trace: TracebackType | None) -> TracebackType | None:
    kept: list[TracebackType] = []
    while trace is not None:
        if not _belongs_here(trace):
            kept.append(trace)
        trace = trace.tb_next
    following: TracebackType | None = None
    for each in reversed(kept):
        following = TracebackType(following, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return following


def without_runner(error: BaseException) -> BaseException:
    """Take the frames of this package and of the import system out of an error's traceback.

    Those of the errors that led to it, too.
    """
    pending: list[BaseException | None] = [error]
    seen: set[int] = set()
    while pending:
        each = pending.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        each.__traceback__ = _trimmed(each.__traceback__)
        pending += [each.__cause__, each.__context__]
    return error


def report(error: BaseException) -> int:
    """Write an error as Python does for a script, and return the exit code of the process."""
    without_runner(error)
    if sys.excepthook is sys.__excepthook__:
        traceback.print_exception(error)  # the one in C does not find the lines of a notebook
    else:
        sys.excepthook(type(error), error, error.__traceback__)
    return 130 if isinstance(error, KeyboardInterrupt) else 1
