"""The command ``pyqref``, as a user calls it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

import pyqref
from pyqref.cli import main


def pyqref_command(*arguments, **options):
    """``python -m pyqref`` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "pyqref", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **options,
    )


def test_version(tmp_path):
    result = pyqref_command("--version", cwd=tmp_path)
    assert (0, f"pyqref {pyqref.__version__}\n") == (result.returncode, result.stdout)


def test_alone_prints_help(capsys):
    assert 0 == main([])
    printed = capsys.readouterr().out
    assert printed.startswith("usage: pyqref")
    assert "demo" in printed
    assert "kernels" in printed


def test_help_of_demo_names_every_option(capsys):
    with pytest.raises(SystemExit) as exit_:
        main(["demo", "--help"])
    assert 0 == exit_.value.code
    printed = capsys.readouterr().out
    for option in ("--out", "--seed", "--epochs", "--threads", "--quick"):
        assert option in printed


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--frobnicate"], "--frobnicate"),
        (["frobnicate"], "frobnicate"),
        (["demo", "--frob"], "--frob"),
        (["demo", "--see", "1"], "--see"),
        (["demo", "--seed", "-1"], "must be a whole number from 0 to 4294967295, got '-1'"),
        (["demo", "--epochs", "0"], "must be a whole number from 1 to 1000, got '0'"),
        (["demo", "--threads", "two"], "must be a whole number from 1 to 1024, got 'two'"),
    ],
)
def test_wrong_command_lines_are_explained(capsys, arguments, words):
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert 2 == exit_.value.code
    assert words in capsys.readouterr().err


def test_kernels_shows_the_one_in_use(capsys):
    assert 0 == main(["kernels"])
    assert pyqref.kernels.in_use() in capsys.readouterr().out


def test_missing_extras_are_named(monkeypatch, capsys):
    monkeypatch.setattr("pyqref.cli.demo.EXTRAS", {"no_such_module": "no-such-package"})
    assert 1 == main(["demo"])
    assert (
        "pyqref demo: needs no-such-package; run: pip install 'pyqref[demo]'\n"
        == capsys.readouterr().err
    )


def test_an_occupied_folder_is_refused(tmp_path, capsys):
    (tmp_path / "mine").write_text("")
    assert 1 == main(["demo", "--out", str(tmp_path)])
    error = capsys.readouterr().err
    assert error.startswith("pyqref demo: ")
    assert "mine" in error
    assert 1 == error.count("\n")


@pytest.mark.parametrize("lazy", ["matplotlib", "sklearn", "rich"])
def test_the_command_line_imports_no_extras(lazy, tmp_path):
    """``pyqref --version`` is instant."""
    code = f"import sys, pyqref.cli; print({lazy!r} in sys.modules)"
    program = [sys.executable, "-c", code]
    result = subprocess.run(
        program, capture_output=True, text=True, check=True, timeout=60, cwd=tmp_path
    )
    assert "False" == result.stdout.strip()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_ctrl_c_leaves_nothing(tmp_path):
    """Interrupted while it trains: exit code 130, one line, no folder."""
    out = tmp_path / "report"
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "pyqref", "demo", "--epochs", "1000", "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        # A job in the background inherits that it ignores interrupts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout.readline().startswith("pyqref ")
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert "pyqref: interrupted, no report was written\n" == error
    assert 130 == process.returncode
    assert [] == list(tmp_path.iterdir())
