"""One label for formula, code and proof: a reader searches for it and finds all three.

The same search writes the page of all equations when the documentation is built.
"""

from __future__ import annotations

import re
from pathlib import Path

from docs.extensions import extension

from pyqref.explaining.show.links import link
from pyqref.sphinx import equations as EQUATIONS

ROOT = Path(__file__).parents[2]
NUMERICS = sorted((ROOT / "pyqref" / "numerics").glob("*.py"))


SURVEY = EQUATIONS.survey()


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


def test_every_equation_has_one_function_and_one_display() -> None:
    """No two functions claim the same label, and no two displays carry it."""
    displayed = found(r"^ +:label: (eq-[a-z0-9-]+)$", sorted(EQUATIONS.THEORY.glob("*.rst")))
    for labels in (labels_of_functions(), displayed):
        assert sorted(set(labels)) == sorted(labels)
    assert sorted(displayed) == sorted(SURVEY.equations)


def test_no_label_is_unknown() -> None:
    """The theory displays every label that a docstring, a kernel or a test names."""
    assert {} == SURVEY.unknown


def test_derivations_lead_to_the_page_of_each_label() -> None:
    """``link`` names the page on which an equation is displayed, and the anchor it has there."""
    folders = ROOT / "pyqref" / "explaining", ROOT / "pyqref" / "arithmetic"
    files = [file for folder in folders for file in folder.rglob("*.py")]
    used = {each for file in files for each in EQUATIONS.LABEL.findall(file.read_text("utf-8"))}
    assert len(used) > 60
    for label in sorted(used):
        page = SURVEY.equations[label].page
        assert f"theory/{page}.html#equation-{label}" == link(label)
    assert "" == link("eq-unheard-of")


def test_every_equation_is_implemented_and_proved() -> None:
    """Each displayed equation has a function whose docstring names it, and a test."""
    assert {} == EQUATIONS.lacking(SURVEY.equations)


def test_every_equation_of_numerics_is_proved_in_exact_arithmetic() -> None:
    """test_eq_affine_quantize__near_ties in tests/formulas proves eq-affine-quantize."""
    exact = {
        label
        for label, each in SURVEY.equations.items()
        if any(test.startswith("tests/formulas/") for test in each.tests)
    }
    assert set() == set(labels_of_functions()) - exact


def test_a_compiled_equation_has_twins_on_every_processor() -> None:
    """A kernel that names an equation is compiled plainly, and for x86-64 and for ARM."""
    kernels = [sets for each in SURVEY.equations.values() for sets in each.kernels.values()]
    assert len(kernels) > 25
    least = {"portable", "avx2", "avxvnni", "avx512vnni", "neon_dotprod", "neon_i8mm"}
    assert [] == [sets for sets in kernels if not least <= set(sets)]


def test_tests_are_counted() -> None:
    """A test with two cases counts twice."""
    file = "tests/formulas/test_fake_quantize.py"
    counted = extension("cases").cases([file])
    assert 2 == counted[f"{file}::test_eq_fake_quantize_channel__near_ties"]
