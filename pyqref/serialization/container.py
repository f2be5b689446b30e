"""The safetensors container: named arrays and text, without code.

A file is 8 bytes with the length of a JSON header, the header, and the bytes of the
arrays. The package ``safetensors`` writes it. Reading checks everything that a header can get
wrong, so that the error can name the key, and then reads each array into its own memory: no
more is held than the file has.
"""

from __future__ import annotations

import json
import math
import warnings
from collections import Counter
from typing import Any, BinaryIO

import numpy as np

from ..tape import Array
from .elements import ELEMENTS, read_elements, told_of_widened
from .errors import FileError

__all__ = ["pack", "pack_into", "parse_json", "short", "unpack"]

#: Names of element types in a header, and those of torch for them.
_TYPES = {
    "F16": "float16",
    "F32": "float32",
    "F64": "float64",
    "U8": "uint8",
    "I8": "int8",
    "I16": "int16",
    "I32": "int32",
    "I64": "int64",
    "BOOL": "bool",
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E8M0": "float8_e8m0fnu",
    "U16": "uint16",
    "U32": "uint32",
}
_METADATA = "__metadata__"
#: The longest header that the package safetensors accepts.
_MAX_HEADER = 100_000_000
#: Values in a header, or in the structure in it: Python takes some 100 bytes for each.
_MAX_VALUES = 2_000_000


def pack(arrays: dict[str, Array], metadata: dict[str, str]) -> bytes:
    """The bytes of a file with these arrays and texts."""
    import safetensors.numpy

    return bytes(safetensors.numpy.save(_contiguous(arrays), metadata))


def pack_into(path: str, arrays: dict[str, Array], metadata: dict[str, str]) -> None:
    """Write what :func:`pack` returns to a file.

    The package safetensors makes no copy in memory since its release 0.8.
    """
    import safetensors.numpy

    safetensors.numpy.save_file(_contiguous(arrays), path, metadata)


def _contiguous(arrays: dict[str, Array]) -> dict[str, Array]:
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    return {name: array.reshape(arrays[name].shape) for name, array in contiguous.items()}


def unpack(data: BinaryIO, size: int, file: str) -> tuple[dict[str, Array], dict[str, str]]:
    """The arrays and texts of a file.

    Parameters
    ----------
    data
        The file, at its beginning.
    size
        How many bytes it has.
    file
        Its name, for errors.

    Raises
    ------
    FileError
        The bytes are no well-formed file.

    Warns
    -----
    UserWarning
        Numbers of a dtype that pyqref does not have were widened.
    """
    ranges, metadata = _check(data, size, file)
    arrays: dict[str, Array] = {}
    widened: dict[str, int] = {}
    for name, entry in ranges.items():
        element = ELEMENTS[_TYPES[entry["dtype"]]]
        where = f"{file}: {name!r}"
        count = math.prod(entry["shape"])
        if element.name == "bool":
            array = read_elements(data, count, ELEMENTS["uint8"], where)
            if count and array.max() > 1:
                raise FileError(f"{where}: the bytes of BOOL must be 0 or 1, found {array.max()}")
            array = array.view(np.bool_)
        else:
            array = read_elements(data, count, element, where)
        if element.is_widened:
            widened[element.name] = widened.get(element.name, 0) + 1
        arrays[name] = array.reshape(entry["shape"])
    if widened:
        warnings.warn(f"load: {file}: {'; '.join(told_of_widened(widened))}", stacklevel=3)
    return arrays, metadata


def _check(data: BinaryIO, size: int, file: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Check the header against the size; return its arrays, in order, and its texts."""
    begin = data.read(8)
    if len(begin) == 8 and int.from_bytes(begin, "little") <= min(_MAX_HEADER, size - 8):
        text = data.read(int.from_bytes(begin, "little"))
    else:
        text = b""
    _refuse_other_formats(begin + text[:8], file)
    if len(begin) < 8:
        raise FileError(
            f"{file}: truncated: a safetensors file begins with 8 bytes of header length, "
            f"found {len(begin)} bytes in all"
        )
    length = int.from_bytes(begin, "little")
    if length > _MAX_HEADER:
        raise FileError(
            f"{file}: not a safetensors file: the header length must be at most "
            f"{_MAX_HEADER}, found {length}"
        )
    if length > len(text):
        found = max(len(text), size - 8)
        raise FileError(f"{file}: truncated: the header should have {length} bytes, found {found}")
    header = parse_json(text, f"{file}: the header")
    if not isinstance(header, dict):
        raise FileError(f"{file}: the header must be a JSON object, found {short(header)}")
    metadata = header.pop(_METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise FileError(f"{file}: {_METADATA} must map names to strings, found {short(metadata)}")
    ranges = sorted((*_check_entry(name, entry, file), name) for name, entry in header.items())
    expected = 0
    for start, end, name in ranges:
        if start != expected:
            raise FileError(
                f"{file}: {name!r}: data must begin at byte {expected}, after the tensor before "
                f"it, found {start}"
            )
        expected = end
    found = size - 8 - length
    if expected != found:
        kind = "truncated" if found < expected else "oversized"
        raise FileError(
            f"{file}: {kind}: the header describes {expected} bytes of tensors, found {found}"
        )
    return {name: header[name] for _, _, name in ranges}, metadata


def parse_json(text: bytes, what: str) -> object:
    """JSON without duplicate keys, without nan and infinity; ``what`` names it in errors."""
    values = sum(text.count(mark) for mark in (b",", b"[", b"{"))
    if values > _MAX_VALUES:
        raise FileError(
            f"{what} has {values} values, at most {_MAX_VALUES} are read; save large lists of "
            "numbers as tensors"
        )

    def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
            raise FileError(f"{what} has the key {twice!r} twice")
        return members

    def no_constants(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    try:
        return json.loads(
            text.decode("utf-8"), object_pairs_hook=no_duplicates, parse_constant=no_constants
        )
    except UnicodeDecodeError as error:
        raise FileError(f"{what} is not UTF-8 text: {error}") from error
    except RecursionError as error:
        raise FileError(f"{what} is nested too deeply") from error
    except ValueError as error:
        raise FileError(f"{what} is not JSON: {error}") from error


def _check_entry(name: str, entry: Any, file: str) -> tuple[int, int]:
    """Check one tensor of the header; return where its bytes begin and end."""
    where = f"{file}: {name!r}"
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise FileError(f"{where}: must have dtype, shape and data_offsets, found {short(entry)}")
    dtype = entry["dtype"]
    if not isinstance(dtype, str) or dtype not in _TYPES:
        raise FileError(
            f"{where}: dtype must be one of {', '.join(_TYPES)}, found {short(dtype)}; "
            "convert the tensor and save it again"
        )
    shape, offsets = entry["shape"], entry["data_offsets"]
    if not _is_counts(shape):
        raise FileError(f"{where}: shape must be a list of integers >= 0, found {short(shape)}")
    if len(shape) > 32:
        raise FileError(f"{where}: a tensor has at most 32 dimensions, found {len(shape)}")
    if math.prod(length or 1 for length in shape) >= 2**60:  # even if one of them is 0
        raise FileError(f"{where}: a tensor of shape {short(shape)} cannot be addressed")
    if not _is_counts(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise FileError(
            f"{where}: data_offsets must be [begin, end] with 0 <= begin <= end, "
            f"found {short(offsets)}"
        )
    needed = math.prod(shape) * ELEMENTS[_TYPES[dtype]].size
    if needed != offsets[1] - offsets[0]:
        raise FileError(
            f"{where}: shape {shape} of {dtype} takes {needed} bytes, data_offsets "
            f"{short(offsets)} give {offsets[1] - offsets[0]}"
        )
    return offsets[0], offsets[1]


def _is_counts(value: Any) -> bool:
    return isinstance(value, list) and all(type(each) is int and each >= 0 for each in value)


def _refuse_other_formats(data: bytes, file: str) -> None:
    """Say what the file is, where it is well known and something else."""
    if data[:1] == b"\x80" and data[1:2] in b"\x02\x03\x04\x05" and data[8:9] != b"{":
        raise FileError(
            f"{file}: a pickle, such as pickle.dump writes, which is not read, because loading "
            "must run no code; where torch is installed and you trust the file, save what is in "
            "it with torch.save(values, new_path), which is read here"
        )
    if data[:6] == b"\x93NUMPY":
        raise FileError(f"{file}: a NumPy .npy file; load it with numpy.load and pyqref.from_numpy")


def short(value: object) -> str:
    """A value of a file as errors show it."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
