"""Arrays as a C header that needs nothing but ``<stdint.h>``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from .manifest import SCHEMA, checksum_of_array
from .vectors import Layer, Stored

__all__ = ["c_names", "to_c"]

#: Numbers in a line.
_COLUMNS = 12
_KINDS = {"float16": "float", "float32": "float", "float64": "double", "bool": "uint8_t"}


def c_names(names: Iterable[str]) -> dict[str, str]:
    """An identifier for each array; no two have the same.

    Examples
    --------
    >>> c_names(["a.b/output", "a_b/output"])
    {'a.b/output': 'a_b_output', 'a_b/output': 'a_b_output_1'}
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        made, count = c_name(name), 0
        while made in taken:
            count += 1
            made = f"{c_name(name)}_{count}"
        taken.add(made)
        found[name] = made
    return found


def c_name(name: str) -> str:
    """An identifier for an array.

    Examples
    --------
    >>> c_name("block.0.conv/output"), c_name("0/output")
    ('block_0_conv_output', 'v_0_output')
    """
    made = re.sub(r"\W", "_", name, flags=re.ASCII)
    return made if made[:1].isalpha() else f"v_{made}"


def to_c(
    layers: list[Layer], inputs: list[Stored], arithmetic: str, names: dict[str, str]
) -> Iterator[str]:
    """The text of a header, in parts; ``names`` are those of :func:`c_names`.

    Each array is ``static const``, its last axis fastest. Scales, zero points and ends of clamps
    are macros.
    """
    yield f"/* Golden vectors of pyqref, schema {SCHEMA}: arithmetic {arithmetic}. */\n"
    yield "#ifndef PYQREF_VECTORS_H\n#define PYQREF_VECTORS_H\n\n#include <stdint.h>\n"
    if any(_has_no_literal(each) for each in (*inputs, *_arrays(layers))):
        yield "#include <math.h>\n"
    for each in inputs:
        yield from _array(each, names)
    for layer in layers:
        path = layer.path.replace("*/", "")
        yield f"\n/* {path}: {layer.operation}, arithmetic {layer.arithmetic} */\n"
        for n, each in enumerate(layer.inputs):
            name = c_name(f"{layer.name}/input{n or ''}")
            yield from _grid(name, each)
            if name != names[each.name]:
                yield f"#define {name} {names[each.name]}\n"
        if layer.clamp is not None:
            for end, value in zip(("LOW", "HIGH"), layer.clamp, strict=True):
                yield f"#define {c_name(layer.name).upper()}_{end} ({value})\n"
        yield from _grid(c_name(f"{layer.name}/output"), layer.output)
        for each in layer.stored:
            yield from _array(each, names)
    yield "\n#endif\n"


def _arrays(layers: list[Layer]) -> Iterator[Stored]:
    for layer in layers:
        yield from layer.stored


def _grid(name: str, each: Stored) -> Iterator[str]:
    grid = each.grid
    if isinstance(grid.get("scale"), float):
        yield f"#define {name.upper()}_SCALE {grid['scale'].hex()}\n"
        yield f"#define {name.upper()}_ZERO_POINT ({grid['zero_point']})\n"


def _array(each: Stored, names: dict[str, str]) -> Iterator[str]:
    array, name = each.array, names[each.name]
    kind = _KINDS.get(array.dtype.name, f"{array.dtype.name}_t")
    shape = " x ".join(map(str, array.shape)) or "one number"
    yield f"\n/* {shape}; SHA-256 of its little-endian bytes: {checksum_of_array(array)} */\n"
    yield f"static const {kind} {name}[{max(array.size, 1)}] = {{\n"
    write: Any = _integer
    if array.dtype.kind == "f":
        write = partial(_real, suffix="f" if array.dtype.itemsize < 8 else "")
    words = list(map(write, array.reshape(-1).tolist())) or ["0"]
    for first in range(0, len(words), _COLUMNS):
        yield f"    {', '.join(words[first : first + _COLUMNS])},\n"
    yield "};\n"


def _integer(number: int) -> str:
    """An integer as C99 reads it; the least one of 64 bits has no literal and is a sum."""
    return str(int(number)) if number != -(2**63) else f"({number + 1} - 1)"


def _real(number: float, suffix: str) -> str:
    """A real number as C99 reads it: in hexadecimal, exactly."""
    if number != number:
        return "NAN"
    if number in (float("inf"), float("-inf")):
        return "INFINITY" if number > 0 else "-INFINITY"
    return number.hex() + suffix


def _has_no_literal(each: Stored) -> bool:
    return each.array.dtype.kind == "f" and not bool(np.isfinite(each.array).all())
