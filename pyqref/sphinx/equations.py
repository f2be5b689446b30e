"""Find each labelled equation: in theory, functions, compiled kernels and tests.

Nothing here is written down twice. A label is found by searching for it, as a reader would:
in the ``:label:`` of a theory page, in the docstrings of the package, in the bodies of the
kernels, in the names and docstrings of the tests. An installed package has no theory and no
tests beside it; ``setup.py`` searches when it builds one, and keeps what was found in a file.

This file imports nothing of the package, so that ``setup.py`` can run it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

__all__ = ["Equation", "Function", "Known", "Survey", "known", "lacking", "survey"]


def _source_tree() -> Path:
    """The tree in which this file stands; an installed package may be used inside of one."""
    here, start = Path(__file__).parents[2], Path.cwd()
    around = (here, start, *start.parents)
    marks = ("docs/theory/index.rst", "pyqref/sphinx/equations.py")
    return next((each for each in around if all((each / mark).exists() for mark in marks)), here)


ROOT = _source_tree()
THEORY = ROOT / "docs" / "theory"
PACKAGE = ROOT / "pyqref"
TESTS = ROOT / "tests"
LABEL = re.compile(r"\beq-[a-z0-9]+(?:-[a-z0-9]+)*\b")
KERNEL_BODIES = (".pyx", ".pxd", ".h", ".py")
KEPT = Path(__file__).with_name("equations.json")
"""File of the equations that ``setup.py`` found, in an installed package."""

DISPLAY = re.compile(
    r"^\.\. math::\n   :label: (eq-[a-z0-9-]+)\n(?:   :[a-z]+:.*\n)*\n((?:(?:   .*)?\n)+)",
    re.MULTILINE,
)


@dataclass
class Function:
    """A function or class of the package whose docstring names a label."""

    module: str
    name: str
    statement: str
    is_class: bool
    owns: bool

    @property
    def path(self) -> str:
        """Dotted name, as a link finds it."""
        return f"{self.module}.{self.name}"


@dataclass
class Equation:
    """One labelled equation and all that was found about it."""

    label: str
    page: str
    formula: str
    functions: list[Function] = field(default_factory=list)
    kernels: dict[str, list[str]] = field(default_factory=dict)
    tests: list[str] = field(default_factory=list)

    @property
    def function(self) -> Function:
        """The one that implements it: that of the numerics if there is one."""
        return min(
            self.functions,
            key=lambda each: (
                not (each.owns and each.module.startswith("pyqref.numerics")),
                not each.owns,
                not each.module.startswith(("pyqref._kernels", "pyqref.optim")),
            ),
        )


def theory_pages() -> list[Path]:
    """The pages in the order in which they are read."""
    index = (THEORY / "index.rst").read_text(encoding="utf-8")
    names = re.findall(r"^   ([a-z_]+)$", index, re.MULTILINE)
    return [path for name in names if (path := THEORY / f"{name}.rst").exists()]


def _functions(path: Path) -> Iterator[tuple[Function, str]]:
    text = path.read_text(encoding="utf-8")
    if "eq-" not in text:
        return
    parts = path.relative_to(ROOT).with_suffix("").parts
    module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            docstring = ast.get_docstring(node) or ""
            owned = set(re.findall(r"[Ee]quations? ``(eq-[a-z0-9-]+)``", docstring))
            statement = " ".join(docstring.partition("\n\n")[0].split())
            is_class = isinstance(node, ast.ClassDef)
            for label in set(LABEL.findall(docstring)):
                yield Function(module, node.name, statement, is_class, label in owned), label


def kernels_of(folder: Path) -> list[str]:
    """Instruction sets for which an operation is compiled."""
    from pyqref._kernels.table import KERNELS

    # What stands over the primitives is compiled with every kernel.
    is_compiled = (folder / "kernel.pyx").exists() or folder.name == "simd"
    return [name for name in KERNELS if is_compiled and name != "reference"]


def _kernels() -> Iterator[tuple[str, str, list[str]]]:
    """Label, operation and instruction sets, for every file of a kernel's folder."""
    for path in sorted((PACKAGE / "_kernels").glob("*/*")):
        if path.suffix in KERNEL_BODIES:
            text = path.read_text(encoding="utf-8")
            for label in sorted(set(LABEL.findall(text))):
                yield label, path.parent.name, kernels_of(path.parent)


def _tests() -> Iterator[tuple[str, str]]:
    """Label and ``file::test`` for each test whose name or docstring carries a label."""
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if "eq_" not in text and "eq-" not in text:
            continue
        file = path.relative_to(ROOT).as_posix()
        tree = ast.parse(text)
        for outer in tree.body:
            inner = outer.body if isinstance(outer, ast.ClassDef) else [outer]
            for node in inner:
                if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
                    continue
                parts = node.name.removeprefix("test_").split("__")
                found = {part.replace("_", "-") for part in parts if part.startswith("eq_")}
                found |= set(LABEL.findall(ast.get_docstring(node) or ""))
                owner = f"::{outer.name}" if isinstance(outer, ast.ClassDef) else ""
                for label in found:
                    yield label, f"{file}{owner}::{node.name}"


@dataclass
class Survey:
    """All equations, in reading order, and the labels that no theory page displays."""

    equations: dict[str, Equation]
    unknown: dict[str, list[str]]


def survey(kernels: bool = True) -> Survey:
    """Search the theory, the package, the tests and, if asked for, the kernels for labels."""
    equations: dict[str, Equation] = {}
    unknown: dict[str, list[str]] = {}
    for page in theory_pages():
        text = page.read_text(encoding="utf-8")
        for label, formula in DISPLAY.findall(text + "\n"):
            equations[label] = Equation(label, page.stem, dedent(formula).strip())

    def is_known(label: str, place: str) -> bool:
        if label not in equations:
            unknown.setdefault(label, []).append(place)
        return label in equations

    for path in sorted(PACKAGE.rglob("*.py")):
        for function, label in _functions(path):
            if is_known(label, function.path):
                equations[label].functions.append(function)
    for label, operation, sets in _kernels() if kernels else ():
        if is_known(label, f"_kernels/{operation}"):
            equations[label].kernels[operation] = sets
    for label, test in _tests():
        if is_known(label, test) and test not in equations[label].tests:
            equations[label].tests.append(test)
    for equation in equations.values():
        equation.tests.sort(key=lambda test: (not test.startswith("tests/formulas"), test))
    return Survey(equations, unknown)


def lacking(equations: dict[str, Equation]) -> dict[str, list[str]]:
    """Return what is missing for each equation that is not complete."""
    found = {}
    for label, each in equations.items():
        parts = {"function": each.functions, "test": each.tests}
        missing = [name for name, there in parts.items() if not there]
        if missing:
            found[label] = missing
    return found


class Known(NamedTuple):
    """Facts about an equation that a page of a course shows.

    Attributes
    ----------
    formula
        As LaTeX.
    function
        Dotted name of the function that computes it.
    statement
        The first sentence of its docstring.
    tests
        The tests that prove it, ``file::test``.
    """

    formula: str
    function: str
    statement: str
    tests: tuple[str, ...]


def found() -> dict[str, Known]:
    """Search a source tree; what :func:`known` gives in an installed package."""
    return {
        label: Known(
            each.formula, each.function.path, each.function.statement, tuple(each.tests[:3])
        )
        for label, each in survey(kernels=False).equations.items()
        if each.functions
    }


_KNOWN: dict[str, Known] = {}


def known() -> dict[str, Known]:
    """Return all equations by their labels.

    Examples
    --------
    >>> each = known()["eq-affine-quantize"]
    >>> each.function
    'pyqref.numerics.affine.quantize_per_tensor'
    >>> each.tests[0].startswith("tests/formulas/test_affine.py::test_eq_affine_quantize")
    True
    """
    if not _KNOWN:
        if THEORY.is_dir() and TESTS.is_dir():
            _KNOWN.update(found())
        elif KEPT.exists():
            kept = json.loads(KEPT.read_text(encoding="utf-8"))
            for label, (formula, function, statement, tests) in kept.items():
                _KNOWN[label] = Known(formula, function, statement, tuple(tests))
    return _KNOWN
