"""Edits of the files of torch: zip archives and streams of pickles."""

from __future__ import annotations

import io
import pickletools
import random
import struct
import warnings
import zipfile
from collections.abc import Callable
from typing import Any

from .formats import NUMBERS

#: What a hostile pickle calls, and names that files of torch have.
_NAMES = ("os\nsystem", "posix\nsystem", "builtins\neval", "builtins\nexec", "subprocess\nPopen")
_NAMES += ("builtins\ngetattr", "torch._utils\n_rebuild_tensor_v2", "torch\nFloatStorage")
_NAMES += ("collections\nOrderedDict", "torch\nqint8", "numpy\nload", "io\nopen", "torch\nload")
_NAMES += ("torch._utils\n_rebuild_qtensor", "torch._utils\n_rebuild_parameter", "nn\nModule")
#: Opcodes that call, build, and look names up; and some that only move things.
_CODES = b"RbioscQP\x81\x82\x83\x84\x92\x93\x94\x85\x86\x87t(0.2dl]})N\x88\x89aesu"


def edit_pickle(rng: random.Random, data: bytes) -> bytes:
    """One opcode of the pickles in some bytes is another one, or there twice, or gone."""
    places = _places(data)
    if len(places) < 2:
        return data
    at = rng.randrange(len(places) - 1)
    start, end = places[at], places[at + 1]
    code, rest = data[start : start + 1], data[start:end]
    choice = rng.random()
    if choice < 0.35:
        rest = _another(rng, code, rest)
    elif choice < 0.5:
        rest = b""
    elif choice < 0.6:
        rest += rest
    elif choice < 0.75:
        other = rng.randrange(len(places) - 1)
        rest = data[places[other] : places[other + 1]]
    elif choice < 0.9:
        rest += bytes([rng.choice(_CODES)])
    else:
        name = rng.choice(_NAMES).encode()
        rest = b"c" + name + b"\n" + rest + rng.choice((b"", b")R", b"\x85R", b"o", b"\x81"))
    return data[:start] + rest + data[end:]


def _places(data: bytes) -> list[int]:
    """Return the beginnings of the opcodes, in one pickle after another."""
    found: list[int] = []
    begin = 0
    while begin < len(data) and data[begin : begin + 1] == b"\x80":
        end = begin
        try:
            for _, _, place in pickletools.genops(io.BytesIO(data[begin:])):
                end = begin + (place or 0)
                found.append(end)
        except Exception:
            break
        begin = end + 1
    return found


def _another(rng: random.Random, code: bytes, rest: bytes) -> bytes:
    """The opcode with another number or text."""
    if code in (b"K", b"M", b"J"):  # BININT1, BININT2, BININT
        number = rng.choice(NUMBERS)
        if -(2**31) <= number < 2**31 and rng.random() < 0.6:
            return b"J" + struct.pack("<i", number)
        return b"\x8a\x09" + number.to_bytes(9, "little", signed=True)  # LONG1
    if code == b"G":  # BINFLOAT
        return b"G" + struct.pack(">d", rng.choice((float("nan"), float("inf"), 0.0, -1.0, 1e-320)))
    if code == b"X":  # BINUNICODE
        text = rng.choice(("", "cpu", "cuda:0", "storage", "../x", "0", "weight", "a" * 300))
        return b"X" + struct.pack("<I", len(text)) + text.encode()
    if code == b"c":  # GLOBAL
        return b"c" + rng.choice(_NAMES).encode() + b"\n"
    if code in (b"h", b"q"):  # BINGET, BINPUT
        return code + bytes([rng.randrange(256)])
    return bytes([rng.choice(_CODES)]) + rest[1:]


def edit_zip(rng: random.Random, data: bytes) -> bytes:
    """An archive whose entries are changed, renamed, moved, doubled, packed or taken out."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = [(each.filename, archive.read(each)) for each in archive.infolist()]
    for _ in range(rng.choice((1, 1, 1, 2))):
        if not entries:
            break
        at = rng.randrange(len(entries))
        pickles = [n for n, (name, _) in enumerate(entries) if name.endswith(".pkl")]
        if pickles and rng.random() < 0.6:
            at = rng.choice(pickles)
            name, content = entries[at]
            entries[at] = name, edit_pickle(rng, content)
        else:
            rng.choice(_EDITS)(rng, entries, at)
    how = zipfile.ZIP_DEFLATED if rng.random() < 0.05 else zipfile.ZIP_STORED
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", how) as archive:
        warnings.simplefilter("ignore", UserWarning)  # names that are there twice
        for name, content in entries:
            archive.writestr(zipfile.ZipInfo(name), content, how)
    changed = file.getvalue()
    return _field(rng, changed) if rng.random() < 0.2 else changed


Entries = list[tuple[str, bytes]]


def _rename(rng: random.Random, entries: Entries, at: int) -> None:
    names = ("", "/", "../../x", "a/b/c", "archive/data.pkl", "archive/version", "data/0", "\0")
    entries[at] = rng.choice((*names, rng.choice(entries)[0])), entries[at][1]


def _twice(rng: random.Random, entries: Entries, at: int) -> None:
    entries.insert(rng.randrange(len(entries)), (entries[at][0], rng.choice(entries)[1]))


def _gone(rng: random.Random, entries: Entries, at: int) -> None:
    del entries[at]


def _content(rng: random.Random, entries: Entries, at: int) -> None:
    name, content = entries[at]
    place = rng.randrange(len(content) + 1)
    pieces = (content[:place], content + bytes(rng.randrange(1, 64)), b"", rng.randbytes(place))
    entries[at] = name, rng.choice(pieces)


def _bomb(rng: random.Random, entries: Entries, at: int) -> None:
    if rng.random() < 0.02:
        entries[at] = entries[at][0], bytes(2**22)


_EDITS: tuple[Callable[[random.Random, Entries, int], Any], ...] = (
    *(_rename, _twice, _gone, _content, _content, _bomb),
)


def _field(rng: random.Random, data: bytes) -> bytes:
    """Another number in a record of the archive's directory."""
    signature = rng.choice((b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06"))
    places = [n for n in range(len(data) - 46) if data[n : n + 4] == signature]
    if not places:
        return data
    place = rng.choice(places) + rng.choice((4, 6, 8, 10, 14, 18, 20, 22, 24, 26, 28, 30, 32, 42))
    size = rng.choice((2, 4))
    number = (rng.choice(NUMBERS) % 2**32).to_bytes(4, "little")[:size]
    return data[:place] + number + data[place + size :]
