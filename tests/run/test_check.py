"""``pyqref check``: the names that a program needs and pyqref lacks, and what to do."""

from __future__ import annotations

import json

import pytest

from pyqref.cli import main
from pyqref.run.check import check, check_file
from pyqref.run.names import is_here, returns_tensor, what_to_do
from pyqref.run.uses import uses_in

from .test_notebook import write as notebook

SCRIPT = """\
import torch, torch.nn as nn
from torch import optim
from torch.fft import rfft
F = torch.nn.functional
try:
    from torch import vmap
except ImportError:
    pass
def f(x: torch.Tensor, optim):
    optim.Nowhere
    y = x.relu().to_sparse()
    z = (x + 1)[0].svd()
    return x.shape.nowhere, F.relu6(x), F.nowhere(x)
class M(nn.Module):
    def forward(self, x): return nn.Lineer(x)
torch = None
torch.nowhere
"""


@pytest.fixture
def script(tmp_path):
    """The script above, in a file."""
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    return path


def test_missing_names(script):
    """Each with its line; what a parameter or another variable hides is none of torch."""
    found = {(each.line, each.name, each.guarded) for each in check_file(script).missing}
    assert {
        (3, "torch.fft.rfft", False),
        (6, "torch.vmap", True),
        (11, "torch.Tensor.to_sparse", False),
        (12, "torch.Tensor.svd", False),
        (13, "torch.nn.functional.nowhere", False),
        (15, "torch.nn.Lineer", False),
    } == found


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import torch.nn.functional as F; F.relu", ["torch.nn.functional", "F.relu"]),
        ("import torch.nn; torch.nn.Linear", ["torch.nn", "torch.nn.Linear"]),
        ("from torch.nn import Linear as L; L(1)", ["torch.nn.Linear"]),
        ("from torch.nn import *", ["torch.nn"]),
        ("import numpy as torch; torch.ones", []),
        ("from .torch import nn; nn.Linear", []),
        ("import torch as t\nfor t in x: t.ones", ["torch"]),
        ("import torch as t\nwith x as t: t.ones", ["torch"]),
        ("import torch as t\nf = lambda t: t.ones", ["torch"]),
        ("import torch as t\na, b = t.nn, 1\na.Linear", ["torch", "torch.nn", "torch.nn.Linear"]),
        ("import torch as t\nx: t.Tensor = t.ones(1)", ["torch", "torch.Tensor", "torch.ones"]),
        ("import torch as t\n@t.no_grad()\nasync def f(): pass", ["torch", "torch.no_grad"]),
        ("from torchvision import models; models.x", ["torchvision.models", "models.x"]),
    ],
)
def test_uses(source, names):
    """The check follows names that imports and assignments bind."""
    full = {"F.relu": "torch.nn.functional.relu", "models.x": "torchvision.models.x"}
    assert {full.get(each, each) for each in names} == {use.name for use in uses_in(source)}


@pytest.mark.parametrize(
    ("name", "here"),
    [
        ("torch", True),
        ("torch.__version__", True),
        ("torch.version.cuda", True),
        ("torch.ao.quantization.quantize_fx.prepare_fx", True),
        ("torch.Tensor.shape.anything", True),
        ("torch.ops.mylib.anything", True),
        ("torch.ops.aten.add", False),
        ("torch.nn.Nowhere", False),
        ("torch.nowhere.x", False),
    ],
)
def test_names_are_looked_up_in_the_package(name, here):
    """An attribute of an object, which only a run can tell, counts as here."""
    assert here == is_here(name)


@pytest.mark.parametrize(
    ("name", "gives"),
    [
        ("torch.zeros", True),
        ("torch.Tensor", True),
        ("torch.Tensor.reshape", True),
        ("torch.Tensor.item", False),
        ("torch.Tensor.max", False),
        ("torch.nn.Linear", False),
        ("torch.no_grad", False),
    ],
)
def test_functions_that_give_tensors(name, gives):
    """Only functions that certainly give a tensor count: ``max`` gives a pair with ``dim``."""
    assert gives == returns_tensor(name)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("torch.vmap", "loop over the batch"),
        ("torch.export.export", "pyqref has no export compiler"),
        ("torch.nn.Lineer", "is it Linear"),
        ("torch.zzz", "pyqref does not have it"),
        ("torchvision.models", "pip install torchvision --no-deps"),
    ],
)
def test_what_to_do(name, advice):
    """The advice of the table, or what the name is most like."""
    assert what_to_do(name).startswith(advice)


def test_a_notebook(tmp_path):
    """Cell and line in it; imports reach later cells; a cell that is not Python is passed over."""
    path = notebook(
        tmp_path / "lab.ipynb", "!pip install torch\nimport torch", "print 1", "\ntorch.fft.rfft(1)"
    )
    (missing,) = check_file(path).missing
    assert (f"{path}:cell 3:2", "torch.fft.rfft") == (missing.place, missing.name)


def test_a_folder(tmp_path, script):
    """Scripts and notebooks in it that use torch, and those that cannot be read."""
    (tmp_path / "other.py").write_text("import numpy", encoding="utf-8")
    (tmp_path / "wrong.py").write_text("print 1", encoding="utf-8")
    (tmp_path / "vision.py").write_text("import torchvision", encoding="utf-8")
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "inside.py").write_text("import torch", encoding="utf-8")
    (tmp_path / "lab.ipynb").write_text("{}", encoding="utf-8")
    reports = {each.file.rpartition("/")[2]: each for each in check([tmp_path])}
    assert {"lab.ipynb", "script.py", "vision.py", "wrong.py"} == set(reports)
    assert "is not a notebook" in reports["lab.ipynb"].error
    assert reports["wrong.py"].error.startswith("line 1: ")
    assert reports["vision.py"].is_complete
    assert {"torchvision"} == reports["vision.py"].packages


def test_the_command(script, capsys):
    """A line for each, then the score; exit code 1."""
    assert 1 == main(["check", str(script)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{script}:3: torch.fft.rfft: use numpy.fft")
    assert lines[1].endswith("(inside a try that catches it)")
    assert "9 of 15 (60.0%) names are here; 0 of 1 (0.0%) files find every name" in lines[-1]


def test_the_command_finds_nothing_missing(tmp_path, capsys):
    """Exit code 0; a guarded name stops nothing."""
    path = tmp_path / "script.py"
    path.write_text(
        "import torch\ntry:\n    torch.vmap\nexcept AttributeError:\n    pass", encoding="utf-8"
    )
    assert 0 == main(["check", str(path)])
    assert "1 of 1 (100.0%) files" in capsys.readouterr().out
    (tmp_path / "empty.py").write_text("", encoding="utf-8")
    assert 0 == main(["check", str(tmp_path / "empty.py")])
    assert "0 of 0 names are here" in capsys.readouterr().out


def test_json(script, capsys):
    """The report can be one JSON object."""
    assert 1 == main(["check", "--json", str(script)])
    found = json.loads(capsys.readouterr().out)
    assert {"files": 1, "files_complete": 0, "names": 15, "names_here": 9, "packages": []} == (
        found["summary"]
    )
    assert {"file", "line", "name", "advice", "guarded", "cell"} == set(found["missing"][0])
    assert {} == found["errors"]


def test_a_path_that_is_not_there(capsys):
    """Exit code 2."""
    assert 2 == main(["check", "nowhere.py"])
    assert "there is no file or folder 'nowhere.py'" in capsys.readouterr().err
