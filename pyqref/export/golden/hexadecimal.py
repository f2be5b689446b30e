"""Arrays as hexadecimal text: for ``$readmemh`` of Verilog, and as Intel hex; and back."""

from __future__ import annotations

import re

import numpy as np

from .manifest import bytes_of

__all__ = ["from_ihex", "from_readmemh", "to_ihex", "to_readmemh"]

#: Bytes of a record of Intel hex, and of what 16 bits of an address reach.
_RECORD, _PAGE = 16, 2**16


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
    big = np.frombuffer(flat.astype(flat.dtype.newbyteorder(">")).tobytes(), np.uint8)
    head = f"// {comment}\n" if comment else ""
    return head + _lines(big.reshape(flat.size, flat.dtype.itemsize))


def _lines(rows: np.ndarray, begin: str = "") -> str:
    """The bytes of each row as digits in a line of its own."""
    digits = np.frombuffer(rows.tobytes().hex().encode("ascii"), np.uint8)
    first, last = (np.frombuffer(each.encode("ascii"), np.uint8) for each in (begin, "\n"))
    parts = (
        np.broadcast_to(first, (len(rows), first.size)),
        digits.reshape(len(rows), 2 * rows.shape[1]),
        np.broadcast_to(last, (len(rows), 1)),
    )
    return np.concatenate(parts, axis=1).tobytes().decode("ascii")


def from_readmemh(text: str, like: np.ndarray) -> np.ndarray:
    r"""Read numbers of :func:`to_readmemh` or ``$writememh``, with type and shape of ``like``.

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
    data = np.frombuffer(bytes_of(array), np.uint8)
    parts = []
    for start in range(0, data.size, _PAGE):
        if start:
            upper = np.frombuffer((start >> 16).to_bytes(2, "big"), np.uint8)
            parts.append(_records(upper[None], 4))
        page = data[start : start + _PAGE]
        whole = page.size - page.size % _RECORD
        parts.append(_records(page[:whole].reshape(-1, _RECORD), 0))
        if page.size > whole:
            parts.append(_records(page[None, whole:], 0, whole))
    parts.append(_records(data[None, :0], 1))
    return "".join(parts)


def _records(rows: np.ndarray, kind: int, address: int = 0) -> str:
    """Records of one length, one behind the other from an address."""
    head = np.zeros((len(rows), 4), np.uint8)
    places = address + np.arange(len(rows)) * rows.shape[1]
    head[:, 0], head[:, 1], head[:, 2], head[:, 3] = rows.shape[1], places >> 8, places & 255, kind
    body = np.concatenate([head, rows], axis=1)
    checksum = -body.sum(axis=1, dtype=np.int64) & 255
    made = np.concatenate([body, checksum[:, None].astype(np.uint8)], axis=1)
    return _lines(made, ":").upper()


def from_ihex(text: str, like: np.ndarray) -> np.ndarray:
    """Read numbers of :func:`to_ihex` or a device, with the type and the shape of ``like``.

    Raises
    ------
    ValueError
        A record is damaged or missing, or it holds another number of bytes.

    Examples
    --------
    >>> from_ihex(":040000000100FFFFFD :00000001FF", np.zeros(2, np.int16))
    array([ 1, -1], dtype=int16)
    """
    found = bytearray()
    upper, ended = 0, False
    for number, line in enumerate(text.split(), 1):
        try:
            body = bytes.fromhex(line.removeprefix(":"))
        except ValueError:
            body = b""
        if len(body) < 5 or len(body) != body[0] + 5 or sum(body) & 255 or line[0] != ":":
            raise ValueError(f"the record {number} is damaged")
        kind, data = body[3], body[4:-1]
        ended = kind == 1
        if kind == 4:
            upper = int.from_bytes(data, "big") << 16
        elif kind == 0:
            at = upper + int.from_bytes(body[1:3], "big")
            if at != len(found):
                raise ValueError(f"the record {number} does not follow the one before it")
            found += data
    if len(found) != like.nbytes:
        raise ValueError(f"{len(found)} bytes, not {like.nbytes}")
    if not ended:
        raise ValueError("its last record is not the one that ends a file")
    little = np.frombuffer(bytes(found), like.dtype.newbyteorder("<"))
    return little.astype(like.dtype).reshape(like.shape)
