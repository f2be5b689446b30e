"""Arrays as hexadecimal text: for ``$readmemh`` of Verilog, and as Intel hex; and back."""

from __future__ import annotations

import re

import numpy as np

from .manifest import bytes_of

__all__ = ["from_ihex", "from_readmemh", "to_ihex", "to_readmemh"]

#: Bytes of a record of Intel hex.
_RECORD = 16


def to_readmemh(array: np.ndarray, comment: str = "") -> str:
    """A number a line, last axis fastest: in two's complement; of real numbers, their bits.

    Examples
    --------
    >>> print(to_readmemh(np.int8([1, -1]), "two numbers"))
    // two numbers
    01
    ff
    <BLANKLINE>
    """
    flat = np.ascontiguousarray(array).reshape(-1)
    bits = flat.view(f"u{flat.dtype.itemsize}").tolist()
    digits = 2 * flat.dtype.itemsize
    lines = [f"// {comment}"] if comment else []
    return "\n".join([*lines, *(f"{each:0{digits}x}" for each in bits), ""])


def from_readmemh(text: str, like: np.ndarray) -> np.ndarray:
    r"""What :func:`to_readmemh` or ``$writememh`` wrote, with the type and the shape of ``like``.

    Raises
    ------
    ValueError
        It holds another number of numbers, or a digit that is none, such as an ``x``.

    Examples
    --------
    >>> from_readmemh("// 0x0\n01 fF", np.zeros(2, np.int8))
    array([ 1, -1], dtype=int8)
    """
    words = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    found: list[str] = []
    for word in words.replace("_", "").split():
        if word == f"@{len(found):0{len(word) - 1}x}".lower():
            continue  # the address of the next number
        found.append(word)
    size = like.dtype.itemsize
    wrong = [each for each in found if not re.fullmatch(f"[0-9a-fA-F]{{1,{2 * size}}}", each)]
    if wrong:
        raise ValueError(f"{wrong[0]!r} is no number of {8 * size} bits")
    if len(found) != like.size:
        raise ValueError(f"{len(found)} numbers, not {like.size}")
    bits = np.array([int(each, 16) for each in found], f"u{size}")
    return bits.view(like.dtype).reshape(like.shape)


def to_ihex(array: np.ndarray) -> str:
    """The little-endian bytes from address 0, last axis fastest, as Intel hex.

    Examples
    --------
    >>> print(to_ihex(np.int16([1, -1])))
    :040000000100FFFFFD
    :00000001FF
    <BLANKLINE>
    """
    data = bytes_of(array)
    lines, upper = [], 0
    for at in range(0, len(data), _RECORD):
        if at >> 16 != upper:
            upper = at >> 16
            lines.append(_record(0, 4, upper.to_bytes(2, "big")))
        lines.append(_record(at & 0xFFFF, 0, data[at : at + _RECORD]))
    return "\n".join([*lines, _record(0, 1, b""), ""])


def _record(address: int, kind: int, data: bytes) -> str:
    body = bytes([len(data)]) + address.to_bytes(2, "big") + bytes([kind]) + data
    return f":{body.hex()}{-sum(body) & 255:02x}".upper()


def from_ihex(text: str, like: np.ndarray) -> np.ndarray:
    """What :func:`to_ihex` or a device wrote, with the type and the shape of ``like``.

    Raises
    ------
    ValueError
        A record is damaged, or it holds another number of bytes.

    Examples
    --------
    >>> from_ihex(":040000000100FFFFFD", np.zeros(2, np.int16))
    array([ 1, -1], dtype=int16)
    """
    found = bytearray()
    upper = 0
    for number, line in enumerate(text.split(), 1):
        try:
            body = bytes.fromhex(line.removeprefix(":"))
        except ValueError:
            body = b""
        if len(body) < 5 or len(body) != body[0] + 5 or sum(body) & 255 or line[0] != ":":
            raise ValueError(f"the record {number} is damaged")
        kind, data = body[3], body[4:-1]
        if kind == 4:
            upper = int.from_bytes(data, "big") << 16
        elif kind == 0:
            at = upper + int.from_bytes(body[1:3], "big")
            if at != len(found):
                raise ValueError(f"the record {number} does not follow the one before it")
            found += data
    if len(found) != like.nbytes:
        raise ValueError(f"{len(found)} bytes, not {like.nbytes}")
    little = np.frombuffer(bytes(found), like.dtype.newbyteorder("<"))
    return little.astype(like.dtype).reshape(like.shape)
