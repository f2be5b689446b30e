"""Reading a manifest: what is used of it is looked at first."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

from ... import dtypes
from ...arithmetic import names
from ...backends import quantized as settings
from ...serialization import FileError
from ...serialization.container import parse_json
from .manifest import KIND, MANIFEST, SCHEMA, checksum_of

__all__ = ["parsed", "read_manifest"]

#: Types of NumPy that arrays may have.
TYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
#: Elements of an array, at most.
MOST = 2**32


class _Wrong(Exception):  # noqa: N818  # it never leaves this file
    """Error of a part of a manifest; it says what the part must be."""


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a folder whose files are as they were written.

    Raises
    ------
    FileError
        The folder holds no vectors, those of another schema, or a file was changed.
    """
    where = f"verify: {str(folder)!r}"
    path = folder / MANIFEST
    if not path.is_file():
        raise FileError(
            f"{where} has no {MANIFEST}; name a folder that pyqref.export.vectors wrote"
        )
    found = parsed(path.read_bytes(), where)
    files = found["files"].items()
    changed = [name for name, checksum in files if _checksum(folder, name) != checksum]
    if changed:
        raise FileError(
            f"{where}: {', '.join(map(repr, changed[:3]))} is missing or is not as it was written; "
            "write the vectors again"
        )
    return found


def _checksum(folder: Path, name: str) -> str:
    path = folder / name
    inside = path.parent == folder and path.is_file()
    return checksum_of(path) if inside else ""


def parsed(data: bytes, where: str) -> dict[str, Any]:
    """The manifest that bytes stand for.

    Raises
    ------
    FileError
        They are no manifest of this schema.
    """
    found: Any = parse_json(data, f"{where}: {MANIFEST}")
    if not isinstance(found, dict) or found.get("kind") != KIND:
        raise FileError(f"{where}: {MANIFEST} is not one of vectors")
    if found.get("schema") != SCHEMA:
        raise FileError(
            f"{where}: the schema is {str(found.get('schema'))[:20]!r}, this release reads "
            f"{SCHEMA}; use a newer release of pyqref"
        )
    try:
        _check(found)
    except _Wrong as error:
        raise FileError(f"{where}: {MANIFEST} is damaged: {error}") from None
    return found


def _check(found: dict[str, Any]) -> None:
    for name, value in _member(found, "files", dict).items():
        _require(isinstance(value, str), f"files: {name!r} must have a checksum")
    engine, arithmetic = _member(found, "engine", str), _member(found, "arithmetic", str)
    by_engine = _member(found, "by_engine", bool)
    _require(engine in settings.supported_engines, f"engine must be one, got {engine!r}")
    known = settings.supported_engines if by_engine else names()
    _require(arithmetic in known, f"arithmetic must be one, got {arithmetic!r}")
    for each in _member(found, "inputs", list):
        _array(each)
    taken: set[str] = set()
    for layer in _member(found, "layers", list):
        _require(isinstance(layer, dict), "a layer must be an object")
        for name in ("path", "node"):
            key = f"{name} {_member(layer, name, str)}"
            _require(key not in taken, f"two layers have the {key!r}")
            taken.add(key)
        inputs, output = _member(layer, "inputs", list), _member(layer, "output", dict)
        named = [_member(layer, name, dict).values() for name in ("parameters", "stages")]
        for each in (*inputs, output, *named[0], *named[1]):
            _array(each)


def _array(each: Any) -> None:
    _require(isinstance(each, dict), "an array must be an object")
    _member(each, "array", str)
    kind, shape = _member(each, "type", str), _member(each, "shape", list)
    _require(kind in TYPES, f"type must be one of NumPy, got {kind!r}")
    sizes = all(type(size) is int and size >= 0 for size in shape)
    _require(sizes and prod(shape) <= MOST and len(shape) <= 32, "shape must be lengths of axes")
    for file in _member(each, "files", dict).values():
        _require(isinstance(file, str), "files must have names")
    if "scale" in each:
        _grid(each)


def _grid(each: dict[str, Any]) -> None:
    kind = getattr(dtypes, _member(each, "dtype", str), None)
    is_kind = isinstance(kind, dtypes.dtype) and kind.is_quantized
    _require(is_kind, "dtype must be one of integers")
    for name in ("quant_min", "quant_max"):
        _member(each, name, int)
    one = "axis" not in each
    for name in ("scale", "zero_point"):
        numbers: list[Any] = [each.get(name)] if one else _member(each, name, list)
        fits = all(type(n) in (int, float) and abs(n) <= 2.0**128 for n in numbers)
        _require(fits, f"{name} must be a number")


def _member(of: dict[str, Any], name: str, kind: type) -> Any:
    value = of.get(name)
    _require(type(value) is kind, f"{name} must be a {kind.__name__}")
    return value


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise _Wrong(what)
