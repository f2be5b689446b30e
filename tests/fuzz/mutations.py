"""Changes of a file that know nothing of its format."""

from __future__ import annotations

import random
import struct

from .formats import NUMBERS, Format

#: The longest piece that is copied, moved or taken out.
_PIECE = 64


def mutated(format_of: Format, seed: int, number: int) -> bytes:
    """The file of a number: it follows from the seed and the number alone."""
    rng = random.Random(f"{seed}:{format_of.name}:{number}")
    files = format_of.good()
    data = rng.choice(files)
    edited = format_of.edit is not None and rng.random() < 0.6
    if edited and format_of.edit is not None:
        data = format_of.edit(rng, data)
    for _ in range(rng.choice((0, 0, 1)) if edited else rng.choice((1, 1, 1, 2, 3, 8))):
        data = rng.choice(_CHANGES)(rng, data, files)
    return data


def _flip(rng: random.Random, data: bytes, files: list[bytes]) -> bytes:
    changed = bytearray(data)
    if changed:
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _other_byte(rng: random.Random, data: bytes, files: list[bytes]) -> bytes:
    changed = bytearray(data)
    if changed:
        changed[rng.randrange(len(changed))] = rng.choice((0, 255, 127, 128, rng.randrange(256)))
    return bytes(changed)


def _cut(rng: random.Random, data: bytes, files: list[bytes]) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _number(rng: random.Random, data: bytes, files: list[bytes]) -> bytes:
    """A number of one to eight bytes somewhere, or at the beginning."""
    size = rng.choice((1, 2, 4, 8))
    if len(data) < size:
        return data
    place = rng.choice((0, rng.randrange(len(data) - size + 1)))
    written = (rng.choice(NUMBERS) % 2**64).to_bytes(8, "little")[:size]
    if rng.random() < 0.2:
        written = written[::-1]
    return data[:place] + written + data[place + size :]


def _length(rng: random.Random, data: bytes, files: list[bytes]) -> bytes:
    """The length at the beginning a little off."""
    if len(data) < 8:
        return data
    length = struct.unpack("<Q", data[:8])[0] + rng.choice((-8, -2, -1, 1, 2, 8, len(data)))
    return struct.pack("<Q", length % 2**64) + data[8:]


def _out(rng: random.Random, data: bytes, files: list[bytes]) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + data[place + rng.randrange(_PIECE) :]


def _again(rng: random.Random, data: bytes, files: list[bytes]) -> bytes:
    """A piece twice, or in another place."""
    start = rng.randrange(len(data) + 1)
    piece = data[start : start + rng.randrange(_PIECE)]
    place = rng.choice((start, rng.randrange(len(data) + 1)))
    return data[:place] + piece + data[place:]


def _noise(rng: random.Random, data: bytes, files: list[bytes]) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.randbytes(rng.randrange(1, 9)) + data[place:]


def _zeros(rng: random.Random, data: bytes, files: list[bytes]) -> bytes:
    place, size = rng.randrange(len(data) + 1), rng.randrange(_PIECE)
    return data[:place] + bytes(min(size, len(data) - place)) + data[place + size :]


def _joined(rng: random.Random, data: bytes, files: list[bytes]) -> bytes:
    """The beginning of one file and the end of another."""
    other = rng.choice(files)
    place = rng.randrange(len(data) + 1)
    return data[:place] + other[rng.choice((place, rng.randrange(len(other) + 1))) :]


_CHANGES = (_flip, _other_byte, _cut, _number, _length, _out, _again, _noise, _zeros, _joined)
