"""Arrays as a C header that needs nothing but ``<stdint.h>``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .manifest import SCHEMA, checksum_of_array
from .vectors import Layer, Stored

__all__ = ["c_name", "to_c"]

_COLUMNS = 96
_KINDS = {"float32": "float", "float64": "double", "bool": "uint8_t"}


def c_name(name: str) -> str:
    """An identifier for an array.

    Examples
    --------
    >>> c_name("block.0.conv/output"), c_name("0/output")
    ('block_0_conv_output', 'v_0_output')
    """
    made = re.sub(r"\W", "_", name, flags=re.ASCII)
    return made if made[:1].isalpha() else f"v_{made}"


def to_c(layers: list[Layer], inputs: list[Stored], settings: dict[str, Any]) -> Iterator[str]:
    """The text of a header, in parts.

    Each array is ``static const``, its last axis fastest. Scales, zero points and ends of clamps
    are macros.
    """
    yield f"/* Golden vectors of pyqref, schema {SCHEMA}: arithmetic {settings['arithmetic']}. */\n"
    yield "#ifndef PYQREF_VECTORS_H\n#define PYQREF_VECTORS_H\n\n#include <stdint.h>\n"
    if any(_has_no_literal(each) for each in (*inputs, *_arrays(layers))):
        yield "#include <math.h>\n"
    for each in inputs:
        yield from _array(each)
    for layer in layers:
        path = layer.path.replace("*/", "")
        yield f"\n/* {path}: {layer.operation}, arithmetic {layer.arithmetic} */\n"
        for n, each in enumerate(layer.inputs):
            name = c_name(f"{layer.name}/input{n or ''}")
            yield from _grid(name, each)
            if name != c_name(each.name):
                yield f"#define {name} {c_name(each.name)}\n"
        if layer.clamp is not None:
            for end, value in zip(("LOW", "HIGH"), layer.clamp, strict=True):
                yield f"#define {c_name(layer.name).upper()}_{end} ({value})\n"
        yield from _grid(c_name(f"{layer.name}/output"), layer.output)
        for each in layer.stored:
            yield from _array(each)
    yield "\n#endif\n"


def _arrays(layers: list[Layer]) -> Iterator[Stored]:
    for layer in layers:
        yield from layer.stored


def _grid(name: str, each: Stored) -> Iterator[str]:
    grid = each.grid
    if isinstance(grid.get("scale"), float):
        yield f"#define {name.upper()}_SCALE {grid['scale'].hex()}\n"
        yield f"#define {name.upper()}_ZERO_POINT ({grid['zero_point']})\n"


def _array(each: Stored) -> Iterator[str]:
    array, name = each.array, c_name(each.name)
    kind = _KINDS.get(array.dtype.name, f"{array.dtype.name}_t")
    shape = " x ".join(map(str, array.shape)) or "one number"
    yield f"\n/* {shape}; SHA-256 of its little-endian bytes: {checksum_of_array(array)} */\n"
    yield f"static const {kind} {name}[{max(array.size, 1)}] = {{\n"
    yield from _lines(map(_literal, array.reshape(-1).tolist()) if array.size else ["0"], array)
    yield "};\n"


def _lines(words: Iterable[str], array: np.ndarray) -> Iterator[str]:
    """Lines of numbers, as long as they may be."""
    suffix = "f" if array.dtype == np.float32 else ""
    line = "   "
    for word in words:
        if suffix and "x" in word:
            word += suffix
        if len(line) + len(word) > _COLUMNS:
            yield line + "\n"
            line = "   "
        line += f" {word},"
    yield line + "\n"


def _literal(number: Any) -> str:
    """A number as C99 reads it: real ones in hexadecimal, exactly."""
    if isinstance(number, bool):
        return str(int(number))
    if isinstance(number, int):
        # The least number of 64 bits has no literal: it is a sum.
        return f"({number + 1} - 1)" if number == -(2**63) else str(number)
    if number != number:
        return "NAN"
    if number in (float("inf"), float("-inf")):
        return "INFINITY" if number > 0 else "-INFINITY"
    return float(number).hex()


def _has_no_literal(each: Stored) -> bool:
    return each.array.dtype.kind == "f" and not bool(np.isfinite(each.array).all())
