"""Changes to modules and classes that last as long as a trace."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Patcher"]

_ABSENT = object()


class Patcher:
    """Sets attributes and entries of dictionaries, and puts all back at the end of a ``with``."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []
        self._done: set[tuple[int, str]] = set()

    def attribute(self, owner: type, name: str, value: Any) -> None:
        """Set an attribute of a class."""
        before = vars(owner).get(name, _ABSENT)

        def undo() -> None:
            if before is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, before)

        setattr(owner, name, value)
        self._undo.append(undo)

    def entry(self, space: dict[str, Any], name: str, value: Any) -> None:
        """Set an entry of a module's dictionary, once."""
        if (id(space), name) in self._done:
            return
        self._done.add((id(space), name))
        before = space.get(name, _ABSENT)

        def undo() -> None:
            if before is _ABSENT:
                del space[name]
            else:
                space[name] = before

        space[name] = value
        self._undo.append(undo)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        while self._undo:
            self._undo.pop()()
