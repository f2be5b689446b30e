"""The alias: ``torch`` and its submodules are pyqref's modules, here and in children."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import multiprocessing
import re
import subprocess
import sys
from types import ModuleType

import pytest

import pyqref
from pyqref.backends import quantized as settings
from pyqref.run import as_torch, install_as_torch, is_installed, uninstall_as_torch


@pytest.fixture
def no_torch(monkeypatch):
    """A process that has not imported torch, as a test beside this one may have."""
    for name in [each for each in sys.modules if each.split(".")[0] == "torch"]:
        monkeypatch.delitem(sys.modules, name)
    yield
    uninstall_as_torch()
    for name in [each for each in sys.modules if each.split(".")[0] == "torch"]:
        del sys.modules[name]


@pytest.fixture
def torch(no_torch):
    """``torch`` under the alias."""
    with as_torch() as module:
        yield module


@pytest.mark.parametrize(
    ("path", "same"),
    [
        ("torch.nn", "pyqref.nn"),
        ("torch.nn.functional", "pyqref.nn.functional"),
        ("torch.nn.modules.conv", "pyqref.nn.modules.conv"),
        ("torch.utils.data", "pyqref.utils.data"),
        ("torch.ao.quantization", "pyqref.quantization"),
        ("torch.ao.quantization.observer", "pyqref.quantization.observer"),
        ("torch.ao.quantization.quantize_fx", "pyqref.quantization.quantize_fx"),
        ("torch.ao.nn.quantized.dynamic", "pyqref.nn.quantized.dynamic"),
        ("torch.ao.nn.intrinsic.qat.modules.conv_bn", "pyqref.nn.intrinsic.qat.modules.conv_bn"),
        ("torch.backends.quantized", "pyqref.backends.quantized"),
    ],
)
def test_a_submodule_is_the_module_of_pyqref(torch, path, same):
    """Every path leads to the same object, and its own spec is left as it was."""
    expected = importlib.import_module(same)
    assert expected is importlib.import_module(path)
    assert same == expected.__name__ == expected.__spec__.name


def test_the_import_statements_of_scripts(torch):
    """Each form gives pyqref's objects."""
    names: dict[str, object] = {}
    script = (
        "import torch, torch.nn as nn, torch.nn.functional as F\n"
        "from torch import optim, Tensor\n"
        "from torch.ao.quantization import QuantStub\n"
    )
    exec(script, names)
    assert names["nn"] is pyqref.nn
    assert names["F"] is pyqref.nn.functional
    assert names["optim"] is pyqref.optim
    assert names["Tensor"] is pyqref.Tensor
    assert names["QuantStub"] is pyqref.quantization.QuantStub


def test_the_version(torch):
    """It reads as torch's, for libraries that look at the distribution too; pyqref's stays."""
    before = pyqref.__version__
    assert "2.13.0+pyqref" == torch.__version__ == torch.version.__version__
    assert "2.13.0+pyqref" == importlib.metadata.version("torch")
    assert torch.version.cuda is None
    assert before == pyqref.__version__
    assert importlib.util.find_spec("torch") is torch.__spec__


@pytest.mark.parametrize("older", ["1.8", "2.2.1+cu118", (2, 2), "2.13"])
def test_versions_compare_as_numbers(torch, older):
    """``"2.13" < "2.2"`` is true of strings, and false of versions."""
    assert torch.__version__ >= older
    assert not torch.__version__ < older
    assert torch.__version__ < "3"
    assert torch.__version__ <= (2, 14)
    assert torch.__version__ > (2, 12)


def test_what_is_written_to_torch_is_written_to_pyqref(torch):
    """A name that is set or deleted in torch is set or deleted in pyqref."""
    torch.of_a_test = 1
    assert 1 == pyqref.of_a_test
    del torch.of_a_test
    assert not hasattr(pyqref, "of_a_test")
    assert {"Tensor", "__version__", "nn"} <= set(dir(torch))
    assert repr(torch).startswith("<module 'torch', which is pyqref")


def test_conventions_are_those_of_torch_unless_asked_otherwise(no_torch):
    """They are put back with the alias."""
    before = settings.conventions
    with as_torch():
        assert "torch" == settings.conventions
        with as_torch(conventions="documented"):
            assert "documented" == settings.conventions
        assert "torch" == settings.conventions
        assert is_installed()
    assert before == settings.conventions
    assert not is_installed()
    with pytest.raises(RuntimeError, match="conventions must be one of"), as_torch("other"):
        pass
    assert not is_installed()


def test_a_torch_that_is_imported_already_is_refused(no_torch, monkeypatch):
    """Two cannot be ``torch``; what the message advises, a fresh start, works."""
    real = ModuleType("torch")
    real.__version__ = "2.13.0"
    monkeypatch.setitem(sys.modules, "torch", real)
    with pytest.raises(RuntimeError, match=r"torch 2\.13\.0 is imported already"):
        pyqref.install_as_torch()
    assert sys.modules["torch"] is real
    assert not is_installed()
    monkeypatch.delitem(sys.modules, "torch")
    assert pyqref.install_as_torch().nn is pyqref.nn


def test_installing_and_removing_twice(no_torch):
    """The second time changes nothing."""
    paths, finders = list(sys.path), list(sys.meta_path)
    assert install_as_torch() is install_as_torch()
    uninstall_as_torch()
    uninstall_as_torch()
    assert paths == sys.path
    assert finders == sys.meta_path
    assert "torch" not in sys.modules


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("torch.nowhere", "No module named 'torch.nowhere'; pyqref, which is torch here, has none"),
        ("torch.fft", "No module named 'torch.fft'; use numpy.fft"),
        ("torch.nn.nowhere", "No module named 'torch.nn.nowhere'"),
        ("torchaudio", "No module named 'torchaudio'; read sound with scipy.io.wavfile"),
    ],
)
def test_a_module_that_is_not_here(torch, monkeypatch, name, message):
    """An import tells what to do; it looks nowhere else. ``find_spec`` asks, and gets no error."""
    with monkeypatch.context() as patch:
        patch.setattr(sys, "path", [])
        with pytest.raises(ModuleNotFoundError, match=re.escape(message)) as caught:
            importlib.import_module(name)
        assert name == caught.value.name
        assert importlib.util.find_spec(name) is None


@pytest.mark.parametrize(
    "method", sorted({"fork", "spawn"} & {*multiprocessing.get_all_start_methods()})
)
def test_child_processes_have_the_alias(method, tmp_path):
    """Children of ``multiprocessing``, such as workers of a ``DataLoader``, have the alias."""
    script = tmp_path / "script.py"
    script.write_text(
        "import multiprocessing, pyqref\n"
        "pyqref.install_as_torch()\n"
        "def work(queue):\n"
        "    import torch\n"
        "    queue.put(torch.__version__)\n"
        "if __name__ == '__main__':\n"
        f"    context = multiprocessing.get_context({method!r})\n"
        "    queue = context.Queue()\n"
        "    child = context.Process(target=work, args=(queue,))\n"
        "    child.start()\n"
        "    print(queue.get(timeout=60))\n"
        "    child.join()\n",
        encoding="utf-8",
    )
    program = [sys.executable, str(script)]
    result = subprocess.run(program, capture_output=True, text=True, check=True, timeout=120)
    assert "2.13.0+pyqref" == result.stdout.strip()


def test_walking_through_the_packages_installs_nothing() -> None:
    """Only ``import torch`` of a spawned process finds the shim under torch's name."""
    script = (
        "import pkgutil, pyqref, sys; "
        "list(pkgutil.walk_packages(pyqref.__path__, 'pyqref.')); "
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("from torch import fft", "cannot import name 'fft' from 'torch'; use numpy.fft"),
        ("from torch.onnx import export", "'export' from 'torch.onnx'; pyqref.export.onnx("),
        ("from torch.utils import tensorboard", "from 'torch.utils'; install tensorboardX"),
        (
            "from torch.ao.quantization import quantize_pt2e",
            "use torch.ao.quantization.quantize_fx",
        ),
        ("from torch.nn import Lineer", "from 'torch.nn'; is it Linear?"),
        ("from torch.nn.functional import nowhere", "pyqref does not have it"),
        ("from torch.ao.ns.fx.utils import get_node_input_qparams", "pyqref.measure.layer_sqnr"),
        ("from torch.fx.passes.splitter_base import Subgraph", "a loop over model.graph.nodes"),
        ("import torch.ao.quantization.fx.quantize_handler", "prepare_fx and convert_fx"),
        ("import torch.fx.experimental.symbolic_shapes", "torch.fx.symbolic_trace"),
        ("import torch.ao.pruning", "torch.nn.utils.prune"),
    ],
)
def test_an_import_of_what_is_not_here(torch, statement, message):
    """It says what to do; ``hasattr`` of the same name is False, and nothing is left behind."""
    with pytest.raises(ImportError, match=re.escape(message)):
        exec(statement, {})
    assert not hasattr(torch, "fft")
    uninstall_as_torch()
    for name in ("nn", "nn.functional", "onnx", "utils"):
        asked = vars(importlib.import_module(f"pyqref.{name}")).get("__getattr__")
        assert "pyqref.run.missing" != getattr(asked, "__module__", "")
