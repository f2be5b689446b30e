"""``pyqref inspect``: what it says of each kind of file, to people, programs and browsers."""

from __future__ import annotations

import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from serialization.record_torch_files import FOLDER
from serialization.torch_writer import Reduce, Storage, save, tensor

import pyqref
from pyqref.cli import main


def inspect(capsys: pytest.CaptureFixture[str], path: Path | str, *options: str) -> str:
    assert 0 == main(["inspect", str(path), *options])
    return capsys.readouterr().out


#: Recorded files, and what must be said of them.
SAID = {
    "float": ["torch.save, zip container, version 3", "of a model: float", "fc.weight", "3 x 8"],
    "float_legacy": ["torch.save, legacy container", "of a model: float"],
    "prepared": ["prepared for calibration (observers)"],
    "trained": ["prepared for quantization-aware training"],
    "eager": ["of a model: quantized", "qint8", "_packed_params[0]"],
    "fx": ["of a model: quantized"],
    "dynamic_lstm": ["quantized in its weights", "param[3]"],
    "embedding": ["quantized in its weights", "quint8"],
    "wrapped_script": ["TorchScript archive", "torch.ao.nn.quantized.modules.linear.Linear"],
    "values": ["no state dict|a model: ", "uint16 is read as int32", "Namespace(lr=0.1)", "shared"],
}


@pytest.mark.parametrize("name", SAID)
def test_files_of_torch(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Container, kind and tensors of every recorded kind of file."""
    printed = inspect(capsys, FOLDER / f"{name}.pt")
    for words in SAID[name]:
        assert any(each in printed for each in words.split("|")), (words, printed)


def test_files_of_pyqref_and_safetensors(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """They are told apart; a missing writer is said to be missing."""
    path = tmp_path / "x"
    pyqref.save({"weight": pyqref.ones(2, 2)}, path)
    assert "pyqref.save, safetensors container, version 1" in inspect(capsys, path)
    for metadata, words in (({"format": "pt"}, "safetensors, of torch"), ({}, "writer not told")):
        entry = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
        header = json.dumps({"__metadata__": metadata, "a": entry}).encode()
        path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
        assert words in inspect(capsys, path)


def test_numbers(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """JSON has the exact range, grid, sizes and what int8 would take."""
    x = pyqref.tensor([[-1.0, 0.5], [float("nan"), 2.0]])
    q = pyqref.quantize_per_tensor(pyqref.tensor([0.0, 1.0]), 0.5, 3, pyqref.quint8)
    path = tmp_path / "x"
    pyqref.save({"model": {"w": x, "tied": x, "b": x[0]}, "q": q, "epoch": 3}, path)
    report = json.loads(inspect(capsys, path, "--json"))
    rows = {row["name"]: row for row in report["tensors"]}
    assert {"model": "float"} == report["states"]
    weight = rows["model.w"]
    assert (-1.0, 2.0, 1) == (weight["low"], weight["high"], weight["not_finite"])
    assert 3 == sum(weight["counts"])
    assert (16, 0) == (weight["size"], rows["model.tied"]["size"])
    # Four integers would take 4 bytes, two scales and zero points 16: more than now.
    assert 16 == weight["int8_size"]
    assert ([0.5], [3], "quint8") == tuple(
        rows["q"][key] for key in ("scales", "zero_points", "dtype")
    )
    assert [{"name": "epoch", "type": "int", "value": "3"}] == report["others"]
    assert report["fits"] is None
    pyqref.save({"w": pyqref.ones(10, 100)}, path)
    report = json.loads(inspect(capsys, path, "--json"))
    assert (4000, 1000 + 10 * 8) == (report["size"], report["int8_size"])


def test_does_it_fit(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class that the user names is imported and asked; nothing else is."""
    (tmp_path / "my_models.py").write_text(
        "import pyqref\n"
        "class Net(pyqref.nn.Linear):\n"
        "    def __init__(self): super().__init__(2, 2)\n"
        "class Other(pyqref.nn.Linear): pass\n"
        "def number(): return 3\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    path = tmp_path / "x"
    pyqref.save({"model": pyqref.nn.Linear(2, 2).state_dict()}, path)
    assert "fits        my_models:Net: yes" in inspect(capsys, path, "--model", "my_models:Net")
    pyqref.save(pyqref.nn.Linear(3, 2).state_dict(), path)
    assert 1 == main(["inspect", str(path), "--model", "my_models:Net"])
    printed = capsys.readouterr().out
    assert "my_models:Net: no" in printed
    assert "size mismatch for weight" in printed
    for name, words in (
        ("my_models", "must be module:Class, got 'my_models'"),
        ("my_models:Missing", "my_models:Missing cannot be made: AttributeError"),
        ("no_such_module:Net", "cannot be made: ModuleNotFoundError"),
        ("my_models:Other", "name a class or function that takes no arguments"),
        ("my_models:number", "gives a int, not a module of pyqref"),
    ):
        assert 1 == main(["inspect", str(path), "--model", name])
        assert words in capsys.readouterr().err


def test_a_model_that_is_written_for_torch(tmp_path: Path) -> None:
    """Its module imports torch, which is pyqref there, whether a torch is installed or not."""
    (tmp_path / "theirs.py").write_text(
        "import torch.nn as nn\ndef Net(): return nn.Linear(2, 2)\n"
    )
    pyqref.save(pyqref.nn.Linear(2, 2).state_dict(), tmp_path / "x")
    command = [sys.executable, "-m", "pyqref", "inspect", "x", "--model", "theirs:Net"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "fits        theirs:Net: yes" in done.stdout, done.stderr


def test_files_that_cannot_be_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """One line says why, and the exit code is 1."""
    path = tmp_path / "x.pt"
    for data, words in (
        (None, "No such file"),
        (b"no model", "not a safetensors file"),
        (save(Reduce("os.system", ("ls",))), "refused: the pickle names os.system"),
        (b"PK\x03\x04", "truncated"),
    ):
        if data is not None:
            path.write_bytes(data)
        assert 1 == main(["inspect", str(path)])
        told = capsys.readouterr().err
        assert told.startswith("pyqref inspect: ")
        assert words in told


class Checker(HTMLParser):
    """Open tags must be closed in order, and nothing may be a script."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_page(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A page with a histogram of each tensor; names from the file are text, never HTML."""
    path, out = tmp_path / "<b>x.pt", tmp_path / "x.html"
    storage = Storage(np.arange(16, dtype=np.float32))
    value = {"<script>": tensor(np.ones((4, 4), np.float32), storage), "fc": "<img src=x>"}
    path.write_bytes(save(value))
    inspect(capsys, path, "--html", str(out))
    text = out.read_text(encoding="utf-8")
    checker = Checker()
    checker.feed(text)
    assert [] == checker.open
    assert {"table", "svg", "rect"} <= set(checker.seen)
    assert not {"script", "img"} & set(checker.seen)
    assert "&lt;script&gt;" in text
    assert "<script>" not in text
    assert 'content="pyqref inspect"' in text


def test_a_page_that_says_what_fits(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """With ``--model`` it says so, in words of ``load_state_dict``."""
    path, out = tmp_path / "x.pt", tmp_path / "x.html"
    pyqref.save(pyqref.nn.Linear(3, 2).state_dict(), path)
    assert 1 == main(["inspect", str(path), "--model", "pyqref.nn:ReLU", "--html", str(out)])
    assert "Unexpected key(s)" in out.read_text(encoding="utf-8")


def test_help_names_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["inspect", "--help"])
    printed = capsys.readouterr().out
    for option in ("FILE", "--model", "--json", "--html"):
        assert option in printed


def test_names_that_steer_a_terminal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Control characters and lone surrogates of a file are escaped wherever they are shown."""
    path, out = tmp_path / "x.pt", tmp_path / "x.html"
    surrogate = b"X\x03\x00\x00\x00\xed\xa0\x80"
    inside = b"}(" + surrogate + b"K\x01X\x02\x00\x00\x00\x1b[K\x02u"
    path.write_bytes(save({"a\x1b[2J": tensor(np.ones(2, np.float32)), "b": inside}))
    printed = inspect(capsys, path, "--html", str(out))
    assert "a\\x1b[2J" in printed
    assert "b.\\ud800" in printed
    assert "\x1b" not in printed + out.read_text(encoding="utf-8")
    path.write_bytes(save(Reduce("os.\x1b[2J", ())))
    assert 1 == main(["inspect", str(path)])
    assert "\x1b" not in capsys.readouterr().err
