"""Number formats of files, and the NumPy types that hold every one of their values.

Formats that no tensor here has are widened as they are read: bfloat16 is the upper half of
float32; the 256 values of an 8-bit float stand in a table of float32.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, BinaryIO

import numpy as np

from ..tape import Array
from .errors import FileError

__all__ = ["ELEMENTS", "Element", "float8_values", "read_elements", "told_of_widened"]

#: Bytes read at a time.
_PIECE = 1 << 22


@dataclass(frozen=True)
class Element:
    """Format of one number in a file, and the NumPy type that holds it.

    Parameters
    ----------
    name
        As torch calls it: ``bfloat16``.
    stored
        Type of the bytes in the file.
    held
        Type that they have here.
    """

    name: str
    stored: Any
    held: Any

    @property
    def size(self) -> int:
        """Bytes of one number in the file."""
        return int(np.dtype(self.stored).itemsize)

    @property
    def is_widened(self) -> bool:
        """Return True if numbers get a wider type than they have in the file."""
        return self.size != np.dtype(self.held).itemsize


_SAME = (
    "float16 float32 float64 uint8 int8 int16 int32 int64 bool".split()  # noqa: SIM905
)
ELEMENTS: dict[str, Element] = {
    **{name: Element(name, np.dtype(name), np.dtype(name)) for name in _SAME},
    "bfloat16": Element("bfloat16", np.uint16, np.float32),
    "uint16": Element("uint16", np.uint16, np.int32),
    "uint32": Element("uint32", np.uint32, np.int64),
    **{
        name: Element(name, np.uint8, np.float32)
        for name in (
            "float8_e4m3fn",
            "float8_e4m3fnuz",
            "float8_e5m2",
            "float8_e5m2fnuz",
            "float8_e8m0fnu",
        )
    },
    "qint8": Element("qint8", np.int8, np.int8),
    "quint8": Element("quint8", np.uint8, np.uint8),
    "qint32": Element("qint32", np.int32, np.int32),
    "quint4x2": Element("quint4x2", np.uint8, np.uint8),
    "quint2x4": Element("quint2x4", np.uint8, np.uint8),
}


@cache
def float8_values(name: str) -> Array:
    r"""The float32 values of the 256 bytes of an 8-bit float format.

    With :math:`e` bits of exponent, :math:`m` of mantissa and bias :math:`\beta`:

    .. math:: x = (-1)^s \, 2^{E - \beta} (1 + M / 2^m), \qquad
              x = (-1)^s \, 2^{1 - \beta} M / 2^m \text{ for } E = 0

    Examples
    --------
    >>> float8_values("float8_e4m3fn")[[0x38, 0x7E, 0x01]].tolist()
    [1.0, 448.0, 0.001953125]
    """
    code = np.arange(256)
    if name == "float8_e8m0fnu":
        values = np.ldexp(np.ones(256), code - 127)
        values[255] = np.nan
        return np.asarray(values, np.float32)
    mantissa_bits = 3 if "e4m3" in name else 2
    bias = (7 if mantissa_bits == 3 else 15) + name.endswith("uz")
    exponent = (code & 127) >> mantissa_bits
    mantissa = (code & (2**mantissa_bits - 1)) / 2**mantissa_bits
    whole = np.where(exponent > 0, 1.0 + mantissa, mantissa)
    values = np.ldexp(whole, np.maximum(exponent, 1) - bias) * np.where(code > 127, -1.0, 1.0)
    if name.endswith("uz"):  # no infinity, no negative zero: its place is nan's
        values[128] = np.nan
    elif mantissa_bits == 3:  # no infinity either
        values[[127, 255]] = np.nan
    else:
        values[[124, 252]] = np.inf, -np.inf
        values[[125, 126, 127, 253, 254, 255]] = np.nan
    return np.asarray(values, np.float32)


def read_elements(
    data: BinaryIO, count: int, element: Element, where: str, big_endian: bool = False
) -> Array:
    """The next numbers of a file, in one dimension.

    Parameters
    ----------
    data
        The file, at the first byte.
    count
        How many numbers; the caller has checked that the file is as long.
    element
        Their format.
    where
        File and key, for errors.
    big_endian
        Whether the highest byte of a number comes first.
    """
    array = np.empty(count, element.held)
    stored = np.dtype(element.stored).newbyteorder(">" if big_endian else "<")
    step = max(_PIECE // element.size, 1)
    for start in range(0, count, step):
        piece = array[start : start + step]
        if not element.is_widened:
            _fill(piece.view(np.uint8).data, data, where)
            continue
        raw = np.empty(piece.size, stored)
        _fill(raw.view(np.uint8).data, data, where)
        if element.name == "bfloat16":
            piece.view(np.uint32)[:] = raw.astype(np.uint32) << np.uint32(16)
        elif element.name.startswith("float8"):
            piece[:] = float8_values(element.name)[raw]
        else:
            piece[:] = raw
    if big_endian and not element.is_widened:
        array.byteswap(inplace=True)
    if array.dtype == np.bool_:
        bits = array.view(np.uint8)
        np.not_equal(bits, 0, out=array)
    return array


def told_of_widened(counts: dict[str, int]) -> list[str]:
    """Return the note on widened formats, given the number of tensors of each.

    Examples
    --------
    >>> told_of_widened({"bfloat16": 2})
    ['2 arrays of bfloat16 are read as float32, which holds each of their values exactly']
    """
    return [
        f"{count} array{'s' * (count > 1)} of {name} {'are' if count > 1 else 'is'} read as "
        f"{np.dtype(ELEMENTS[name].held).name}, which holds each of "
        f"{'their' if count > 1 else 'its'} values exactly"
        for name, count in counts.items()
    ]


def _fill(room: memoryview, data: BinaryIO, where: str) -> None:
    done = 0
    while done < len(room):
        count = data.readinto(room[done:])  # type: ignore[attr-defined]
        if not count:
            raise FileError(f"{where}: truncated: the file became shorter while it was read")
        done += count
