"""Following the messages about running scripts, and about names in scripts, works."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path

import pytest
from messages.following import says

import pyqref
import pyqref.nn.functional as F
from pyqref import nn
from pyqref.ops import quantized  # noqa: F401  (the namespaces beside it are those of libraries)
from pyqref.quantization import QConfigMapping, default_qconfig
from pyqref.quantization.quantize_fx import prepare_fx
from pyqref.run.notebook import code_cells, run_notebook
from pyqref.run.script import run_script
from pyqref.utils import _pytree
from pyqref.utils.benchmark import Timer


def test_torch_was_imported_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the alias first, in another process: here, after the real one has gone."""
    for name in [each for each in sys.modules if each.startswith("torch.")]:
        monkeypatch.delitem(sys.modules, name)  # of a torch that other tests have imported
    monkeypatch.setitem(sys.modules, "torch", types.ModuleType("torch"))
    with says(
        "call pyqref.install_as_torch() before anything imports torch, or restart the interpreter "
        "or the notebook's kernel and run that line first"
    ):
        pyqref.install_as_torch()
    monkeypatch.delitem(sys.modules, "torch")
    with pyqref.run.as_torch() as torch:
        assert torch.nn is nn


def test_broken_notebook(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Save it again, or run a script."""
    notebook, script = tmp_path / "lab.ipynb", tmp_path / "lab.py"
    notebook.write_text("{", encoding="utf-8")
    with says("save it again from Jupyter, or run a script"):
        code_cells(str(notebook))
    cell = {"cell_type": "code", "source": ["print(1 + 1)"]}
    notebook.write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
    script.write_text("print(2 + 2)", encoding="utf-8")
    assert (0, 0) == (run_notebook(str(notebook)), run_script(str(script)))
    assert ["2", "4"] == capsys.readouterr().out.split()


def test_antialias() -> None:
    """Leave it out for other modes, and give real numbers."""
    x = pyqref.ones(1, 1, 4, 4)
    with says("leave antialias out"):
        F.interpolate(x, size=2, mode="nearest", antialias=True)
    assert (1, 1, 2, 2) == F.interpolate(x, size=2, mode="nearest").shape
    integers = x.to(pyqref.uint8)
    with says("call input.float() first"):
        F.interpolate(integers, size=2, mode="bilinear", antialias=True)
    smaller = F.interpolate(integers.float(), size=2, mode="bilinear", antialias=True)
    assert pyqref.equal(pyqref.ones(1, 1, 2, 2), smaller)


def test_compiled_operation() -> None:
    """Write it in Python, and register it."""
    with says(
        "write the operation in Python and register it with pyqref.library.register('mylib::name')"
    ):
        pyqref.ops.load_library("lib.so")
    pyqref.library.register("messages::twice")(lambda x: x * 2)
    assert 6.0 == pyqref.ops.messages.twice(pyqref.tensor(3.0)).item()


def test_entry_for_the_whole_model() -> None:
    """Use set_global in place of the empty module name."""
    x, model = pyqref.randn(2, 4), nn.Sequential(nn.Linear(4, 4)).eval()
    mapping = QConfigMapping().set_global(default_qconfig).set_module_name("", None)
    with says("use set_global for the whole model"):
        prepare_fx(model, mapping, (x,))
    prepared = prepare_fx(model, QConfigMapping().set_global(default_qconfig), (x,))
    assert any("activation_post_process" in name for name, _ in prepared.named_modules())


def test_containers_and_timers() -> None:
    """Register a class once; give objects by their name."""

    class Pair:
        pass

    _pytree.register_pytree_node(Pair, lambda pair: ((), None), lambda leaves, _: Pair())
    with says("register a class once"):
        _pytree.register_pytree_node(Pair, lambda pair: ((), None), lambda leaves, _: Pair())
    assert [] == _pytree.tree_leaves(Pair())
    with says("put objects into globals="):
        Timer(pyqref.ones(2))
    assert Timer("x + 1", globals={"x": pyqref.ones(2)}).timeit(2).mean > 0
