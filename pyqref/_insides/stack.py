"""The frames of the functions under way, read off Python's own stack.

What
    ``sys._getframe``, which CPython documents as its own affair, and notes among the variables of
    a frame, which keeps names that its code does not know.
Why
    Nothing has to be recorded while a model runs: a layer finds its path in the model, a message
    the line of the user, when they are asked for. A list of the modules under way, kept by
    ``Module.__call__``, would take a tenth of the call of a layer that does nothing.
Where it is absent
    :func:`caller` gives None. Messages name a layer without its path and a warning points into
    pyqref, a module that is used twice in a pass is not warned of, ``a, b = x`` cannot be traced,
    and ``fx.wrap`` refuses. No number changes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

__all__ = ["caller", "noted"]

_getframe: Callable[[int], FrameType] | None = getattr(sys, "_getframe", None)


def caller(depth: int = 1) -> FrameType | None:
    """The frame that called the function that asks, or ``depth`` calls further out.

    Examples
    --------
    >>> def who_asks():
    ...     return caller(0).f_code.co_name
    >>> who_asks()
    'who_asks'
    """
    return None if _getframe is None else _getframe(depth + 1)


def noted(frame: FrameType, name: str, make: Callable[[], Any]) -> Any:
    """Return the object that a frame keeps under a name, and make it at the first call.

    It ends together with the call that the frame belongs to.

    Examples
    --------
    >>> frame = caller(0)
    >>> noted(frame, "a note", list).append(1)
    >>> noted(frame, "a note", list)
    [1]
    """
    namespace = frame.f_locals
    found = namespace.get(name)
    if found is None:
        namespace[name] = found = make()
    return found
