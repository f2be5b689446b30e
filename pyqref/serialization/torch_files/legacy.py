"""The container that torch wrote before release 1.6: pickles, and then the storages."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

from ...tape import Array
from ..elements import ELEMENTS, Element, read_elements
from ..errors import FileError
from .inert import Pairs, Reference, short
from .machine import Machine
from .storages import Storages, is_count

__all__ = ["LegacyStorages", "begins_like_legacy", "read_legacy"]

_MAGIC = 0x1950A86A20F9469CFC6C
_PROTOCOL = 1001
#: How the magic number is pickled, with the protocols 2 to 5.
_BEGINNING = b"\x8a\n" + _MAGIC.to_bytes(10, "little") + b"."


def begins_like_legacy(data: bytes) -> bool:
    """Return True if a file begins with the magic number of the container."""
    return data[:1] == b"\x80" and _BEGINNING in data[:32]


def read_legacy(
    data: BinaryIO, size: int, file: str, allow: Callable[[str], None]
) -> tuple[Any, LegacyStorages]:
    """The inert value of a file, and its storages."""
    references: list[Reference] = []

    def run(what: str) -> Any:
        nonlocal size
        machine = Machine(data, size, f"{file}: {what}", allow)
        value = machine.run()
        size = machine.left
        references.extend(machine.references)
        return value

    magic, protocol, system = (run(f"the {each} pickle") for each in ("first", "second", "third"))
    if magic != _MAGIC or protocol != _PROTOCOL:
        raise FileError(
            f"{file}: not a file of torch: the magic number is {short(magic)}, the protocol "
            f"{short(protocol)}"
        )
    little = system.get("little_endian") if isinstance(system, Pairs) else None
    if type(little) is not bool:
        raise FileError(f"{file}: the third pickle does not say in which order bytes come")
    value = run("the pickle of the object")
    keys = run("the pickle of storage keys")
    if not isinstance(keys, list) or not all(type(key) in (str, int) for key in keys):
        raise FileError(f"{file}: the keys of storages are {short(keys)}")
    storages = LegacyStorages(data, size, file, not little)
    for each in references:
        storages.declare(each)
    storages.read_all([str(key) for key in keys])
    return value, storages


class LegacyStorages(Storages):
    """Storages one behind the other, each after its number of elements.

    The size of an element is known only to the pickle, so that the types of all of them are
    collected before the first is read.
    """

    def __init__(self, data: BinaryIO, size: int, file: str, big_endian: bool) -> None:
        super().__init__(file, size)
        self.data, self.big_endian = data, big_endian
        self._elements: dict[str, Element] = {}
        self._found: dict[str, Array] = {}

    def root(self, key: object, view: Sequence[object] | None, count: int) -> Any:
        if view and view[0] is not None:
            raise FileError(
                f"{self.file}: storage {key!r} is part of another one, as torch wrote before "
                "release 0.4; load the file with a newer torch and save it again"
            )
        return key

    def declare(self, reference: Reference) -> None:
        """Note the format of a storage, before :meth:`read_all`."""
        name, key, _ = self.parts(reference)
        element = ELEMENTS[name or "uint8"]
        if self._elements.setdefault(key, element) != element:
            raise FileError(f"{self.file}: storage {short(key)} has two types")

    def read_all(self, keys: list[str]) -> None:
        """Read the storages in their order."""
        order = "big" if self.big_endian else "little"
        left = self.size  # of the file, behind the pickles
        for key in keys:
            where = f"{self.file}: storage {key!r}"
            element = self._elements.get(key)
            if element is None:
                raise FileError(f"{where}: no tensor names it")
            if key in self._found:
                raise FileError(f"{where}: it is there twice")
            count = int.from_bytes(self.data.read(8), order, signed=True)  # type: ignore[arg-type]
            left -= 8
            if not is_count(count) or count * element.size > left:
                raise FileError(
                    f"{where}: truncated: {count} elements of {element.name} should follow, found "
                    f"{max(left, 0)} bytes"
                )
            left -= count * element.size
            self._found[key] = read_elements(self.data, count, element, where, self.big_endian)
        if left:
            raise FileError(f"{self.file}: oversized: {left} bytes behind the last storage")

    def read(self, key: str, element: Element, count: int) -> Array:
        if key not in self._found:
            raise FileError(f"{self.file}: storage {short(key)} is not in the file")
        found = self._found[key]
        if self._elements[key] is ELEMENTS["uint8"] and element.name != "uint8":
            where = f"{self.file}: storage {short(key)}"
            if count * element.size != found.size:
                raise FileError(f"{where}: has {found.size} bytes, {count} {element.name} wanted")
            return read_elements(
                io.BytesIO(found.tobytes()), count, element, where, self.big_endian
            )
        return found
