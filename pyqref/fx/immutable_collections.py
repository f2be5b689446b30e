"""Lists and dictionaries that stand in a node's arguments, and so may not be changed there.

A change would pass by the bookkeeping of users. Assign a new value to ``node.args`` or
``node.kwargs`` instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

__all__ = ["immutable_dict", "immutable_list"]


def _refuse(kind: str) -> Callable[..., NoReturn]:
    def method(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(
            f"'{kind}' object does not support mutation: it is part of the arguments of a node. "
            "Change a copy and assign that to node.args or node.kwargs"
        )

    return method


class immutable_list(list[Any]):
    """A list that refuses to change.

    Examples
    --------
    >>> immutable_list([1, 2])
    [1, 2]
    >>> immutable_list([1]).append(2)
    Traceback (most recent call last):
    TypeError: 'immutable_list' object does not support mutation: ...
    """

    append = clear = extend = insert = pop = remove = reverse = sort = _refuse("immutable_list")
    __delitem__ = __iadd__ = __imul__ = __setitem__ = _refuse("immutable_list")

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return immutable_list, (list(self),)


class immutable_dict(dict[Any, Any]):
    """A dictionary that refuses to change."""

    clear = pop = popitem = setdefault = update = _refuse("immutable_dict")
    __delitem__ = __ior__ = __setitem__ = _refuse("immutable_dict")

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return immutable_dict, (dict(self),)
