"""The plugin for pytest: fixtures for engines and kernels, and no cost where they are not used."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from pyqref import kernels

pytest_plugins = ["pytester"]

TEST = """
import pyqref
from pyqref import kernels

seen = set()
BEFORE = pyqref.backends.quantized.engine, kernels.in_use()

def test_both(pyqref_engine, pyqref_kernel):
    assert pyqref.backends.quantized.engine == pyqref_engine
    assert kernels.in_use() == pyqref_kernel
    seen.add((pyqref_engine, pyqref_kernel))

def test_all():
    assert len(seen) == 2 * len(kernels.usable())
    assert (pyqref.backends.quantized.engine, kernels.in_use()) == BEFORE
"""


def test_fixtures_run_every_engine_on_every_kernel(pytester: pytest.Pytester) -> None:
    """Afterwards engine and kernel are what they were."""
    pytester.makepyfile(test_it=TEST)
    loaded = {each.value for each in entry_points(group="pytest11")}
    plugin = [] if "pyqref_pytest" in loaded else ["-p", "pyqref_pytest"]
    result = pytester.runpytest_inprocess(*plugin, "-p", "no:cacheprovider")
    result.assert_outcomes(passed=2 * len(kernels.usable()) + 1)


def test_the_plugin_alone_imports_nothing() -> None:
    """Pytest loads it for every project in an environment that has pyqref."""
    code = "import pyqref_pytest, sys; print([m for m in sys.modules if m.startswith('pyqref')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "['pyqref_pytest']" == done.stdout.strip()
