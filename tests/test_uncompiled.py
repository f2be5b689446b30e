"""An import that runs on NumPy by accident says so, with a remedy; one that was meant does not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pyqref
from pyqref import kernels
from pyqref._kernels import uncompiled

PACKAGE = Path(pyqref.__file__).parent


def copy_without_kernels(folder: Path) -> Path:
    """The package without what is compiled, as a clone holds it or pip leaves it."""
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__", "demo", "course")
    return Path(shutil.copytree(PACKAGE, folder / "pyqref", ignore=ignored))


def warnings_of_import(folder: Path, **environment: str) -> str:
    """Return the standard error of a fresh process that was started in ``folder``."""
    usual = {name: value for name, value in os.environ.items() if name != "PYQREF_KERNEL"}
    result = subprocess.run(
        [sys.executable, "-c", "import pyqref; print(pyqref.kernels.in_use())"],
        cwd=folder,
        env={**usual, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "reference\n" == result.stdout
    return result.stderr


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source tree."""
    folder = tmp_path_factory.mktemp("clone")
    copy_without_kernels(folder)
    (folder / "setup.py").touch()
    return folder


@pytest.mark.skipif("kernels.built() == ('reference',)")
def test_a_clone_that_hides_a_compiled_package_says_where_that_is(clone):
    """Python was started in the clone after ``pip install .``."""
    written = warnings_of_import(clone, PYTHONPATH=str(PACKAGE.parent))
    assert 1 == written.count("UncompiledWarning: ")
    assert f"pyqref from {clone / 'pyqref'} has no compiled kernels" in written
    assert f"hides the compiled package in {PACKAGE}; start Python in another folder" in written


def test_a_clone_beside_a_compiler_says_how_to_compile_it(clone, tmp_path, monkeypatch):
    """There is no other package: the remedy is to compile this one."""
    monkeypatch.setattr(uncompiled, "_PACKAGE", str(clone / "pyqref"))
    monkeypatch.setattr(sys, "path", [str(clone)])
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PYQREF_KERNEL", raising=False)
    uncompiled.warn_if_uncompiled()  # nothing can be done: no word
    compiler = tmp_path / "mycc.exe"
    compiler.touch(0o755)
    monkeypatch.setenv("CC", "mycc.exe -pipe")
    with pytest.warns(uncompiled.UncompiledWarning, match=r"compile it by `pip install -e \.`"):
        uncompiled.warn_if_uncompiled()


def test_whoever_asks_for_numpy_is_told_nothing(clone):
    assert "" == warnings_of_import(clone, PYQREF_KERNEL="reference")


def test_an_installation_without_a_compiler_repeats_what_setup_left(tmp_path):
    package = copy_without_kernels(tmp_path)
    assert "" == warnings_of_import(tmp_path)  # built so on purpose
    (package / "_kernels" / "no_compiler.txt").write_text("no C compiler was found\n")
    written = warnings_of_import(tmp_path)
    assert "about 50 times slower: no C compiler was found; or set PYQREF_KERNEL" in written


def test_the_table_of_kernels_ends_with_the_place_that_was_loaded():
    assert kernels.summary().splitlines()[-1] == f"loaded from: {PACKAGE}"
