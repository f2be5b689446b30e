"""Files that are changed at random are refused or read rightly, and a fault would be seen."""

from __future__ import annotations

import builtins
import json
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz import files, formats, mutations, reading

import pyqref
from pyqref import nn
from pyqref.serialization import FileError

on_posix = pytest.mark.skipif(sys.platform == "win32", reason="no limits on processes there")


@on_posix
@pytest.mark.parametrize("name", formats.FORMATS)
def test_two_thousand_files(tmp_path, name):
    """FileError or what the file holds; nothing runs; the model is left as it was."""
    path = tmp_path / "found.json"
    code = files.main(["--format", name, "--files", "2000", "--seed", "0", "--json", str(path)])
    told = json.loads(path.read_text())
    assert [] == told["faults"]
    assert (0, 2000) == (code, told["calls"])
    assert told["answered"] > 50  # some changes must leave a file that is read


def _broken_grid(data: bytes) -> Any:
    # A grid of its own: those of other tests are shared.
    made = pyqref.quantize_per_tensor(pyqref.ones(2), 0.4375, 91, pyqref.quint8)
    object.__setattr__(made._quantizer, "zero_point", 300)
    return made


def _raises(error: BaseException) -> Any:
    def load(data: bytes) -> Any:
        raise error

    return load


class _Hasty(nn.Linear):
    """Takes its weight before it has looked at the bias."""

    def load_state_dict(self, state_dict: Any, *rest: Any) -> Any:
        self.weight._array[...] = 7.0
        raise RuntimeError("size mismatch")


@pytest.mark.parametrize(
    ("load", "kind"),
    [
        (_raises(FileError("refused")), None),
        (lambda data: [1, {"a": pyqref.ones(2)}], None),
        (_raises(ValueError("no FileError")), "wrong class"),
        (_raises(KeyError("x")), "wrong class"),
        (_raises(MemoryError("much")), "memory"),
        (_broken_grid, "result"),
        (lambda data: Path(), "result"),
        (lambda data: float(np.float32(1) / np.float32(0)), "warning"),
        (lambda data: builtins.eval("1"), "ran"),
        (lambda data: builtins.exec("pass"), "ran"),
        (lambda data: os.system("true"), "ran"),
        (lambda data: open(os.devnull, "w").close(), "ran"),
        (lambda data: pickle.loads(b"cbuiltins\nlen\n.") and 1, "ran"),
    ],
)
def test_a_planted_fault_is_seen(load, kind):
    """A reader that does something forbidden is reported with the kind of its fault."""
    reader = reading.Reader(formats.Format("planted", list, load))
    found = reader.judged(b"")[1]
    assert {kind} - {None} == {each.kind for each in found}


def test_a_changed_model_is_seen():
    """A model that took a part of what it refused is a fault."""
    reader = reading.Reader(formats.Format("planted", list, lambda data: {"weight": 3}))
    reader.model = _Hasty(2, 2)
    reader.state = reading.frozen(reader.model)
    assert ["changed model"] == [each.kind for each in reader.judged(b"")[1]]


@pytest.mark.parametrize("name", formats.FORMATS)
def test_a_file_follows_from_its_number(name):
    """The format, the seed and the number give the bytes, whichever were made before."""
    format_of = formats.FORMATS[name]
    once = [mutations.mutated(format_of, 3, number) for number in range(60)]
    again = [mutations.mutated(format_of, 3, number) for number in reversed(range(60))]
    assert once == again[::-1]
    assert len(set(once)) > 40
