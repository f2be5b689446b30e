"""Python that is compiled as it stands: it is this text, and runs as Python too."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import pyqref
from pyqref._kernels.table import PYTHON

PACKAGE = Path(pyqref.__file__).parent
TESTS = Path(__file__).parents[1]
#: What those modules do, mostly.
CHECKED = (
    "kernels/test_layout.py",
    "kernels/test_lines.py",
    "kernels/test_tensors.py",
    "tensor/test_promotion.py",
    "tensor/test_usual.py",
    "tensor/test_wrong_arguments.py",
)


def origin(name: str) -> Path:
    spec = find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin)


def source(name: str) -> Path:
    return PACKAGE.joinpath(*name.split(".")[1:]).with_suffix(".py")


@pytest.mark.parametrize("name", PYTHON)
def test_it_is_this_text(name: str) -> None:
    """In a clone, where the text may have changed since, the module is as new as its text."""
    if not (PACKAGE.parent / "setup.py").exists() or origin(name) == source(name):
        pytest.skip("nothing was compiled in place")
    built = origin(name).stat().st_mtime
    assert built >= source(name).stat().st_mtime, "python setup.py build_ext --inplace"


@pytest.mark.parametrize("name", [each for each in PYTHON if "._kernels." not in each])
def test_it_raises_nothing_itself(name: str) -> None:
    """Compiled files do not raise: an error of pyqref is known by the instruction that raised it.

    See failures.py. An error that was raised before may be raised again.

    What was raised before may be raised again.
    """
    found = ast.walk(ast.parse(source(name).read_text()))
    assert not [each.lineno for each in found if isinstance(each, ast.Raise) and each.exc]


def test_it_runs_as_python(tmp_path: Path) -> None:
    """It runs as Python with the same results, as where there is no compiler."""
    if all(origin(name) == source(name) for name in PYTHON):
        pytest.skip("nothing was compiled")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    command += ["-p", "kernels.from_source", "--as-python", ",".join(PYTHON)]
    command += [str(TESTS / each) for each in CHECKED]
    # Python finds no source tree beside an installation there.
    paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
