"""Which kernel runs: the choice at import, forcing one, and the refusal of what cannot run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from pyqref import kernels
from pyqref._kernels import registry
from pyqref._kernels.table import KERNELS, OPERATIONS


def run_with(kernel: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python under ``PYQREF_KERNEL=kernel``, away from the source tree."""
    environment = {**os.environ, "PYQREF_KERNEL": kernel}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=folder, capture_output=True, text=True
    )


PRINT = "from pyqref import kernels; print(kernels.in_use())"


def test_best_usable_kernel_is_chosen(tmp_path: Path) -> None:
    """An empty variable forces nothing; the list goes from the slowest to the fastest."""
    assert kernels.usable()[-1] == run_with("", tmp_path, "-c", PRINT).stdout.strip()


@pytest.mark.parametrize("name", kernels.usable())
def test_environment_variable_forces_a_kernel(name: str, tmp_path: Path) -> None:
    assert name == run_with(name, tmp_path, "-c", PRINT).stdout.strip()


@pytest.mark.parametrize(
    "program",
    [PRINT, "import pyqref; pyqref.quantize_per_tensor(pyqref.ones(2), 1.0, 0, pyqref.quint8)"],
)
def test_unknown_name_in_the_environment_is_an_error_that_lists_the_possible(
    program: str, tmp_path: Path
) -> None:
    """Never a silent second choice: neither asked for nor used."""
    result = run_with("fastest", tmp_path, "-c", program)
    assert result.returncode == 1
    assert f"ValueError: {unknown('fastest')}" == result.stderr.splitlines()[-1]


@pytest.mark.parametrize("command", ["kernels", "demo"])
def test_command_line_explains_an_unknown_name_in_one_line(command: str, tmp_path: Path) -> None:
    result = run_with("fastest", tmp_path, "-m", "pyqref", command)
    assert (2, "") == (result.returncode, result.stdout)
    assert f"pyqref: {unknown('fastest')}\n" == result.stderr


def unknown(name: str) -> str:
    """Return the message about a name that no kernel has."""
    possible = ", ".join(repr(each) for each in kernels.usable())
    return (
        f"PYQREF_KERNEL must be one of {possible} on this machine, got {name!r}: "
        "there is no such kernel"
    )


def test_use_is_a_statement_and_a_context_manager() -> None:
    before = kernels.in_use()
    with kernels.use("reference"):
        assert kernels.in_use() == "reference"
        with kernels.use(before):
            assert before == kernels.in_use()
        assert kernels.in_use() == "reference"
    assert before == kernels.in_use()
    kernels.use("reference")
    assert kernels.in_use() == "reference"
    kernels.use(before)


def test_use_puts_the_kernel_back_after_an_error() -> None:
    before = kernels.in_use()
    with pytest.raises(ZeroDivisionError), kernels.use("reference"):
        raise ZeroDivisionError
    assert before == kernels.in_use()


@pytest.mark.parametrize("name", ["fastest", "", None, 3])
def test_unknown_name_is_refused(name: object) -> None:
    before = kernels.in_use()
    with pytest.raises(ValueError, match=r"name must be one of 'reference'.*no such kernel"):
        kernels.use(name)  # type: ignore[arg-type]
    assert before == kernels.in_use()


def test_kernel_that_the_processor_cannot_run_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "features", frozenset)
    with pytest.raises(ValueError, match=r"got 'avx2': this processor cannot run it"):
        kernels.use("avx2")


def test_kernel_that_was_not_built_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_is_compiled", lambda module: False)
    assert kernels.usable() == ("reference",)
    with pytest.raises(ValueError, match=r"must be one of 'reference' on.*it was not built"):
        kernels.use("portable")


@pytest.mark.parametrize("name", [each for each in kernels.usable() if each != "reference"])
def test_operations_without_a_module_are_run_by_that_of_the_kernel_it_extends(name: str) -> None:
    """``amx`` differs from ``avx512vnni`` in products of matrices only."""
    own = KERNELS[name].operations or OPERATIONS
    with kernels.use(name):
        for operation in OPERATIONS:
            expected = name if operation in own else KERNELS[name].extends
            module = registry.twin(operation).__name__
            assert f"pyqref._kernels.{operation}.{expected}" == module


def test_the_table_is_true() -> None:
    """Each operation is a folder with one body and one stub, each equation's home a module."""
    folder = Path(registry.__file__).parent
    bodies = {path.parent.name for path in folder.glob("*/kernel.pyx")}
    stubs = {path.parent.name for path in folder.glob("*/kernel.pyi")}
    headers = {path.stem for path in (folder / "simd").glob("*.h")}
    homes = {name for each in OPERATIONS.values() for name in each.equations}
    assert stubs == {*OPERATIONS}
    assert bodies <= {*OPERATIONS}  # an installed package has no sources
    assert not headers or {*KERNELS} - {"reference"} <= headers
    assert [] == [name for name in homes if find_spec(f"pyqref.numerics.{name}") is None]


def test_show_lists_every_kernel_openmp_and_threads(capsys: pytest.CaptureFixture[str]) -> None:
    with kernels.use("reference"):
        kernels.show()
    lines = capsys.readouterr().out.splitlines()
    rows = {line.split()[0]: line for line in lines if line}
    assert [*KERNELS] == [name for name in rows if name in KERNELS]
    assert rows["reference"].split()[:4] == ["reference", "yes", "yes", "*"]
    assert "OpenMP:" in rows
    assert "threads:" in rows


def test_show_of_an_installation_without_compiled_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_is_compiled", lambda module: False)
    assert "portable      no     yes" in kernels.summary()


@pytest.mark.parametrize("name", [each for each in kernels.usable() if each != "reference"])
def test_module_of_older_sources_says_to_build_again(name: str) -> None:
    """A function that a module lacks was added to the sources after it was built."""
    with kernels.use(name):
        twin = registry.twin("quantize")
        wanted = rf"{re.escape(twin.__name__)} has no of_tomorrow: .* build again with .*setup\.py"
        with pytest.raises(AttributeError, match=wanted):
            twin.of_tomorrow()
        assert not hasattr(twin, "__path__")


def test_module_that_does_not_fit_the_others_says_to_build_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def mismatched(name: str) -> None:
        raise TypeError("C function parallel_for has wrong signature")

    monkeypatch.setattr(registry, "import_module", mismatched)
    with pytest.raises(ImportError, match=r"wrong signature: .* build again with .*setup\.py"):
        registry._load("pyqref._kernels.quantize.portable")


def test_module_of_a_kernel_left_meanwhile_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread may choose another kernel while the module of the first is looked up."""
    twin_of = registry.twin_of

    def twin_and_change(kernel: str, operation: str) -> Any:
        found = twin_of(kernel, operation)
        kernels.use("reference")
        return found

    with kernels.use("reference"):
        kernels.use(kernels.usable()[-1])
        monkeypatch.setattr(registry, "twin_of", twin_and_change)
        registry.twin("quantize")
        monkeypatch.undo()
        assert registry.twin("quantize") is None
