"""Find each labelled equation: in theory, functions, compiled kernels and tests.

Nothing here is written down twice. A label is found by searching for it, as a reader would:
in the ``:label:`` of a theory page, in the docstrings of the package, in the bodies of the
kernels, in the names and docstrings of the tests.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
THEORY = ROOT / "docs" / "theory"
PACKAGE = ROOT / "pyqref"
TESTS = ROOT / "tests"
LABEL = re.compile(r"\beq-[a-z0-9]+(?:-[a-z0-9]+)*\b")
KERNEL_BODIES = (".pyx", ".pxd", ".h", ".py")


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


def survey() -> Survey:
    """Search the theory, the package and the tests for labels."""
    equations: dict[str, Equation] = {}
    unknown: dict[str, list[str]] = {}
    for page in theory_pages():
        text = page.read_text(encoding="utf-8")
        for label in re.findall(r"^ +:label: (eq-[a-z0-9-]+)$", text, re.MULTILINE):
            equations[label] = Equation(label, page.stem)

    def known(label: str, place: str) -> bool:
        if label not in equations:
            unknown.setdefault(label, []).append(place)
        return label in equations

    for path in sorted(PACKAGE.rglob("*.py")):
        for function, label in _functions(path):
            if known(label, function.path):
                equations[label].functions.append(function)
    for label, operation, sets in _kernels():
        if known(label, f"_kernels/{operation}"):
            equations[label].kernels[operation] = sets
    for label, test in _tests():
        if known(label, test) and test not in equations[label].tests:
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


#: Without the folder that it starts in, where a clone's sources would hide the installed package.
COLLECT = """
import sys
sys.path = [each for each in sys.path if each]
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""


def cases(files: list[str], cache: Path | None = None) -> Counter[str]:
    """How many cases pytest collects for each ``file::test`` of the files.

    The numbers are those of this machine: tests of kernels run for each kernel that it
    supports, and tests of an optional package only where that is installed. They are kept in
    ``cache`` until a test file changes.
    """
    sources = b"".join(path.read_bytes() for path in sorted(TESTS.rglob("*.py")))
    key = hashlib.sha256(sources + f"{sys.version}{files}".encode()).hexdigest()
    if cache is not None and cache.exists():
        kept = json.loads(cache.read_text(encoding="utf-8"))
        if kept["key"] == key:
            return Counter(kept["cases"])
    command = [sys.executable, "-c", COLLECT, "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, *files], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"pytest could not collect the tests:\n{done.stdout}{done.stderr}")
    lines = [line for line in done.stdout.splitlines() if "::" in line]
    counted = Counter(line.partition("[")[0] for line in lines)
    if cache is not None:
        cache.parent.mkdir(parents=True, exist_ok=True)
        cache.write_text(json.dumps({"key": key, "cases": counted}), encoding="utf-8")
    return counted
