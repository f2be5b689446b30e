"""Following the messages about files works, with the real torch where it is installed."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from messages.following import says

import pyqref
import pyqref.interop
from pyqref import nn
from pyqref import quantization as q
from pyqref.nn import functional as F
from pyqref.serialization import container
from pyqref.serialization import kinds as kinds_of_files


def test_a_numpy_file(tmp_path: Path) -> None:
    """numpy.load and from_numpy read it."""
    path = tmp_path / "weight.npy"
    np.save(path, np.float32([1, 2]))
    with says("load it with numpy.load and pyqref.from_numpy"):
        pyqref.load(path)
    assert [1, 2] == pyqref.from_numpy(np.load(path)).tolist()


def test_qconfigs_that_no_file_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that names observers of the package can be saved, and loaded once that is imported."""

    class Own(q.MinMaxObserver):
        """Whose code no file has."""

    model = nn.Linear(2, 1)
    model.qconfig = q.QConfig(Own, q.default_weight_observer)
    with says("save the state of the model, and write the qconfig in the script"):
        pyqref.save(model.qconfig, io.BytesIO())
    pyqref.save(model.state_dict(), io.BytesIO())
    file = io.BytesIO()
    pyqref.save(q.default_qconfig, file)
    kinds = dict(kinds_of_files._KINDS)
    monkeypatch.setattr(kinds_of_files, "_KINDS", {})
    file.seek(0)
    with says("import pyqref.quantization before loading it"):
        pyqref.load(file)
    kinds_of_files._KINDS.update(kinds)  # what the import does
    file.seek(0)
    assert q.qconfig_equals(q.default_qconfig, pyqref.load(file))


def test_values_that_no_file_holds() -> None:
    """Their state dicts, tensors and numbers can be saved."""
    layer = nn.Linear(2, 1)
    with says("save its state_dict() instead"):
        pyqref.save(layer, io.BytesIO())
    pyqref.save(layer.state_dict(), io.BytesIO())
    with says("use pyqref.from_numpy() or item()"):
        pyqref.save({"a": np.ones(2)}, io.BytesIO())
    pyqref.save({"a": pyqref.from_numpy(np.ones(2)), "b": np.float32(1).item()}, io.BytesIO())


def test_a_dtype_that_no_tensor_has() -> None:
    """A tensor that was converted and saved again can be read."""

    def file(dtype: str, size: int) -> io.BytesIO:
        entry = {"dtype": dtype, "shape": [1], "data_offsets": [0, size]}
        header = json.dumps({"weight": entry}).encode()
        return io.BytesIO(len(header).to_bytes(8, "little") + header + bytes(size))

    with says("convert the tensor and save it again"):
        pyqref.load(file("F4", 2))
    assert [0.0] == pyqref.load(file("F32", 4))["weight"].tolist()


def test_a_list_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tensor of it can be read."""
    monkeypatch.setattr(container, "_MAX_VALUES", 1000)
    numbers = list(range(2000))

    def written(value: Any) -> io.BytesIO:
        file = io.BytesIO()
        pyqref.save({"a": value}, file)
        file.seek(0)
        return file

    with says("save large lists of numbers as tensors"):
        pyqref.load(written(numbers))
    assert numbers == pyqref.load(written(pyqref.tensor(numbers)))["a"].tolist()


def test_a_state_dict_that_does_not_fit() -> None:
    """Arrays by name; without the prefix that they all have; in a dtype that is here."""
    load, layer = pyqref.interop.load_torch_state_dict, nn.Linear(2, 1)
    with says("pass module.state_dict()"):
        load(layer, nn.Linear(2, 1))
    state = nn.Linear(2, 1).state_dict()
    load(layer, state)
    with says("strip that from the names") as told:
        load(layer, {f"module.{name}": value for name, value in state.items()})
    prefix = re.findall(r"begins with '(.*?)'", told.text)[0]
    named = {f"module.{name}": value for name, value in state.items()}
    load(layer, {name.removeprefix(prefix): value for name, value in named.items()})


def test_tensors_of_torch_that_cannot_be_read() -> None:
    """to_dense() makes one that can."""
    torch = pytest.importorskip("torch", minversion="2.13")
    load, layer = pyqref.interop.load_torch_state_dict, nn.Linear(2, 2)
    state = {"weight": torch.ones(2, 2), "bias": torch.ones(2)}
    with says("give a dense one"):
        load(layer, {**state, "weight": state["weight"].to_sparse()})
    load(layer, {**state, "weight": state["weight"].to_sparse().to_dense()})


def test_modules_of_torch_that_cannot_be_taken_over() -> None:
    """Without such hooks and replaced forwards they can."""
    torch = pytest.importorskip("torch", minversion="2.13")
    take = pyqref.interop.from_torch

    layer = torch.nn.Linear(2, 2)
    hook = layer.register_full_backward_hook(lambda *_: None)
    with says("has backward hooks; remove them first"):
        take(layer)
    hook.remove()
    take(layer)

    hook = layer.register_forward_pre_hook(torch.fft.fft)
    with says("which pyqref does not have; remove it"):
        take(layer)
    hook.remove()
    take(layer)

    layer.forward = lambda x: x
    with says("make a class of it"):
        take(layer)

    class Same(torch.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, x: Any) -> Any:
            return x

    take(Same())


def test_states_for_a_torch_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of this package holds the same."""
    monkeypatch.setitem(sys.modules, "torch", None)
    layer, file = nn.Linear(1, 1), io.BytesIO()
    with says("install it with pip install torch, or save the state of this package with"):
        pyqref.interop.to_torch_state_dict(layer)
    pyqref.save(layer.state_dict(), file)
    file.seek(0)
    assert layer.state_dict().keys() == pyqref.load(file).keys()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_qconfig_of_torch_is_left_behind() -> None:
    """One of pyqref.quantization takes its place."""
    torch = pytest.importorskip("torch", minversion="2.13")
    layers = torch.nn.Sequential(torch.nn.Linear(2, 2)).eval()
    layers.qconfig = torch.ao.quantization.QConfig(activation=list, weight=list)
    with says("set one of pyqref.quantization"):
        pyqref.interop.from_torch(layers)
    del layers.qconfig
    model = pyqref.interop.from_torch(layers)
    model.qconfig = q.get_default_qconfig("fbgemm")
    q.prepare(model)


def test_masks_that_are_functions() -> None:
    """A mask that is a function can be given as a tensor."""
    flex = pyqref.nn.attention.flex_attention
    x = pyqref.ones(1, 1, 2, 4)
    with says("give scaled_dot_product_attention an attn_mask"):
        flex.create_block_mask(lambda b, h, q, k: q >= k, 1, 1, 2, 2)
    mask = pyqref.ones(2, 2).tril().bool()
    assert x.shape == F.scaled_dot_product_attention(x, x, x, attn_mask=mask).shape


def test_packages_to_install() -> None:
    """The extra that a message names is one of the project."""
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    for extra in ("demo", "onnx", "testing"):
        assert re.search(rf"^{extra} = \[", project, re.MULTILINE)
