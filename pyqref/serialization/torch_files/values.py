"""From inert descriptions to values: numbers are checked, then tensors are made."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any, NoReturn

from ... import dtypes
from ..errors import FileError
from .inert import Call, Named, Pairs, Reference, short
from .names import CONSTANTS, FOREIGN, refuse_name
from .storages import Storages

__all__ = ["Builder"]

_MAX_DEPTH = 100
_MAX_VALUES = 2_000_000
_MAX_KEY_BITS = 64
_MAPPINGS: dict[str, Callable[[], Any]] = {
    "dict": dict,
    "builtins.dict": dict,
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": Counter,
}


class Builder:
    """Makes the values that a pickle describes.

    Parameters
    ----------
    storages
        Where the numbers of tensors are.
    constructors
        For each name that may be called, the function that makes its value of this builder, the
        description and the place in the file.
    """

    def __init__(
        self, storages: Storages, constructors: dict[str, Callable[[Builder, Call, str], Any]]
    ) -> None:
        self.storages, self.constructors = storages, constructors
        self.file = storages.file
        #: What was told otherwise than the file has it, for one warning at the end.
        self.notes: list[str] = []
        self._made: dict[int, tuple[Any, Any, int]] = {}
        self._open: set[int] = set()
        self._count = 0

    def build(self, value: Any, where: str = "", depth: int = 0) -> Any:
        """The value of a description that stands at ``where``."""
        self._count += 1
        if self._count > _MAX_VALUES:
            self.refuse(where, f"has more than {_MAX_VALUES} values, counting shared ones again")
        kind = type(value)
        if kind in _PLAIN:
            return value
        if depth > _MAX_DEPTH:
            self.refuse(where, f"is nested more than {_MAX_DEPTH} levels deep")
        known = self._made.get(id(value))
        if known is not None:
            self._count += known[2]
            return known[1]
        if id(value) in self._open:
            self.refuse(where, "contains itself")
        self._open.add(id(value))
        before = self._count
        if kind is list or kind is tuple:
            made = kind(self.build(each, where, depth + 1) for each in value)
        elif kind is Pairs:
            made = self._mapping(value, where, depth)
        elif kind is Named:
            made = self._constant(value, where)
        elif kind is Reference:
            self.refuse(where, "is a storage without a tensor; save a tensor instead")
        elif value.name in self.constructors:
            made = self.constructors[value.name](self, value, where)
        else:
            refuse_name(value.name, self.file)
        self._open.remove(id(value))
        # The description is kept too, so that no other takes its id.
        self._made[id(value)] = value, made, self._count - before
        return made

    def refuse(self, where: str, what: str) -> NoReturn:
        """Raise FileError."""
        raise FileError(f"{self.at(where)} {what}")

    def at(self, where: str) -> str:
        """File and place, for errors."""
        return f"{self.file}: {where[:200]!r}" if where else f"{self.file}: the object"

    def _mapping(self, value: Pairs, where: str, depth: int) -> Any:
        made: Any = _MAPPINGS[value.kind]()
        for given, each in value.pairs:
            key = self.build(given, where, depth + 1)
            if not _is_key(key):
                self.refuse(
                    where, f"has the key {short(key)}, which is neither a string nor a number"
                )
            made[key] = self.build(each, f"{where}.{key}" if where else str(key), depth + 1)
        if value.state is None:
            return made
        state = self.build(value.state, where, depth + 1)
        if not isinstance(made, OrderedDict) or not isinstance(state, dict):
            self.refuse(where, f"has a state {short(state)}")
        metadata = state.pop("_metadata", None)
        if state:
            self.refuse(where, f"is a dictionary with attributes {short(sorted(map(str, state)))}")
        if not isinstance(metadata, dict) or not all(
            isinstance(path, str) and isinstance(entry, dict) for path, entry in metadata.items()
        ):
            self.refuse(where, f"has the _metadata {short(metadata)}")
        made._metadata = metadata  # type: ignore[attr-defined]
        return made

    def _constant(self, value: Named, where: str) -> Any:
        if value.text in CONSTANTS:
            return CONSTANTS[value.text]
        if value.text in FOREIGN:
            self.notes.append(
                f"{where} is {value.text}, which pyqref does not have: it becomes a string"
            )
            return value.text
        return self.refuse(where, f"is {value.text} itself, not a value of it")


_PLAIN = {type(None), bool, int, float, complex, str, bytes}


def _is_key(key: Any, depth: int = 0) -> bool:
    """Return True if a value is a plain key; large integers could be chosen to collide."""
    if type(key) is int:
        return key.bit_length() <= _MAX_KEY_BITS
    if type(key) is tuple:
        return depth < 3 and len(key) <= 32 and all(_is_key(each, depth + 1) for each in key)
    return type(key) in _PLAIN or isinstance(key, dtypes.dtype | dtypes.qscheme)
