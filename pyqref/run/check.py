"""``pyqref check``: which names of torch a program needs and pyqref does not have."""

from __future__ import annotations

import argparse
import ast
import bisect
import importlib.util
import json
import sys
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

from .magics import python_of
from .names import is_here, returns_tensor, what_to_do
from .notebook import code_cells
from .uses import Use, uses_in

__all__ = ["FileReport", "MissingName", "add_arguments", "check", "check_file", "run", "summary"]

SUMMARY = "list the names of torch that a script, folder or notebook uses and pyqref lacks"
EXIT_MISSING = 1
EXIT_USAGE = 2
#: Folders that hold no program of the user.
_OTHERS = {".git", ".venv", "venv", "node_modules", "__pycache__", "site-packages", "build"}


@dataclass(frozen=True)
class MissingName:
    """A name that is absent, where it is used, and what to do instead.

    Attributes
    ----------
    file, line, cell
        Where; ``cell`` counts the code cells of a notebook from 1, and is 0 for a script.
    name
        The full name: ``"torch.fft.rfft"``.
    advice
        What to do instead.
    guarded
        Whether it stands in a ``try`` that catches its absence: then it stops nothing.
    """

    file: str
    line: int
    name: str
    advice: str
    guarded: bool = False
    cell: int = 0

    @property
    def place(self) -> str:
        """``file:line``, with the cell of a notebook."""
        cell = f":cell {self.cell}" if self.cell else ""
        return f"{self.file}{cell}:{self.line}"


@dataclass
class FileReport:
    """Names that one file uses.

    Attributes
    ----------
    file
        Its path.
    names
        The different names of torch that it uses.
    missing
        Those that are absent, once for each line.
    packages
        Packages beside torch that it needs, as ``torchvision``.
    error
        Why it could not be read; empty if it could.
    """

    file: str
    names: set[str] = field(default_factory=set)
    missing: list[MissingName] = field(default_factory=list)
    packages: set[str] = field(default_factory=set)
    error: str = ""

    @property
    def is_complete(self) -> bool:
        """Return True if the file could be read and pyqref has every name that it needs."""
        return not self.error and all(each.guarded for each in self.missing)


def check_file(path: str | Path) -> FileReport:
    r"""Look at one script or notebook; nothing of it is run.

    Parameters
    ----------
    path
        A ``.py`` or ``.ipynb`` file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> script = pathlib.Path(folder.name, "script.py")
    >>> _ = script.write_text("import torch\ntorch.fft.rfft(torch.ones(4))\n")
    >>> [(each.line, each.name) for each in check_file(script).missing]
    [(2, 'torch.fft.rfft')]
    >>> folder.cleanup()
    """
    report = FileReport(str(path))
    try:
        cells = _cells(Path(path))
        uses = uses_in("".join(cells), returns_tensor)
    except SyntaxError as error:
        report.error = f"line {error.lineno}: {error.msg}"
    except (OSError, ValueError) as error:
        report.error = str(error)
    else:
        _collect(report, uses, cells)
    return report


def _cells(path: Path) -> list[str]:
    """The text of a script; of a notebook its cells, those blank that are not Python."""
    if path.suffix != ".ipynb":
        with tokenize.open(path) as file:
            return [file.read()]
    return [_or_blank(f"{python_of(cell)}\n") for cell in code_cells(str(path))]


def _or_blank(source: str) -> str:
    try:
        ast.parse(source)
    except SyntaxError:
        return "\n" * source.count("\n")
    return source


def _collect(report: FileReport, uses: Iterable[Use], cells: Sequence[str]) -> None:
    """Sort uses into what is here, what is missing and what other packages have."""
    ends = list(accumulate(cell.count("\n") for cell in cells))
    in_cells = report.file.endswith(".ipynb")
    for use in uses:
        root = use.name.partition(".")[0]
        if root != "torch":
            report.packages.add(root)
            continue
        report.names.add(use.name)
        if is_here(use.name):
            continue
        cell = bisect.bisect_left(ends, use.line) if in_cells else 0
        line = use.line - (ends[cell - 1] if cell else 0)
        number = cell + 1 if in_cells else 0
        advice = what_to_do(use.name)
        report.missing.append(MissingName(report.file, line, use.name, advice, use.guarded, number))


def check(paths: Iterable[str | Path]) -> list[FileReport]:
    """Look at scripts, notebooks, and all of them in folders.

    Parameters
    ----------
    paths
        Files and folders.

    Returns
    -------
    list of FileReport
        One for each file that uses torch, or cannot be read.
    """
    reports = [check_file(each) for path in paths for each in _files(Path(path))]
    return [each for each in reports if each.names or each.packages or each.error]


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for each in sorted(path.rglob("*")):
        inside = each.relative_to(path).parts[:-1]
        if each.suffix in (".py", ".ipynb") and each.is_file() and not _OTHERS & {*inside}:
            yield each


def summary(reports: Sequence[FileReport]) -> dict[str, Any]:
    """The score: how many names are here, and how many files find all of theirs."""
    uses = sum(len(each.names) for each in reports)
    absent = sum(len({missing.name for missing in each.missing}) for each in reports)
    return {
        "files": len(reports),
        "files_complete": sum(each.is_complete for each in reports),
        "names": uses,
        "names_here": uses - absent,
        "packages": sorted({name for each in reports for name in each.packages}),
    }


def _text(reports: Sequence[FileReport]) -> Iterator[str]:
    for each in reports:
        if each.error:
            yield f"{each.file}: cannot be read: {each.error}"
        for missing in each.missing:
            guarded = " (inside a try that catches it)" if missing.guarded else ""
            yield f"{missing.place}: {missing.name}: {missing.advice}{guarded}"
    score = summary(reports)
    for name in score["packages"]:
        if importlib.util.find_spec(name) is None:
            yield f"also needed: {name}: {what_to_do(name)}"
    yield (
        f"{_of(score['names_here'], score['names'])} names are here; "
        f"{_of(score['files_complete'], score['files'])} files find every name of torch"
    )


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.1%})" if whole else "0 of 0"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``pyqref check`` to a parser."""
    parser.add_argument("paths", nargs="+", metavar="path", help="script, notebook or folder")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print what is missing; exit code 0 if nothing is, 1 if something, 2 for a wrong path."""
    for path in options.paths:
        if not Path(path).exists():
            sys.stderr.write(f"pyqref check: there is no file or folder {path!r}\n")
            return EXIT_USAGE
    reports = check(options.paths)
    if options.json:
        found = {
            "summary": summary(reports),
            "missing": [asdict(missing) for each in reports for missing in each.missing],
            "errors": {each.file: each.error for each in reports if each.error},
        }
        sys.stdout.write(f"{json.dumps(found, indent=2)}\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _text(reports)))
    return 0 if all(each.is_complete for each in reports) else EXIT_MISSING
