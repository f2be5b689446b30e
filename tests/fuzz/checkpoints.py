"""Checkpoints of long work: good ones, what reads them, and damage under a checksum that fits.

``search_mixed_precision`` and ``quantize_with_accuracy_control`` keep the same kind of file.
"""

from __future__ import annotations

import io
import json
import os
import random
import struct
import tempfile
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import pyqref
from pyqref import nn, quantization
from pyqref.quantization.calibrating.checkpoint import Checkpoint
from pyqref.quantization.calibrating.whole_file import sum_of
from pyqref.quantization.mixed_precision.memory import Measured, Memory
from pyqref.tensor.base import wrap

from .bits import frozen

_FINGERPRINT = list(range(32))
_TEXTS = ("[" * 100_000, "{}", "[]", '{"a": 1}', '{"a": ["1e999999999", "0"]}', '{"a": [1, 2]}')
_TEXTS += ('{"a": ["1/0", "0"]}', '{"a": ["1/2/3", "0"]}', '{"a": ["nan", "0"]}', "null", "\ud800")


def _prepared() -> nn.Module:
    pyqref.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 2)).eval()
    activation = quantization.HistogramObserver.with_args(bins=16, reduce_range=True)
    weight = quantization.default_per_channel_weight_observer
    model.qconfig = quantization.QConfig(activation, weight)
    return quantization.prepare(model)


@lru_cache(None)
def _place() -> tuple[Any, Path]:
    """A folder that lasts as long as the process, and the file in it."""
    folder = tempfile.TemporaryDirectory()
    return folder, Path(folder.name) / "kept"


def _in_order(data: bytes) -> bytes:
    """The same file with its header sorted: safetensors writes it in any order."""
    length = struct.unpack("<Q", data[:8])[0]
    header = json.dumps(json.loads(data[8 : 8 + length]), sort_keys=True).encode()
    return struct.pack("<Q", len(header)) + header + data[8 + length :]


@lru_cache(None)
def of_calibration() -> list[bytes]:
    """After one piece and after three."""
    _place()  # no folder is made while a file is read
    found = []
    for count in (1, 3):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kept"
            data = [pyqref.ones(2, 3) * (number + 1) for number in range(count)]
            options = {"piece": 1, "progress": False, "checkpoint": path}
            quantization.calibrate(_prepared(), data, **options)
            found.append(_in_order(path.read_bytes()))
    return found


@lru_cache(None)
def of_search() -> list[bytes]:
    """A few measurements."""
    _place()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kept"
        memory = Memory("search", path, _FINGERPRINT)
        for number in range(1, 4):
            memory.add(f"0={number}/8", Measured(Fraction(1, number), Fraction(-number, 7)))
        return [_in_order(path.read_bytes())]


def _kept(data: bytes, read: Callable[[Path], Any]) -> Any:
    """The result of reading a file, which has to be there afterwards, as it was."""
    path = _place()[1]
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        os.write(file, data)
    finally:
        os.close(file)
    try:
        return read(path)
    finally:
        assert path.read_bytes() == data, "the file was changed"


@lru_cache(None)
def _fresh() -> tuple[nn.Module, Any]:
    model = _prepared()
    return model, frozen(model)


def resume(data: bytes) -> int:
    """Go on with a calibration; a model that gets nothing stays as it was."""
    model, before = _fresh()
    try:
        found = _kept(data, lambda path: Checkpoint(path, model, 1).resume())
    except ValueError:
        assert frozen(model) == before, "a part was taken of what was refused"
        raise
    _fresh.cache_clear()
    assert type(found) is int
    assert found >= 1
    return found


def remember(data: bytes) -> int:
    """Go on with a search."""
    known = _kept(data, lambda path: Memory("search", path, _FINGERPRINT).known)
    return len(known)


def edit(rng: random.Random, data: bytes) -> bytes:
    """Other tensors under a checksum that fits them, as no damage has it."""
    kept = pyqref.load(io.BytesIO(data))
    del kept["sum"]
    name = rng.choice(list(kept))
    array = np.array(kept[name]._array)
    choice = rng.randrange(6)
    if choice == 0:
        del kept[name]
    elif choice == 1:
        kept[name + "x"] = kept[name]
    elif choice == 2:
        kept[name] = wrap(array.reshape(-1)[: rng.randrange(array.size + 1)].copy())
    elif choice == 3:
        kept[name] = wrap(array.astype(rng.choice((np.float32, np.int64, np.uint8, np.bool_))))
    elif choice == 4 and "measured" in kept:
        text = rng.choice(_TEXTS).encode(errors="surrogatepass")
        kept["measured"] = wrap(np.frombuffer(text, np.uint8).copy())
    elif array.size:
        array.reshape(-1)[rng.randrange(array.size)] = rng.randrange(2)
        kept[name] = wrap(array)
    kept["sum"] = wrap(np.array(sum_of(kept), np.uint8))
    file = io.BytesIO()
    pyqref.save(kept, file)
    return _in_order(file.getvalue())
