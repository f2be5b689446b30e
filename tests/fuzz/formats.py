"""The file formats that are read: good files of each, what reads them, and edits that know them.

A format is added by one line in :data:`FORMATS`. Its good files are made when they are asked for.
"""

from __future__ import annotations

import io
import json
import random
import struct
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyqref
from pyqref import nn
from pyqref.demo import folder
from pyqref.export.golden.reading import parsed
from pyqref.serialization import FileError


@dataclass(frozen=True)
class Format:
    """A format.

    Attributes
    ----------
    name
        What the command line calls it.
    good
        Files that can be read.
    load
        What reads a file from its bytes.
    edit
        Changes a file, knowing the format; None if there is no such edit.
    refuses
        The class of error that a bad file gives.
    """

    name: str
    good: Callable[[], list[bytes]]
    load: Callable[[bytes], Any]
    edit: Callable[[random.Random, bytes], bytes] | None = None
    refuses: type[Exception] = FileError


def model() -> nn.Module:
    """The model that loaded dictionaries are put into: a float layer and two quantized ones."""
    pyqref.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 2), nn.quantized.Linear(2, 2), nn.quantized.Conv2d(2, 2, 1))


def load(data: bytes) -> Any:
    """``pyqref.load`` from memory."""
    return pyqref.load(io.BytesIO(data))


def _saved(value: Any) -> bytes:
    file = io.BytesIO()
    pyqref.save(value, file)
    return file.getvalue()


@lru_cache(None)
def _containers() -> list[bytes]:
    x = pyqref.tensor([[-1.0, 0.0], [0.5, 2.0]])
    scales, points = pyqref.tensor([0.1, 0.2]), pyqref.tensor([0, 0])
    mixed = {
        "weight": x,
        "q": pyqref.quantize_per_tensor(x, 0.1, 3, pyqref.quint8),
        "packed": (pyqref.quantize_per_channel(x, scales, points, 0, pyqref.qint8), None),
        "steps": [1, 2.5, "text", pyqref.qint8, True, pyqref.ones(0, 3), x.double(), x.half()],
        "shared": [pyqref.arange(5), pyqref.tensor(True)],
    }
    return [_saved(mixed), _saved(model().state_dict()), _saved([1, None, ("a", {})])]


@lru_cache(None)
def _plain() -> list[bytes]:
    """Files of the package safetensors, without what pyqref adds to them."""
    import numpy as np
    from safetensors.numpy import save

    arrays = {
        "a": np.arange(6, dtype=np.float32).reshape(2, 3),
        "b": np.int64([2**40]),
        "c": np.zeros((0, 2), np.float16),
        "d": np.array([True, False]),
    }
    state = {key: np.array(each) for key, each in nn.Linear(3, 2).state_dict().items()}
    return [save(arrays), save(state, {"format": "np"}), save({})]


#: Numbers that lengths, offsets and shapes may become.
NUMBERS = (0, 1, 2, 3, 7, 8, 255, 256, 2**15, 2**16, 2**24, 2**31 - 1, 2**31, 2**32, 2**40)
NUMBERS += (2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1, -1, -8)
_VALUES = (*NUMBERS, 0.5, -1.0, 1e300, "", "x", "F32", "U8", "I64", "BOOL", "F99", None, True, [])
_VALUES += ({}, [1], [-1], [0, 2**62], [2**40, 2**40], "float32", "quint8", "qint8", "1e400")
_NODES = ("tensor", "parameter", "dict", "ordered_dict", "list", "tuple", "size", "dtype", "float")
_NODES += ("counter", "device", "eval", "weight", "0.weight")


def edit_json(rng: random.Random, value: Any) -> Any:
    """A copy of a value of JSON in which one part is another one."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        changed = dict(value)
        choice = rng.random()
        if choice < 0.1:
            del changed[key]
        elif choice < 0.2:
            changed[rng.choice(("x", "", key + key, "dtype", "weight"))] = changed[key]
        else:
            changed[key] = edit_json(rng, value[key])
        return changed
    if isinstance(value, list) and value and rng.random() < 0.85:
        changed_list = list(value)
        place = rng.randrange(len(value))
        choice = rng.random()
        if choice < 0.08:
            del changed_list[place]
        elif choice < 0.16:
            changed_list.insert(place, changed_list[rng.randrange(len(value))])
        else:
            changed_list[place] = edit_json(rng, value[place])
        return changed_list
    if isinstance(value, int) and rng.random() < 0.4:
        return value + rng.choice((-1, 1, 8, -8, 2**31))
    if isinstance(value, str) and rng.random() < 0.5:
        return rng.choice(_NODES)
    return rng.choice(_VALUES)


def edit_container(rng: random.Random, data: bytes) -> bytes:
    """Another header, or structure, of a safetensors file; its length is put right."""
    length = struct.unpack("<Q", data[:8])[0]
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        metadata = header.get("__metadata__")
        text = metadata.get("pyqref.structure") if isinstance(metadata, dict) else None
        if isinstance(text, str) and rng.random() < 0.6:
            try:
                structure = edit_json(rng, json.loads(text))
            except ValueError:  # another edit came first
                structure = text
            metadata = {**metadata, "pyqref.structure": json.dumps(structure)}
            header = {**header, "__metadata__": metadata}
        else:
            header = edit_json(rng, header)
            if not isinstance(header, dict):
                break
    text = json.dumps(header)
    if rng.random() < 0.1:  # a key twice
        text = text[:-1] + ", " + text[1:]
    written = text.encode()
    if rng.random() < 0.1:
        body = body[: rng.randrange(len(body) + 1)] + bytes(rng.randrange(9))
    return struct.pack("<Q", len(written)) + written + body


#: Files that torch wrote.
_RECORDED = Path(__file__).resolve().parent.parent / "serialization" / "recorded"


@lru_cache(None)
def _recorded(begin: bytes) -> list[bytes]:
    files = [path.read_bytes() for path in sorted(_RECORDED.glob("*.pt"))]
    return [each for each in files if each.startswith(begin) and len(each) < 8000]


class _Folder:
    """A folder of ``pyqref demo`` that holds a manifest."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __truediv__(self, name: str) -> _Folder:
        return self

    def read_text(self, encoding: str) -> str:
        return self.data.decode(encoding)


def _edit_manifest(rng: random.Random, data: bytes) -> bytes:
    if rng.random() < 0.05:
        return b"[" * 100_000
    return json.dumps(edit_json(rng, json.loads(data))).encode()


@lru_cache(None)
def _vectors() -> list[bytes]:
    """The manifest of golden vectors."""
    x = pyqref.quantize_per_tensor(pyqref.ones(1, 3), 0.1, 3, pyqref.quint8)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "vectors"
        pyqref.export.vectors(nn.quantized.Linear(3, 2), x, path)
        return [(path / "manifest.json").read_bytes()]


def _formats() -> Iterator[Format]:
    yield Format("pyqref", _containers, load, edit_container)
    yield Format("safetensors", _plain, load, edit_container)
    manifest = {"kind": folder.SIGNATURE, "files": ["index.html", "report.png"]}
    yield Format(
        "manifest",
        lambda: [json.dumps(manifest).encode()],
        lambda data: folder.files_of_report(_Folder(data)),  # type: ignore[arg-type]
        _edit_manifest,
    )
    yield Format("vectors", _vectors, lambda data: parsed(data, "folder"), _edit_manifest)
    from . import checkpoints

    edit = checkpoints.edit
    yield Format("calibration", checkpoints.of_calibration, checkpoints.resume, edit, ValueError)
    yield Format("search", checkpoints.of_search, checkpoints.remember, edit, ValueError)
    if _recorded(b"PK"):
        from . import archives

        yield Format("torch-zip", lambda: _recorded(b"PK"), load, archives.edit_zip)
        yield Format("torch-legacy", lambda: _recorded(b"\x80"), load, archives.edit_pickle)


FORMATS = {each.name: each for each in _formats()}
