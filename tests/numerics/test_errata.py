"""The examples of the errata pages, as printed there."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

import pyqref

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ["errata.rst", *sorted(f"errata/{page.name}" for page in (DOCS / "errata").glob("*.rst"))]


@pytest.mark.parametrize("page", PAGES)
def test_examples_of_the_errata_run_as_printed(page: str) -> None:
    """Corrected examples run; both conventions give what the page shows."""
    pyqref.manual_seed(0)
    results = doctest.testfile(str(DOCS / page), module_relative=False)
    assert results.failed == 0
    assert results.attempted > 5
