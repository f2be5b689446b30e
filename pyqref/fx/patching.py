"""Changes to modules and classes that last as long as a trace.

Several traces may need the same change at once: in other threads, or one within another.
The first makes it, the last to end takes it back, in whatever order they end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Patcher"]

_ABSENT = object()
_lock = threading.RLock()


@dataclass
class _Change:
    """A change that is in place, how to take it back, and how many traces need it."""

    undo: Callable[[], None]
    holders: int = 0


_changes: dict[tuple[int, str], _Change] = {}


class Patcher:
    """Sets attributes and entries of dictionaries, and puts all back at the end of a ``with``."""

    def __init__(self) -> None:
        self._held: set[tuple[int, str]] = set()

    def attribute(self, owner: type, name: str, value: Callable[..., Any]) -> None:
        """Set an attribute of a class."""

        def put(each: Any) -> None:
            if each is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, each)

        self._change((id(owner), name), lambda: vars(owner).get(name, _ABSENT), value, put)

    def entry(self, space: dict[str, Any], name: str, value: Callable[..., Any]) -> None:
        """Set an entry of a module's dictionary."""

        def put(each: Any) -> None:
            if each is _ABSENT:
                del space[name]
            else:
                space[name] = each

        self._change((id(space), name), lambda: space.get(name, _ABSENT), value, put)

    def _change(
        self,
        key: tuple[int, str],
        get: Callable[[], Any],
        value: Any,
        put: Callable[[Any], None],
    ) -> None:
        if key in self._held:
            return
        with _lock:
            if key not in _changes:
                _changes[key] = _Change(partial(put, get()))
                put(value)
            _changes[key].holders += 1
            self._held.add(key)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with _lock:
            while self._held:
                key = self._held.pop()
                _changes[key].holders -= 1
                if _changes[key].holders == 0:
                    _changes.pop(key).undo()
