"""The page on warnings names every kind, says what each does, and is found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docs.extensions import extension

from pyqref import quantization

DOCS = Path(__file__).parents[2] / "docs"
TABLE = extension("warning_rows")
CATEGORIES = TABLE.categories()


def below(category: type[Warning]) -> set[type[Warning]]:
    """Every subclass of a class, itself not."""
    direct = set(category.__subclasses__())
    return direct.union(*map(below, direct)) if direct else direct


def test_every_kind_has_a_row() -> None:
    """All subclasses that the package has, those that it exports among them."""
    ours = {each for each in below(quantization.QuantizationWarning) if "pyqref." in repr(each)}
    assert ours == set(CATEGORIES)
    exported = [getattr(quantization, each) for each in quantization.__all__]
    kinds = [each for each in exported if isinstance(each, type) and issubclass(each, Warning)]
    assert set(kinds) - {quantization.QuantizationWarning} == set(CATEGORIES)
    rows = [line for line in TABLE.table() if line.startswith("   * - ")][1:]
    assert [TABLE.link(each) for each in CATEGORIES] == [row[len("   * - ") :] for row in rows]


@pytest.mark.parametrize("category", CATEGORIES, ids=lambda each: each.__name__)
def test_a_row_says_when_and_what_to_do(category: type[Warning]) -> None:
    """One or more sentences from the docstring, and the message of the example, if it has one."""
    assert re.fullmatch(r"[A-Z].*\.", TABLE.when(category))
    assert not TABLE.example(category) or TABLE.message(category)


def test_the_page_is_found_and_strict_is_explained() -> None:
    """The page is in the table of contents, and lists every workflow that takes ``strict``."""
    assert "what_we_warn_about" in (DOCS / "index.rst").read_text(encoding="utf-8").split()
    page = (DOCS / "what_we_warn_about.rst").read_text(encoding="utf-8")
    assert ".. warning-table::" in page
    assert ".. strict-functions::" in page
    functions = " ".join(TABLE.strict_functions())
    for name in ("prepare", "convert", "prepare_qat", "quantize_dynamic"):
        assert f"quantization.{name}`" in functions
