"""One label for formula, code and proof: a reader searches for it and finds all three."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pyqref

ROOT = Path(__file__).parents[2]
PACKAGE = Path(pyqref.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
NUMERICS = sorted((PACKAGE / "numerics").glob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))
THEORY = sorted((ROOT / "docs" / "theory").glob("*.rst"))


def found(pattern: str, paths: list[Path]) -> list[str]:
    """Every match of the pattern's group in the files."""
    return [
        match
        for path in paths
        for match in re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
    ]


def labels_of_functions() -> list[str]:
    """Labels that a function of numerics claims as its own."""
    return found(r"^ +Equation ``(eq-[a-z0-9-]+)``", NUMERICS)


def labels_of_theory() -> list[str]:
    """Labels of displayed equations in the theory pages."""
    return found(r"^ +:label: (eq-[a-z0-9-]+)$", THEORY)


def test_every_equation_has_one_function_and_one_display() -> None:
    """No two functions claim the same label, and no two displays carry it."""
    for labels in (labels_of_functions(), labels_of_theory()):
        assert sorted(set(labels)) == sorted(labels)


def test_code_and_theory_name_the_same_equations() -> None:
    """Every label that the package mentions is displayed in the theory, and back."""
    assert sorted(set(found(r"``(eq-[a-z0-9-]+)``", SOURCES))) == sorted(labels_of_theory())


def test_every_equation_is_proved() -> None:
    """Each displayed equation has a test of its name."""
    names = found(r"^ *def (test_\w+)\(", TESTS)
    unproved = [
        label
        for label in labels_of_theory()
        if not any(f"_{label.replace('-', '_')}_" in f"{name}_" for name in names)
    ]
    assert [] == unproved


def test_the_exact_tests_are_named_after_equations() -> None:
    """test_eq_affine_quantize__near_ties belongs to eq-affine-quantize; none to nothing."""
    formulas = [path for path in TESTS if path.parent.name == "formulas"]
    names = {name.partition("__")[0] for name in found(r"^def (test_\w+)\(", formulas)}
    named = {"test_" + label.replace("-", "_") for label in labels_of_theory()}
    assert set() == names - named
    own = {"test_" + label.replace("-", "_") for label in labels_of_functions()}
    assert set() == own - names


def _survey():
    """The search by which the page of all equations is written."""
    path = ROOT / "docs" / "_ext" / "equations.py"
    spec = importlib.util.spec_from_file_location("equations", path)
    module = sys.modules["equations"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, module.survey()


def test_every_equation_has_a_function_and_a_test() -> None:
    """The page of all equations has no gap."""
    module, found = _survey()
    assert {} == module.lacking(found.equations)


def test_every_label_is_an_equation() -> None:
    """No docstring, kernel or test names a label that the theory does not display."""
    _, found = _survey()
    assert {} == found.unknown


def test_a_compiled_equation_has_twins_on_every_processor() -> None:
    """A kernel that names an equation is compiled plainly, and for x86-64 and for ARM."""
    _, found = _survey()
    kernels = [sets for each in found.equations.values() for sets in each.kernels.values()]
    assert len(kernels) > 25
    least = {"portable", "avx2", "avxvnni", "avx512vnni", "neon_dotprod", "neon_i8mm"}
    assert [] == [sets for sets in kernels if not least <= set(sets)]


def test_cases_are_those_that_pytest_collects() -> None:
    """The count of a parametrized test is the number of its cases."""
    module, _ = _survey()
    file = "tests/formulas/test_requantize.py"
    assert 16 == module.cases([file])[f"{file}::test_eq_requantize_bias__engines"]
