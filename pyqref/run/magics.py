"""Lines of a notebook that are not Python: what they become when no notebook runs them.

``%`` and ``!`` lines that set up a notebook or a machine are left out, with a note. Those that
wrap code (``%%time``, ``%timeit f()``) leave the code, ``%cd``, ``%env`` and ``%%writefile``
do what they say.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path

__all__ = ["Notebook", "python_of"]

#: Line magics whose rest is a statement.
_WRAPPERS = ("time", "timeit", "prun", "memit", "mprun", "lprun")
#: Cell magics whose rest is Python.
_CELL_WRAPPERS = ("time", "timeit", "capture", "prun", "python", "python3", "memit")
#: Options before a wrapped statement: ``-n 10 -r 3``.
_OPTIONS = re.compile(r"(?:-[nrtbo]\s*\d*\s+)*")


def note(text: str) -> None:
    """Tell, beside the output, what a notebook's line did not do."""
    sys.stderr.write(f"pyqref run: {text}\n")


class Notebook:
    """Result of ``get_ipython()`` in a notebook that is run as a script.

    Examples
    --------
    >>> Notebook().run_line_magic("env", "PYQREF_EXAMPLE=1")
    >>> import os
    >>> os.environ.pop("PYQREF_EXAMPLE")
    '1'
    """

    def run_line_magic(self, name: str, line: str = "") -> None:
        """Do what the magic says, or tell that it was left out."""
        line = line.strip()
        if name == "cd":
            os.chdir(Path(line.strip("'\"") or "~").expanduser())
        elif name in ("env", "set_env") and "=" in line:
            key, _, value = line.partition("=")
            os.environ[key.strip()] = value.strip()
        elif name == "matplotlib" or line.startswith("pyqref"):
            pass  # figures are drawn without a window, and the alias is there
        else:
            note(f"left out %{name} {line}".rstrip())

    magic = run_line_magic

    def run_cell_magic(self, name: str, line: str, cell: str) -> None:
        """Write a file, or tell that the cell was left out."""
        if name in ("writefile", "file"):
            options = shlex.split(line)
            mode = "a" if "-a" in options else "w"
            with open(options[-1], mode, encoding="utf-8") as file:
                file.write(cell)
        else:
            note(f"left out the cell that begins with %%{name} {line}".rstrip())

    def system(self, command: str) -> list[str]:
        """No command runs; its output is empty."""
        note(f"left out !{command}")
        return []

    getoutput = system


def python_of(cell: str) -> str:
    r"""The Python of a cell: as many lines, those that are not Python made into calls.

    Examples
    --------
    >>> print(python_of("%time x = 1\n!pip install torch\ny = 2"))
    x = 1
    get_ipython().system('pip install torch')
    y = 2
    """
    first = cell.lstrip()
    blank = "\n" * cell[: len(cell) - len(first)].count("\n")
    if first.startswith("%%"):
        head, _, body = first.partition("\n")
        name, _, line = head[2:].partition(" ")
        if name in _CELL_WRAPPERS:
            return f"{blank}\n{python_of(body)}"
        return f"{blank}get_ipython().run_cell_magic({name!r}, {line!r}, {body!r})"
    lines, inside = [], ""
    for line in cell.split("\n"):
        lines.append(line if inside else _python_of_line(line))
        inside = _open_string(line, inside)
    return "\n".join(lines)


def _python_of_line(line: str) -> str:
    text = line.strip()
    indent = line[: len(line) - len(line.lstrip())]
    if text.startswith("!"):
        return f"{indent}get_ipython().system({text.lstrip('!').strip()!r})"
    if text.startswith("%"):
        name, _, rest = text[1:].partition(" ")
        if name in _WRAPPERS and rest.strip():
            return f"{indent}{_OPTIONS.sub('', rest.strip(), count=1)}"
        return f"{indent}get_ipython().run_line_magic({name!r}, {rest!r})"
    assigned = re.match(r"([\w, ]+=)\s*(!|%)(.*)$", text)
    if assigned:
        target, sign, rest = assigned.groups()
        if sign == "!":
            return f"{indent}{target} get_ipython().system({rest.strip()!r})"
        name, _, rest = rest.partition(" ")
        return f"{indent}{target} get_ipython().run_line_magic({name!r}, {rest!r})"
    if re.fullmatch(r"\??\??[\w.]+\?\??", text) or re.fullmatch(r"\?\??[\w.]+", text):
        return f"{indent}pass  # {text}"
    return line


def _open_string(line: str, inside: str) -> str:
    """The triple quote that is open after ``line``; empty if none is."""
    for quote in re.findall(r"\"\"\"|'''", line):
        if not inside:
            inside = quote
        elif inside == quote:
            inside = ""
    return inside
