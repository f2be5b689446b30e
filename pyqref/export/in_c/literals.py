"""Numbers and names as C has them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

__all__ = ["KEYWORDS", "array_text", "identifier", "number", "typed"]

#: Names that a C99 compiler, or the file itself, has taken.
KEYWORDS = frozenset(
    (
        *("auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else"),
        *("enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register"),
        *("restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch"),
        *("typedef", "union", "unsigned", "void", "volatile", "while", "main"),
    )
)
_TYPES = {
    np.dtype(np.int8): "int8_t",
    np.dtype(np.uint8): "uint8_t",
    np.dtype(np.int32): "int32_t",
    np.dtype(np.float32): "float",
}
#: Numbers in a line.
_IN_LINE = 16


def typed(array: np.ndarray) -> str:
    """The type of the elements of an array.

    Examples
    --------
    >>> typed(np.int8([1]))
    'int8_t'
    """
    return _TYPES[array.dtype]


def number(value: Any) -> str:
    """A number that a compiler reads as exactly this one.

    Examples
    --------
    >>> number(np.float32(0.1)), number(np.float32(2)), number(-7), number(-(2**31))
    ('0.1f', '2.0f', '-7', '(-2147483647 - 1)')
    """
    if isinstance(value, np.floating):
        text = str(np.float32(value))
        return f"{text}f" if any(each in text for each in ".e") else f"{text}.0f"
    if int(value) == -(2**31):
        return "(-2147483647 - 1)"
    return str(int(value))


def array_text(array: np.ndarray) -> str:
    """The elements of an array in lines.

    Examples
    --------
    >>> array_text(np.int8([1, -2]))
    '       1,   -2'
    """
    flat = array.reshape(-1)
    if flat.dtype.itemsize == 1 and flat.size:
        return _bytes_text(flat)
    texts = [number(each) for each in flat]
    lines = [texts[at : at + 8] for at in range(0, len(texts), 8)]
    return ",\n".join("    " + ", ".join(line) for line in lines)


def _bytes_text(flat: np.ndarray) -> str:
    """Bytes in columns; a table of their texts makes this quick for millions."""
    limits = np.iinfo(flat.dtype)
    width = len(str(limits.min)) if limits.min else 3
    known = [f"{n:{width}d}, " for n in range(limits.min, limits.max + 1)]
    table = np.array(known, f"S{width + 2}")
    cells = np.take(table, flat.astype(np.int64) - limits.min)
    full = flat.size // _IN_LINE * _IN_LINE
    lines = cells[:full].reshape(-1, _IN_LINE).view(f"S{_IN_LINE * (width + 2)}").reshape(-1)
    found = [line.decode().rstrip() for line in lines.tolist()]
    if full < flat.size:
        found.append("".join(each.decode() for each in cells[full:].tolist()).rstrip())
    return "\n".join("    " + line for line in found).removesuffix(",")


def identifier(path: str, taken: set[str]) -> str:
    """A name in C for a module path, which no other has.

    Examples
    --------
    >>> taken = set()
    >>> identifier("features.0", taken), identifier("features_0", taken), identifier("0", taken)
    ('features_0', 'features_0_1', 'layer_0')
    """
    name = re.sub(r"[^A-Za-z0-9]+", "_", path).strip("_") or "layer"
    if not name[0].isalpha():
        name = f"layer_{name}"
    count, made = 0, name
    while made in taken:
        count += 1
        made = f"{name}_{count}"
    taken.add(made)
    return made
