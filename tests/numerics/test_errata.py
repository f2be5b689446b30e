"""The examples of the errata page, as printed there."""

from __future__ import annotations

import doctest
from pathlib import Path

import pyqref

PAGE = Path(__file__).parents[2] / "docs" / "errata.rst"


def test_examples_of_the_errata_run_as_printed() -> None:
    """Corrected examples run; both conventions give what the page shows."""
    pyqref.manual_seed(0)
    results = doctest.testfile(str(PAGE), module_relative=False)
    assert (0, True) == (results.failed, results.attempted > 20)
