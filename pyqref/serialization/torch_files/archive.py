"""The zip container of torch: records by name, each stored as it is.

The directory at the end of the file is read and checked here, not by ``zipfile``: nothing is
decompressed, so that no record is larger than the file, and no two records share bytes.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple, NoReturn

from ..errors import FileError

__all__ = ["Archive", "Record"]

_END = struct.Struct("<4s4H2IH")
_END64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR = struct.Struct("<4sIQI")
_ENTRY = struct.Struct("<4s6H3I5H2I")
_LOCAL = struct.Struct("<4s5H3I2H")
_MAX_RECORDS = 1_000_000
_PIECE = 1 << 20


class Record(NamedTuple):
    """One record: where its header begins, how many bytes it has, and their checksum."""

    name: str
    offset: int
    size: int
    checksum: int
    is_stored: bool


class Archive:
    """The records of a zip file, by name without the folder that all of them are in.

    Parameters
    ----------
    data
        The file.
    size
        Its length in bytes.
    file
        Its name, for errors.
    """

    def __init__(self, data: BinaryIO, size: int, file: str) -> None:
        self.data, self.size, self.file = data, size, file
        count, length, start = self._find_directory()
        if count > _MAX_RECORDS:
            self.refuse(f"the zip directory has {count} records, at most {_MAX_RECORDS} are read")
        if start + length > size:
            self.refuse(f"truncated: the zip directory ends at byte {start + length} of {size}")
        self.data.seek(start)
        records = list(self._records(self.data.read(length), count))
        self._check_places(records, start)
        folders = {each.name.partition("/")[0] if "/" in each.name else "" for each in records}
        self.folder = folders.pop() if len(folders) == 1 else ""
        prefix = len(self.folder) + 1 if self.folder else 0
        self.records: dict[str, Record] = {}
        for each in records:
            if each.name[prefix:] in self.records:
                self.refuse(f"the zip archive has the record {each.name!r} twice")
            self.records[each.name[prefix:]] = each

    def refuse(self, what: str) -> NoReturn:
        """Raise FileError."""
        raise FileError(f"{self.file}: {what}")

    def __contains__(self, name: str) -> bool:
        return name in self.records

    def open(self, name: str) -> int:
        """Put the file at the first byte of a record; return how many bytes that has."""
        record = self.records.get(name)
        if record is None:
            self.refuse(f"the zip archive has no record {name!r}")
        if not record.is_stored:
            self.refuse(
                f"the record {name!r} is compressed, which torch never writes; unpack the archive "
                "and pack it with zip -0 -r"
            )
        self.data.seek(record.offset)
        header = self.data.read(_LOCAL.size)
        if len(header) < _LOCAL.size or header[:4] != b"PK\x03\x04":
            self.refuse(f"the record {name!r} does not begin where the zip directory says")
        *_, name_length, extra_length = _LOCAL.unpack(header)
        begin = record.offset + _LOCAL.size + name_length + extra_length
        if begin + record.size > self.size:
            self.refuse(f"truncated: the record {name!r} ends behind the end of the file")
        self.data.seek(begin)
        return record.size

    def read(self, name: str, limit: int) -> bytes:
        """A small record as a whole."""
        size = self.open(name)
        if size > limit:
            self.refuse(f"the record {name!r} has {size} bytes, at most {limit} are read")
        return self.data.read(size)

    def check(self, name: str) -> None:
        """Compare the bytes of a record with their checksum; torch may leave it zero."""
        left, found, wanted = self.open(name), 0, self.records[name].checksum
        if not wanted:
            return
        while left:
            piece = self.data.read(min(left, _PIECE))
            if not piece:
                self.refuse(f"truncated: the record {name!r} became shorter while it was read")
            found = zlib.crc32(piece, found)
            left -= len(piece)
        if found != wanted:
            self.refuse(
                f"the record {name!r} is damaged: its checksum is {found:08x}, the zip directory "
                f"says {wanted:08x}; copy or download the file again"
            )

    def _find_directory(self) -> tuple[int, int, int]:
        """Return the number of records, and the place of the directory."""
        tail = min(self.size, _END.size + 65535)
        self.data.seek(self.size - tail)
        text = self.data.read(tail)
        place = text.rfind(b"PK\x05\x06")
        while place >= 0:
            if place + _END.size <= tail:
                end = _END.unpack_from(text, place)
                if place + _END.size + end[7] == tail:
                    break
            place = text.rfind(b"PK\x05\x06", 0, place)
        if place < 0:
            self.refuse(
                "truncated: a zip archive begins here, but the file does not end with its directory"
            )
        count, length, start = end[4], end[5], end[6]
        before = self.size - tail + place - _LOCATOR.size
        if 0xFFFFFFFF in (length, start) or count == 0xFFFF:
            count, length, start = self._find_directory64(before)
        return count, length, start

    def _find_directory64(self, place: int) -> tuple[int, int, int]:
        found = self._unpack(_LOCATOR, place, b"PK\x06\x07")
        end = self._unpack(_END64, found[2], b"PK\x06\x06")
        return end[7], end[8], end[9]

    def _unpack(self, form: struct.Struct, place: int, signature: bytes) -> tuple[Any, ...]:
        if 0 <= place <= self.size - form.size:
            self.data.seek(place)
            found = form.unpack(self.data.read(form.size))
            if found[0] == signature:
                return found
        return self.refuse("the zip directory of this large archive is damaged")

    def _records(self, directory: bytes, count: int) -> Iterator[Record]:
        place = 0
        for _ in range(count):
            if place + _ENTRY.size > len(directory):
                self.refuse(f"the zip directory has fewer than its {count} records")
            entry = _ENTRY.unpack_from(directory, place)
            signature, flags, method, checksum = entry[0], entry[3], entry[4], entry[7]
            packed, size, lengths, offset = entry[8], entry[9], entry[10:13], entry[16]
            place += _ENTRY.size
            parts = []
            for length in lengths:
                parts.append(directory[place : place + length])
                place += length
            if signature != b"PK\x01\x02" or place > len(directory):
                self.refuse("the zip directory is damaged")
            name = parts[0].decode("utf-8", "backslashreplace")
            if flags & 1:
                self.refuse(f"the record {name!r} is encrypted")
            packed, size, offset = self._wide(parts[1], packed, size, offset)
            yield Record(name, offset, packed, checksum, method == 0 and packed == size)

    def _wide(self, extra: bytes, packed: int, size: int, offset: int) -> tuple[int, int, int]:
        """Sizes of 64 bits, where those of 32 do not suffice."""
        if 0xFFFFFFFF not in (packed, size, offset):
            return packed, size, offset
        place = 0
        while place + 4 <= len(extra):
            kind, length = struct.unpack_from("<HH", extra, place)
            if kind == 1:
                field = extra[place + 4 : place + 4 + length]
                numbers = iter(struct.unpack(f"<{len(field) // 8}Q", field[: len(field) // 8 * 8]))
                size = next(numbers, size) if size == 0xFFFFFFFF else size
                packed = next(numbers, packed) if packed == 0xFFFFFFFF else packed
                offset = next(numbers, offset) if offset == 0xFFFFFFFF else offset
                break
            place += 4 + length
        return packed, size, offset

    def _check_places(self, records: list[Record], end: int) -> None:
        """Records lie one behind the other, before the directory."""
        places = sorted((each.offset, each.size, each.name) for each in records)
        free = 0
        for offset, size, name in places:
            if offset < free:
                self.refuse(f"the record {name!r} shares bytes with the one before it")
            free = offset + _LOCAL.size + size
            if free > end:
                self.refuse(f"truncated: the record {name!r} ends behind byte {end}")
