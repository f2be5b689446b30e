"""``pyqref run notebook.ipynb``: the code cells in order, without Jupyter."""

from __future__ import annotations

import json

import pytest

from pyqref.run.magics import Notebook, python_of
from pyqref.run.notebook import code_cells, run_notebook

from .test_script import run


def write(path, *cells):
    """A notebook with these code cells, and text between them."""
    text = {"cell_type": "markdown", "source": ["# not %code\n"]}
    code = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    found = [each for pair in zip(code, [text] * len(code), strict=True) for each in pair]
    path.write_text(json.dumps({"cells": found, "nbformat": 4}), encoding="utf-8")
    return path


def test_a_notebook(tmp_path):
    """Values are shown, magics followed or left out with a note, figures need no window."""
    (tmp_path / "data.txt").write_text("here", encoding="utf-8")
    path = write(
        tmp_path / "lab.ipynb",
        "%matplotlib inline\n%load_ext pyqref\n!pip install torch\nimport os, torch",
        "%%time\nx = torch.ones(2)\nx",
        "x + 1;",
        "for i in range(1):\n    %timeit -n 10 -r 3 print(x.sum().item())\ndisplay(i)",
        "%%writefile helper.py\nNAME = 'written'\n",
        "import helper\nfiles = !ls\nprint(helper.NAME, files, open('data.txt').read())",
        "None",
        "os.environ['MPLBACKEND']",
    )
    result = run(path)
    assert 0 == result.returncode, result.stderr
    shown = ["tensor([1., 1.])", "2.0", "0", "written [] here", "'Agg'"]
    assert shown == result.stdout.splitlines()
    notes = ["pyqref run: left out !pip install torch", "pyqref run: left out !ls"]
    assert notes == result.stderr.splitlines()


def test_a_cell_that_fails(tmp_path):
    """The traceback names cell and line, and shows it; the cells after it do not run."""
    path = write(tmp_path / "lab.ipynb", "def f():\n    1 / 0", "f()", "print('not reached')")
    result = run(path)
    assert (1, "") == (result.returncode, result.stdout)
    assert [
        '  File "<cell 2 of lab.ipynb>", line 1, in <module>',
        '  File "<cell 1 of lab.ipynb>", line 2, in f',
    ] == [line for line in result.stderr.splitlines() if line.startswith("  File")]
    assert "    1 / 0\n" in result.stderr


def test_the_end_of_a_notebook(tmp_path):
    """``sys.exit`` ends it with its code."""
    assert 5 == run(write(tmp_path / "lab.ipynb", "import sys; sys.exit(5)")).returncode


@pytest.mark.parametrize("text", ["", "[]", '{"cells": [1]}', '{"a": 1}', "\x00"])
def test_what_is_not_a_notebook(tmp_path, capsys, text):
    """It is said in one line."""
    path = tmp_path / "lab.ipynb"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="is not a notebook"):
        code_cells(str(path))
    assert 2 == run_notebook(str(path))
    assert "is not a notebook" in capsys.readouterr().err


def test_a_notebook_of_format_3(tmp_path):
    """Its cells lie in worksheets, and are called input."""
    cells = [{"cell_type": "code", "input": ["x = 1\n", "y = 2"]}]
    path = tmp_path / "old.ipynb"
    path.write_text(json.dumps({"worksheets": [{"cells": cells}]}), encoding="utf-8")
    assert ["x = 1\ny = 2"] == code_cells(str(path))


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("x = 1", "x = 1"),
        ("%cd folder", "get_ipython().run_line_magic('cd', 'folder')"),
        ("  !ls -l", "  get_ipython().system('ls -l')"),
        ("out = !ls", "out = get_ipython().system('ls')"),
        ("t = %timeit -o f()", "t = get_ipython().run_line_magic('timeit', '-o f()')"),
        ("%time x = f()", "x = f()"),
        ("torch.nn?", "pass  # torch.nn?"),
        ("?torch.nn", "pass  # ?torch.nn"),
        ("'''\n%not a magic\n'''\n%cd x", "'''\n%not a magic\n'''\nget_ipython().run_line_magic("),
        ("%%bash\nls", "get_ipython().run_cell_magic('bash', '', 'ls')"),
        ("%%capture out\n%cd x", "\nget_ipython().run_line_magic('cd', 'x')"),
        ("a = b % c\n%%d", "a = b % c\n"),
        ("x = y if z else '?'", "x = y if z else '?'"),
    ],
)
def test_lines_that_are_not_python(cell, python):
    """They become Python on the same line, so that tracebacks count right."""
    found = python_of(cell)
    assert found.startswith(python)
    if "bash" not in cell:
        assert cell.count("\n") == found.count("\n")


def test_magics_that_do_what_they_say(tmp_path, monkeypatch, capsys):
    """The folder, the environment, files; others are left out with a note."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYQREF_TEST", "0")
    notebook = Notebook()
    (tmp_path / "inner").mkdir()
    notebook.run_line_magic("cd", "inner")
    notebook.run_line_magic("env", "PYQREF_TEST=1")
    notebook.run_cell_magic("writefile", "a.txt", "one\n")
    notebook.run_cell_magic("writefile", "-a a.txt", "two\n")
    notebook.run_cell_magic("bash", "", "ls")
    notebook.run_line_magic("autoreload", "2")
    assert "one\ntwo\n" == (tmp_path / "inner" / "a.txt").read_text(encoding="utf-8")
    assert [
        "pyqref run: left out the cell that begins with %%bash",
        "pyqref run: left out %autoreload 2",
    ] == capsys.readouterr().err.splitlines()
