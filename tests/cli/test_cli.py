"""The command ``pyqref``, as a user calls it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

import pyqref
import pyqref.course
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


RIGHT = """
import numpy as np

def dequantize(q, scale, zero_point):
    return (q.astype(int) - zero_point) * scale
"""
CLASS = """
class MinMaxObserver:
    def __init__(self):
        self.min_val, self.max_val = float("inf"), float("-inf")
    def forward(self, x):
        self.min_val = min(self.min_val, float(x.min()))
        self.max_val = max(self.max_val, float(x.max()))
        return x
"""


def check(tmp_path, name, source):
    """``pyqref course check`` of a file with this source: its exit code."""
    file = tmp_path / "mine.py"
    file.write_text(source)
    return main(["course", "check", name, str(file)])


def test_course_lists_the_exercises(capsys):
    assert 0 == main(["course"])
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert list(pyqref.course.exercises()) == listed


def test_course_describes_an_exercise(capsys):
    assert 0 == main(["course", "describe", "requantize"])
    assert f"{pyqref.course.describe('requantize')}\n" == capsys.readouterr().out


def test_course_says_that_it_runs_the_file(capsys):
    with pytest.raises(SystemExit):
        main(["course", "check", "--help"])
    assert "is run as Python runs a script" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("name", "source"), [("dequantize", RIGHT), ("min_max_observer", CLASS)], ids=["def", "class"]
)
def test_course_passes_what_is_right(tmp_path, capsys, name, source):
    assert 0 == check(tmp_path, name, source)
    assert "cases are right" in capsys.readouterr().out


def test_course_tells_the_mistake(tmp_path, capsys):
    assert 1 == check(tmp_path, "dequantize", RIGHT.replace("- zero_point", "+ zero_point"))
    assert "The mistake: adds the zero point." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "source", "words"),
    [
        ("dequantise", RIGHT, "name must be one of 'quantize', "),
        ("quantize", RIGHT, "mine.py must define quantize"),
        ("dequantize", "x = 1\n1 / 0\n", "mine.py, line 2: ZeroDivisionError: division by zero"),
        ("dequantize", "def dequantize(:\n", "mine.py, line 1: SyntaxError: "),
        ("dequantize", "dequantize = 3\n", "mine.py must define dequantize"),
        ("dequantize", "raise SystemExit(0)\n", "mine.py, line 1: SystemExit: 0"),
    ],
)
def test_course_explains_files_that_cannot_be_checked(tmp_path, capsys, name, source, words):
    assert 1 == check(tmp_path, name, source)
    error = capsys.readouterr().err
    assert error.startswith("pyqref course: ")
    assert words in error
    assert 1 == error.count("\n")


def test_a_solution_that_exits_is_not_right(tmp_path, capsys):
    """The exit code is the checker's."""
    source = "import sys\ndef dequantize(*_):\n    sys.exit(0)\n"
    assert 1 == check(tmp_path, "dequantize", source)
    assert "it raised SystemExit: 0" in capsys.readouterr().out


def test_course_explains_a_file_that_is_none(tmp_path, capsys):
    assert 1 == main(["course", "check", "dequantize", str(tmp_path / "none.py")])
    assert "none.py is no file" in capsys.readouterr().err


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
    # Interrupted within ``exec`` of a text, as where a named tuple is made, Python ends itself by
    # the signal, although the exception was caught. To a shell both are 130.
    assert process.returncode in (130, -signal.SIGINT)
    assert [] == list(tmp_path.iterdir())
