"""``record_function``: a part of a script with a name of its own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .events import FunctionEvent
from .recorder import begin_span, end_span

__all__ = ["record_function"]


class record_function:
    """A ``with``, or a decorator, that a running profiler lists under a name.

    Parameters
    ----------
    name
        The name.
    args
        Of no use here.

    Examples
    --------
    >>> import pyqref
    >>> with pyqref.profiler.profile() as prof:
    ...     with pyqref.profiler.record_function("forward"):
    ...         y = pyqref.ones(3).sum()
    >>> [each.count for each in prof.key_averages() if each.key == "forward"]
    [1]
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        if not isinstance(name, str):
            raise TypeError(f"record_function: name must be a text, got {type(name).__name__}")
        self.name = name
        self._event: FunctionEvent | None = None

    def __enter__(self) -> record_function:  # noqa: PYI034
        self._event = begin_span(self.name)
        return self

    def __exit__(self, *exception: object) -> None:
        end_span(self._event)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name):
                return function(*args, **kwargs)

        return recorded
