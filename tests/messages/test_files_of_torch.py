"""Following the messages about files of torch works."""

from __future__ import annotations

import io
import pickle
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from messages.following import says
from serialization.torch_writer import (
    Global,
    Pickle,
    Reduce,
    Storage,
    archive,
    ordered,
    save,
    save_legacy,
    tensor,
)

import pyqref
from pyqref import nn
from pyqref.serialization.torch_files import machine

PLAIN = tensor(np.float32([1, 2]))


def load(data: bytes) -> Any:
    return pyqref.load(io.BytesIO(data))


def called(name: str, *args: Any) -> Reduce:
    return Reduce(name, args)


#: What a file holds, the advice, and what the file holds that follows it.
INSTEAD = {
    "sparse": (
        called("torch._utils._rebuild_sparse_tensor", 1),
        says("a sparse tensor; save a dense one instead"),
        PLAIN,
    ),
    "nested": (
        called("torch._utils._rebuild_nested_tensor", 1),
        says("save a list of its tensors instead"),
        [PLAIN, PLAIN],
    ),
    "wrapper": (
        called("torch._utils._rebuild_wrapper_subclass", 1),
        says("a tensor of another class; save a plain one instead"),
        PLAIN,
    ),
    "subclass": (
        called(
            "torch._tensor._rebuild_from_type_v2",
            Global("torch._utils._rebuild_tensor_v2"),
            Global("torch.Size"),
            (),
            None,
        ),
        says("save a plain one instead"),
        PLAIN,
    ),
    "defaultdict": (
        called("collections.defaultdict"),
        says("a defaultdict; save dict(value) instead"),
        {"a": 1},
    ),
    "layout": (
        called("torch.serialization._get_layout", "torch.sparse_coo"),
        says("save a dense tensor instead"),
        called("torch.serialization._get_layout", "torch.strided"),
    ),
    "storage": (Storage(np.zeros(2, np.float32)), says("save a tensor instead"), PLAIN),
    "complex": (
        tensor(np.zeros(2), Storage(np.zeros(2), "torch.ComplexFloatStorage")),
        says("convert the tensor and save it again"),
        PLAIN,
    ),
    "objects": (
        called("datetime.date", 2020, 1, 1),
        says("save plain values and state_dict() instead: torch.save(values, new_path)"),
        "2020-01-01",
    ),
}


@pytest.mark.parametrize("name", INSTEAD)
def test_what_to_save_instead(name: str) -> None:
    """The file without it is read."""
    value, advice, instead = INSTEAD[name]
    with advice:
        load(save({"x": value}))
    assert ["x"] == list(load(save({"x": instead})))


def test_a_model_saved_as_a_whole(tmp_path: Path) -> None:
    """Its weights alone are read, after the statement that is printed."""
    with says("save the weights alone"):
        load(save(Reduce("torch.nn.modules.linear.Linear", (), {}, new=True)))
    torch = pytest.importorskip("torch", minversion="2.13")
    path, new_path = tmp_path / "model.pt", tmp_path / "weights.pt"
    torch.save(torch.nn.Linear(2, 1), path)
    with says(
        "save the weights alone: "
        "torch.save(torch.load(path, weights_only=False).state_dict(), new_path)"
    ) as told:
        pyqref.load(path)
    statement = re.search(r"torch\.save\(torch.*new_path\)", told.text)
    assert statement is not None
    exec(statement[0], {"torch": torch, "path": path, "new_path": new_path})
    nn.Linear(2, 1).load_state_dict(pyqref.load(new_path))


def test_a_pickle_without_torch() -> None:
    """pickle.dump writes what is not read; torch.save does."""
    with says("save what is in it with torch.save(values, new_path), which is read here"):
        load(pickle.dumps({"a": 1.5}))
    with says("save it with torch.save instead"):
        load(save({"x": called("torch.storage._load_from_bytes", "x")}))
    assert {"a": 1.5} == load(save({"a": 1.5}))


def test_a_compressed_archive() -> None:
    """Packed again without compression it is read."""
    good = save({"x": PLAIN})
    compressed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(good)) as old:
        records = {each: old.read(each) for each in old.namelist()}
    with zipfile.ZipFile(compressed, "w", zipfile.ZIP_DEFLATED) as new:
        for name, data in records.items():
            new.writestr(name, data + b" " * 100 if name.endswith("version") else data)
        new.writestr("archive/data.pkl2", b"a" * 1000)
    with says("unpack the archive and pack it with zip -0 -r"):
        load(compressed.getvalue())
    stored = {name.partition("/")[2]: data for name, data in records.items()}
    assert [1, 2] == load(archive(stored))["x"].tolist()


def test_a_damaged_archive() -> None:
    """The file that it was copied from is read."""
    good = save({"x": PLAIN})
    with says("copy or download the file again"):
        load(good.replace(np.float32([1, 2]).tobytes(), np.float32([1, 3]).tobytes()))
    assert [1, 2] == load(good)["x"].tolist()


def test_files_of_former_times() -> None:
    """A newer torch writes what is read."""
    with says("load it with a newer torch and save it again"):
        load(archive({"model.json": b"{}"}))
    view = b"(X\x01\x00\x00\x00aK\x00K\x02t"
    reference = ("storage", Global("torch.FloatStorage"), "0", "cpu", 2, view)
    code = Pickle(legacy=True).code(reference) + b"Q"
    of_part = called("torch._utils._rebuild_tensor_v2", code, 0, (2,), (1,), False, ordered({}))
    with says("load the file with a newer torch and save it again"):
        load(save_legacy({"x": of_part}))
    assert [1, 2] == load(save_legacy({"x": PLAIN}))["x"].tolist()


def test_a_list_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tensor of it is read."""
    monkeypatch.setattr(machine, "_MAX_INSTRUCTIONS", 500)
    with says("save long lists of numbers as tensors"):
        load(save([1] * 1000))
    assert 1000 == len(load(save(tensor(np.ones(1000, np.int64)))))


def test_a_checkpoint_is_no_state_dict() -> None:
    """Its entry is; and keys lose the prefix that all of them have."""
    layer, other = nn.Linear(2, 1), nn.Linear(2, 1)
    checkpoint = {"model": other.state_dict(), "epoch": 3}
    with says("call load_state_dict with its entry {}"):
        layer.load_state_dict(checkpoint)
    layer.load_state_dict(checkpoint["model"])
    state = {f"module.{key}": each for key, each in other.state_dict().items()}
    with says("strip that from the keys"):
        layer.load_state_dict(state)
    layer.load_state_dict({key.removeprefix("module."): each for key, each in state.items()})
    assert pyqref.equal(layer.weight, other.weight)
