"""One label for formula, code and proof: a reader searches for it and finds all three."""

from __future__ import annotations

import re
from pathlib import Path

import pyqref.numerics

ROOT = Path(__file__).parents[2]
SOURCES = sorted(Path(pyqref.numerics.__file__).parent.glob("*.py"))


def found(pattern: str, paths: list[Path]) -> list[str]:
    """Every match of the pattern's group in the files."""
    return [m for path in paths for m in re.findall(pattern, path.read_text(), re.MULTILINE)]


def labels_in_docstrings() -> list[str]:
    """Labels that a function of numerics claims as its own."""
    return found(r"^ +Equation ``(eq-[a-z0-9-]+)``", SOURCES)


def labels_in_theory() -> list[str]:
    """Labels of displayed equations in the theory pages."""
    return found(r"^ +:label: (eq-[a-z0-9-]+)$", sorted((ROOT / "docs/theory").glob("*.rst")))


def labels_in_tests() -> set[str]:
    """Labels that tests are named after: test_eq_affine_quantize__near_ties."""
    paths = [p for each in ("formulas", "numerics") for p in (ROOT / "tests" / each).glob("*.py")]
    names = found(r"^def test_(eq_[a-z0-9_]+)\(", sorted(paths))
    return {name.partition("__")[0].replace("_", "-") for name in names}


def test_every_equation_has_one_function() -> None:
    """No two functions claim the same label."""
    labels = labels_in_docstrings()
    assert sorted(set(labels)) == sorted(labels)


def test_every_equation_of_the_code_is_in_the_theory_and_back() -> None:
    """Docstrings and theory pages name the same equations, each displayed once."""
    assert sorted(labels_in_docstrings()) == sorted(labels_in_theory())


def test_every_equation_is_proved_and_back() -> None:
    """Each equation has a test of its name, and each such test an equation."""
    assert sorted(set(labels_in_docstrings())) == sorted(labels_in_tests())


def test_every_label_mentioned_exists() -> None:
    """A docstring refers to no equation that is not there."""
    mentioned = set(found(r"``(eq-[a-z0-9-]+)``", SOURCES))
    assert mentioned <= set(labels_in_docstrings()) | {"eq-affine-quantize"}
