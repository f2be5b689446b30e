"""What messages about files advise to do works, with the real torch where it is installed."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from messages.following import says

import pyqref
import pyqref.interop
from pyqref import nn
from pyqref import quantization as q
from pyqref.serialization import container


def test_a_numpy_file(tmp_path: Path) -> None:
    """numpy.load and from_numpy read it."""
    path = tmp_path / "weight.npy"
    np.save(path, np.float32([1, 2]))
    with says("load it with numpy.load and pyqref.from_numpy"):
        pyqref.load(path)
    assert [1, 2] == pyqref.from_numpy(np.load(path)).tolist()


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
    """float() and to_dense() make one that can."""
    torch = pytest.importorskip("torch", minversion="2.13")
    load, layer = pyqref.interop.load_torch_state_dict, nn.Linear(2, 2)
    state = {"weight": torch.ones(2, 2), "bias": torch.ones(2)}
    with says("convert to float32 first, with .float()"):
        load(layer, {**state, "bias": state["bias"].bfloat16()})
    load(layer, {**state, "bias": state["bias"].bfloat16().float()})
    with says("give a dense one"):
        load(layer, {**state, "weight": state["weight"].to_sparse()})
    load(layer, {**state, "weight": state["weight"].to_sparse().to_dense()})


def test_modules_of_torch_that_cannot_be_taken_over() -> None:
    """Without hooks, parametrizations and replaced forwards they can; quantization is done here."""
    torch = pytest.importorskip("torch", minversion="2.13")
    take = pyqref.interop.from_torch

    layer = torch.nn.Linear(2, 2)
    hook = layer.register_forward_hook(lambda *_: None)
    with says("remove them (and weight or spectral norm) first"):
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

    normed = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 2))
    with says("call torch.nn.utils.parametrize.remove_parametrizations first"):
        take(normed)
    torch.nn.utils.parametrize.remove_parametrizations(normed, "weight")
    take(normed)

    with says("take over the float model, then quantize it here"):
        take(torch.ao.nn.quantized.Linear(2, 2))
    q.quantize_dynamic(nn.Sequential(take(torch.nn.Linear(2, 2))))

    class Sum(torch.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, *args: Any) -> Any:
            return sum(args)

    class Named(torch.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, first: Any, second: Any) -> Any:
            return sum((first, second))

    with says("name its arguments"):
        take(Sum())
    take(Named())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_qconfig_of_torch_is_left_behind() -> None:
    """One of pyqref.quantization takes its place."""
    torch = pytest.importorskip("torch", minversion="2.13")
    layers = torch.nn.Sequential(torch.nn.Linear(2, 2)).eval()
    layers.qconfig = torch.ao.quantization.get_default_qconfig("fbgemm")
    with says("set one of pyqref.quantization"):
        pyqref.interop.from_torch(layers)
    del layers.qconfig
    model = pyqref.interop.from_torch(layers)
    model.qconfig = q.get_default_qconfig("fbgemm")
    q.prepare(model)


def test_packages_to_install() -> None:
    """The extra that a message names is one of the project."""
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert re.search(r"^demo = \[", project, re.MULTILINE)
