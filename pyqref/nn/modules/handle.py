"""Handle that registering a hook returns, and that can remove the hook."""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Hooks", "RemovableHandle", "add_hook"]

#: Hooks in the order in which they run, by the number of their handle.
Hooks: TypeAlias = OrderedDict[int, Callable[..., Any]]


class RemovableHandle:
    """Takes a registered hook away: ``handle.remove()``, or at the end of ``with handle:``.

    Parameters
    ----------
    hooks
        The dictionary that holds the hook.
    extra
        Other dictionaries that hold an entry for the same hook.

    Examples
    --------
    >>> from pyqref import nn
    >>> module = nn.Identity()
    >>> handle = module.register_forward_hook(lambda module, args, output: -output)
    >>> module(3)
    -3
    >>> handle.remove()
    >>> module(3)
    3
    """

    _numbers = itertools.count()

    def __init__(self, hooks: Hooks, *, extra: Iterable[OrderedDict[int, Any]] = ()) -> None:
        self.id = next(RemovableHandle._numbers)
        self._holders = tuple(weakref.ref(holder) for holder in (hooks, *extra))

    def remove(self) -> None:
        """Take the hook away; a second call does nothing."""
        for reference in self._holders:
            holder = reference()
            if holder is not None:
                holder.pop(self.id, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def add_hook(
    hooks: Hooks,
    hook: Callable[..., Any],
    *,
    prepend: bool = False,
    flags: Iterable[tuple[OrderedDict[int, Any], bool]] = (),
) -> RemovableHandle:
    """Add ``hook`` after (or before) the hooks that are there.

    Parameters
    ----------
    flags
        Pairs of a dictionary and whether this hook gets an entry in it: how the
        hook wishes to be called.
    """
    if not callable(hook):
        raise TypeError(f"hook must be callable, got {type(hook).__name__}")
    chosen = [holder for holder, wanted in flags if wanted]
    handle = RemovableHandle(hooks, extra=chosen)
    hooks[handle.id] = hook
    for holder in chosen:
        holder[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle
