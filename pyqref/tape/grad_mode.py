"""Switch recording on and off: ``no_grad``, ``enable_grad``, ``set_grad_enabled``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from pyqref._kernels.tensors import is_recording, set_recording
from pyqref._typing import Self

__all__ = ["enable_grad", "inference_mode", "is_grad_enabled", "no_grad", "set_grad_enabled"]

_F = TypeVar("_F", bound=Callable[..., Any])


def is_grad_enabled() -> bool:
    """Return True if operations are recorded on the tape now, in this thread.

    Examples
    --------
    >>> import pyqref
    >>> with pyqref.no_grad():
    ...     print(pyqref.is_grad_enabled())
    False
    """
    return is_recording()


class set_grad_enabled:
    """Record operations (``mode=True``) or not, at once and until the ``with`` block ends.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.ones(1, requires_grad=True)
    >>> with pyqref.set_grad_enabled(False):
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    def __init__(self, mode: bool) -> None:
        self.previous = is_recording()
        self.mode = bool(mode)
        set_recording(self.mode)

    def __enter__(self) -> None:
        set_recording(self.mode)

    def __exit__(self, *error: object) -> None:
        set_recording(self.previous)


class _GradMode:
    """A context manager, and a decorator, that sets recording to ``mode``."""

    mode = True

    def __init__(self) -> None:
        self._previous: list[bool] = []

    def __enter__(self) -> None:
        self._previous.append(is_recording())
        set_recording(self.mode)

    def __exit__(self, *error: object) -> None:
        set_recording(self._previous.pop())

    def __call__(self, function: _F) -> _F:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with type(self)():
                return function(*args, **kwargs)

        return wrapped  # type: ignore[return-value]

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        """``no_grad()`` is a context manager; ``@no_grad`` without call also decorates."""
        self = super().__new__(cls)
        if callable(function):
            self._previous = []
            return self(function)
        return self


class no_grad(_GradMode):
    """Do not record operations: results have ``requires_grad=False``.

    Use as ``with no_grad():`` or as a decorator.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.ones(2, requires_grad=True)
    >>> with pyqref.no_grad():
    ...     print((x * 2).requires_grad)
    False
    """

    mode = False


class enable_grad(_GradMode):
    """Record operations again inside a ``no_grad`` block.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.ones(1, requires_grad=True)
    >>> with pyqref.no_grad():
    ...     with pyqref.enable_grad():
    ...         y = x * 2
    >>> y.requires_grad
    True
    """

    mode = True


class inference_mode(_GradMode):
    """Form of :class:`no_grad`; ``inference_mode(False)`` records.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.ones(1, requires_grad=True)
    >>> with pyqref.inference_mode():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    def __new__(cls, mode: bool = True) -> Self:
        if callable(mode):
            return super().__new__(cls, mode)
        return super().__new__(cls)

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self.mode = not mode
