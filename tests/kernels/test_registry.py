"""Which kernel runs: the choice at import, forcing one, and the refusal of what cannot run."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pyqref import kernels
from pyqref._kernels import registry


def import_with(kernel: str) -> subprocess.CompletedProcess[str]:
    """Import in a fresh process under ``PYQREF_KERNEL=kernel`` and print what is in use."""
    program = "from pyqref import kernels; print(kernels.in_use())"
    environment = {**os.environ, "PYQREF_KERNEL": kernel}
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )


def test_best_usable_kernel_is_chosen_at_import() -> None:
    """An empty variable forces nothing; the list goes from the slowest to the fastest."""
    assert kernels.usable()[-1] == import_with("").stdout.strip()


@pytest.mark.parametrize("name", kernels.usable())
def test_environment_variable_forces_a_kernel(name: str) -> None:
    assert name == import_with(name).stdout.strip()


def test_environment_variable_with_an_unknown_name_is_an_error_that_lists_the_possible() -> None:
    result = import_with("fastest")
    assert result.returncode != 0
    possible = ", ".join(repr(name) for name in kernels.usable())
    message = f"PYQREF_KERNEL must be one of {possible} on this machine, got 'fastest'"
    assert message in result.stderr


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


def test_show_lists_every_kernel_openmp_and_threads(capsys: pytest.CaptureFixture[str]) -> None:
    with kernels.use("reference"):
        kernels.show()
    lines = capsys.readouterr().out.splitlines()
    rows = {line.split()[0]: line for line in lines if line}
    assert [*registry.KERNELS] == [name for name in rows if name in registry.KERNELS]
    assert rows["reference"].split()[:4] == ["reference", "yes", "yes", "*"]
    assert "OpenMP:" in rows
    assert "threads:" in rows


def test_show_of_an_installation_without_compiled_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_is_compiled", lambda module: False)
    assert "portable    no     yes" in kernels.summary()
