"""Run a notebook as a script: its code cells in order, in one namespace, without Jupyter."""

from __future__ import annotations

import ast
import json
import linecache
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from .failure import report
from .magics import Notebook, python_of

__all__ = ["code_cells", "run_notebook"]


def code_cells(path: str) -> list[str]:
    """The sources of a notebook's code cells, of format 3 or 4.

    Parameters
    ----------
    path
        A ``.ipynb`` file.

    Raises
    ------
    ValueError
        If the file is not a notebook.
    """
    try:
        notebook = json.loads(Path(path).read_text(encoding="utf-8-sig"))
        sheets = notebook.get("worksheets") or [notebook]
        cells = [cell for sheet in sheets for cell in sheet["cells"]]
        found = [cell.get("source", cell.get("input", "")) for cell in cells if _is_code(cell)]
        return [source if isinstance(source, str) else "".join(source) for source in found]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{path} is not a notebook (JSON with a list of cells): {error}; save it again from "
            "Jupyter, or run a script"
        ) from error


def _is_code(cell: dict[str, Any]) -> bool:
    return cell["cell_type"] == "code"


def run_notebook(path: str, arguments: Sequence[str] = ()) -> int:
    """Run the code cells of a notebook, in its folder, and print what they show.

    The value of a cell's last line is printed. Lines that begin with ``%`` or ``!`` follow
    :mod:`.magics`. The first cell that fails ends the run, with its traceback.

    Parameters
    ----------
    path
        A ``.ipynb`` file.
    arguments
        What the notebook finds in ``sys.argv`` after its path.

    Returns
    -------
    int
        As of :func:`~pyqref.run.script.run_script`; 2 if the file is not a notebook.
    """
    try:
        cells = code_cells(path)
    except ValueError as error:
        sys.stderr.write(f"pyqref run: {error}\n")
        return 2
    folder = Path(path).resolve().parent
    main = ModuleType("__main__")
    notebook = Notebook()
    vars(main).update(__builtins__=__builtins__, get_ipython=lambda: notebook, display=_display)
    sys.modules["__main__"] = main
    sys.argv[:] = [path, *arguments]
    sys.path[:1] = [str(folder)]
    os.chdir(folder)
    os.environ.setdefault("MPLBACKEND", "Agg")  # figures without a window to wait for
    try:
        for number, cell in enumerate(cells, 1):
            _run_cell(python_of(cell), f"<cell {number} of {Path(path).name}>", vars(main))
    except SystemExit:
        raise
    except BaseException as error:
        return report(error)
    return 0


def _run_cell(source: str, name: str, namespace: dict[str, Any]) -> None:
    """Run a cell's statements, and show the value of its last one if that is an expression."""
    lines = source.splitlines(keepends=True)
    linecache.cache[name] = (len(source), None, lines, name)
    tree = ast.parse(source, name)
    last = tree.body[-1] if tree.body and not source.rstrip().endswith(";") else None
    if not isinstance(last, ast.Expr):
        exec(compile(tree, name, "exec"), namespace)
        return
    exec(compile(ast.Module(tree.body[:-1], tree.type_ignores), name, "exec"), namespace)
    value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
    if value is not None:
        _display(value)


def _display(*values: Any, **_: Any) -> None:
    """Print an object like ``display`` in a notebook, as text."""
    for value in values:
        sys.stdout.write(f"{value!r}\n")
