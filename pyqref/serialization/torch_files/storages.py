"""The bytes of tensors, by key: each is read once, into its own memory, and shared by its views."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...tape import Array
from ..elements import ELEMENTS, Element, read_elements
from ..errors import FileError
from .archive import Archive
from .inert import Named, Reference, short

__all__ = ["STORAGES", "ArchiveStorages", "Storages", "element_of", "is_count"]

#: The class of a storage, and the format of its numbers; None where a dtype says it later.
STORAGES: dict[str, str | None] = {
    "torch.FloatStorage": "float32",
    "torch.DoubleStorage": "float64",
    "torch.HalfStorage": "float16",
    "torch.BFloat16Storage": "bfloat16",
    "torch.ByteStorage": "uint8",
    "torch.CharStorage": "int8",
    "torch.ShortStorage": "int16",
    "torch.IntStorage": "int32",
    "torch.LongStorage": "int64",
    "torch.BoolStorage": "bool",
    "torch.QInt8Storage": "qint8",
    "torch.QUInt8Storage": "quint8",
    "torch.QInt32Storage": "qint32",
    "torch.QUInt4x2Storage": "quint4x2",
    "torch.QUInt2x4Storage": "quint2x4",
    "torch.storage.UntypedStorage": None,
    "torch.UntypedStorage": None,
}
_MAX_DIMENSIONS = 32
#: A view that repeats elements may have this many.
_MAX_REPEATED = 1 << 26


def is_count(value: int) -> bool:
    """Return True if a value is an integer that may be a size."""
    return type(value) is int and 0 <= value < 2**62


def element_of(name: str, where: str) -> Element:
    """The format of a dtype of torch."""
    found = ELEMENTS.get(name)
    if found is None:
        raise FileError(
            f"{where}: has elements of {name}, which no tensor of pyqref can hold; where torch is "
            "installed, convert the tensor and save it again"
        )
    return found


class Storages:
    """Storages that the references of a pickle name. A container says where the bytes are.

    Parameters
    ----------
    file
        Name of the file, for errors.
    size
        Bytes of the file: no storage has more.
    """

    def __init__(self, file: str, size: int) -> None:
        self.file, self.size = file, size
        self._arrays: dict[Any, tuple[str, Array]] = {}
        #: Formats that were widened, each with the number of storages.
        self.widened: dict[str, int] = {}

    def read(self, key: str, element: Element, count: int) -> Array:
        """The numbers of a storage in one dimension; a container defines it."""
        raise NotImplementedError

    def parts(self, reference: object) -> tuple[str | None, Any, int]:
        """Format, key and number of elements of a reference, checked."""
        parts = reference.parts if isinstance(reference, Reference) else None
        if not isinstance(parts, tuple) or len(parts) not in (5, 6) or parts[0] != "storage":
            raise FileError(f"{self.file}: a tensor has no storage, but {short(parts)}")
        kind, key, _, count = parts[1:5]
        if not isinstance(kind, Named) or kind.text not in STORAGES:
            name = kind.text if isinstance(kind, Named) else short(kind)
            element_of(name.removeprefix("torch."), self.file)
            raise FileError(f"{self.file}: a storage has the class {short(name)}")
        if not isinstance(key, str) or not is_count(count):
            raise FileError(f"{self.file}: a storage has the key {short(key)}, size {short(count)}")
        return STORAGES[kind.text], self.root(key, parts[5:], count), count

    def root(self, key: str, view: Sequence[object] | None, count: int) -> str:
        """The key of a storage that may be part of another; only the legacy container has such."""
        if view and view[0] is not None:
            raise FileError(f"{self.file}: storage {key!r} is part of another one")
        return key

    def array(self, reference: Any, dtype: str | None, where: str) -> tuple[str, Array]:
        """The format and the elements of a storage, read when first asked for."""
        name, key, count = self.parts(reference)
        name = dtype if name is None else name
        if name is None:
            raise FileError(f"{where}: its storage does not tell its dtype")
        element = element_of(name, where)
        if dtype is not None and STORAGES[reference.parts[1].text] is None:  # in bytes
            count //= element.size
        known = self._arrays.get(key)
        if known is None:
            if count * element.size > self.size:
                raise FileError(
                    f"{where}: its storage has {count} elements of {name}, more than the file"
                )
            known = name, self.read(key, element, count)
            self._arrays[key] = known
            if element.is_widened:
                self.widened[name] = self.widened.get(name, 0) + 1
        if known[0] != name or known[1].size != count:
            raise FileError(
                f"{where}: its storage {short(key)} has {count} elements of {name} here, "
                f"{known[1].size} of {known[0]} elsewhere in the file"
            )
        return known

    def view(
        self, array: Array, offset: int, size: Sequence[int], stride: Sequence[int], where: str
    ) -> Array:
        """A view of a storage: every element that it reaches lies inside."""
        for name, given in (("size", size), ("stride", stride)):
            if not isinstance(given, tuple) or not all(map(is_count, given)):
                raise FileError(f"{where}: {name} must be integers >= 0, found {short(given)}")
        if len(size) != len(stride) or len(size) > _MAX_DIMENSIONS or not is_count(offset):
            raise FileError(
                f"{where}: size {short(size)}, stride {short(stride)} and offset {short(offset)} "
                f"must be those of at most {_MAX_DIMENSIONS} dimensions"
            )
        numel = math.prod(size)
        last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
        if numel and last >= array.size:
            raise FileError(
                f"{where}: size {short(size)}, stride {short(stride)} and offset {offset} reach "
                f"element {last} of a storage that has {array.size}"
            )
        if not numel and math.prod(max(n, 1) for n in size) >= 2**48:
            raise FileError(f"{where}: size {short(size)} is too large")
        if numel > max(array.size, _MAX_REPEATED):
            raise FileError(
                f"{where}: size {short(size)} repeats the {array.size} elements of its storage "
                f"{numel // max(array.size, 1)} times"
            )
        if not numel:
            return np.empty(size, array.dtype)
        steps = tuple(step * array.itemsize for step in stride)
        # NumPy refuses lengths of zero bytes that point behind the end, and checks the rest again.
        return np.ndarray(size, array.dtype, array, offset * array.itemsize, steps)


class ArchiveStorages(Storages):
    """Storages in the records ``data/0``, ``data/1``, ... of a zip container."""

    def __init__(self, archive: Archive, folder: str, big_endian: bool) -> None:
        super().__init__(archive.file, archive.size)
        self.archive, self.folder, self.big_endian = archive, folder, big_endian

    def read(self, key: str, element: Element, count: int) -> Array:
        name = self.folder + key
        self.archive.check(name)
        size = self.archive.open(name)
        if count * element.size != size:
            raise FileError(
                f"{self.file}: the record {name!r} has {size} bytes, {count} elements of "
                f"{element.name} take {count * element.size}"
            )
        where = f"{self.file}: the record {name!r}"
        return read_elements(self.archive.data, count, element, where, self.big_endian)
