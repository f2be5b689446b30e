"""Run an example as the documentation prints it, with ``import pyqref as torch``."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
from pathlib import Path
from typing import Any

import pyqref

DOCS = Path(__file__).parents[2] / "docs"
ERRATA = [DOCS / "errata.rst", *sorted((DOCS / "errata").glob("*.rst"))]


def swap_import(text: str) -> str:
    """The one change to a script: where the library's name is imported, pyqref is."""
    text = re.sub(r"\bfrom torch\b", "from pyqref", text)
    return re.sub(r"\bimport torch$", "import pyqref as torch", text, flags=re.MULTILINE)


def run(text: str, **names: Any) -> dict[str, Any]:
    """Run the statements of an example and compare what they print with what is printed there.

    Parameters
    ----------
    text
        The example, with or without prompts.
    **names
        What the page takes for granted beside ``torch`` and ``nn``.

    Returns
    -------
    dict
        The names that the example defined.
    """
    space: dict[str, Any] = {"torch": pyqref, "nn": pyqref.nn, **names}
    if ">>>" not in text:
        exec(compile(swap_import(text), "<example>", "exec"), space)
        return space
    parser = doctest.DocTestParser()
    for example in parser.get_examples(swap_import(text)):
        page = io.StringIO()
        code = compile(example.source, "<example>", "single")
        with contextlib.redirect_stdout(page):
            exec(code, space)
        if example.want:
            assert example.want.replace("torch.", "pyqref.") == page.getvalue()
    return space


def assert_in_errata(title: str) -> None:
    """A page of the errata has a heading, or a sentence, that says so."""
    text = " ".join(" ".join(page.read_text(encoding="utf-8").split()) for page in ERRATA)
    assert title in text, f"the errata should have: {title}"
