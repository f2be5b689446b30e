"""Importing the package takes what every script needs; the rest comes when it is first used."""

from __future__ import annotations

import importlib
import json
import multiprocessing
import os
import subprocess
import sys
import time
import warnings
from threading import Thread

import pytest

#: Long to import, or needed by few scripts.
LATER = (
    "numpy.random",
    "pathlib",
    "html",
    "pyqref.ao",
    "pyqref.fx",
    "pyqref.nn",
    "pyqref.optim",
    "pyqref.quantization",
    "pyqref.serialization",
    "pyqref._kernels.qconv",
    "pyqref._kernels.qgemm",
)


def loaded_by(script: str) -> set[str]:
    """Modules that a fresh process has after ``script``."""
    script += "; import json, sys; print(json.dumps(sorted(sys.modules)))"
    program = [sys.executable, "-c", script]
    result = subprocess.run(program, capture_output=True, text=True, check=True, timeout=120)
    return set(json.loads(result.stdout))


def test_the_import_leaves_for_later_what_few_scripts_need():
    """Beyond what ``import numpy`` has loaded."""
    new = loaded_by("import pyqref") - loaded_by("import numpy")
    assert set() == new & set(LATER)


@pytest.mark.parametrize(
    ("script", "module"),
    [
        ("import pyqref; pyqref.nn", "pyqref.nn"),
        ("import pyqref; pyqref.conv2d", "pyqref.nn.functional"),
        ("import pyqref; pyqref.rand(1)", "numpy.random"),
        ("from pyqref import save", "pyqref.serialization"),
        ("import pyqref; pyqref._kernels.conv2d", "pyqref._kernels.qconv"),
    ],
)
def test_the_first_use_imports(script, module):
    """An attribute or a ``from`` import brings the module that has the name."""
    assert module in loaded_by(script)


@pytest.fixture
def package(monkeypatch, tmp_path):
    """A package with the names ``left``, ``right`` and ``also`` of one module, and a module."""
    folder = tmp_path / "lazy_package"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "from pyqref import _lazy\n__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)\n",
        encoding="utf-8",
    )
    (folder / "__init__.pyi").write_text(
        "from math import pi as pi\n\n"
        "# Imported when first used:\n"
        "from .both import left as left\n"
        "from .both import right as right  # not in __all__\n"
        "also = right\n"
        "from . import whole as whole\n",
        encoding="utf-8",
    )
    (folder / "both.py").write_text("left, right = object(), object()", encoding="utf-8")
    (folder / "whole.py").write_text("", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("lazy_package")
    for name in ("lazy_package", "lazy_package.both", "lazy_package.whole"):
        sys.modules.pop(name, None)


def test_a_package_has_the_names_of_its_stub(package):
    """They are in ``__all__``, but for those that are marked, and in ``dir`` before their use."""
    assert ["pi", "left", "also", "whole"] == package.__all__
    assert {"pi", "left", "right", "also", "whole"} <= set(dir(package))
    assert "pi" in vars(package)
    assert not {"left", "right", "also", "whole"} & set(vars(package))
    assert package.also is package.right


def test_a_name_is_looked_up_once(package):
    """It then is an attribute as any other, the same object as in its module."""
    assert "left" not in vars(package)
    first = package.left
    assert first is vars(package)["left"]
    assert first is sys.modules["lazy_package.both"].left
    assert "right" not in vars(package)


def test_a_module_is_a_name_too(package):
    """``package.whole`` imports ``package/whole.py``."""
    assert package.whole is sys.modules["lazy_package.whole"]


def test_a_name_that_is_nowhere(package):
    """The message is Python's own."""
    with pytest.raises(AttributeError, match="module 'lazy_package' has no attribute 'neither'"):
        _ = package.neither


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_waits_for_the_imports_of_other_threads(package, tmp_path):
    """Otherwise the child would wait for the thread that imports, which it does not have."""
    started = tmp_path / "started"
    slow = f"import pathlib, time; pathlib.Path({str(started)!r}).touch(); time.sleep(0.3); x = 1"
    (tmp_path / "lazy_package" / "whole.py").write_text(slow, encoding="utf-8")
    thread = Thread(target=lambda: package.whole)
    thread.start()
    while not started.exists():
        time.sleep(0.001)
    child = multiprocessing.get_context("fork").Process(target=lambda: package.whole)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of Python: threads and fork
        child.start()
    thread.join()
    child.join(timeout=60)
    assert 0 == child.exitcode


@pytest.mark.parametrize(
    "name",
    [
        "quantization.quantize_fx.prepare_fx",
        "quantization.fx.custom_config.PrepareCustomConfig",
        "ao.quantization.quantize_fx.convert_fx",
        "fx.symbolic_trace",
        "utils.data.DataLoader",
    ],
)
def test_a_script_that_imports_the_package_alone_reaches(name: str) -> None:
    """``import pyqref as torch`` is enough for each dotted name, as with torch."""
    script = f"import pyqref as torch; assert callable(torch.{name})"
    subprocess.run([sys.executable, "-c", script], check=True)
