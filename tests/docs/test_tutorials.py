"""Every tutorial asks a question, draws, leads to the theory and asserts its claim."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TUTORIALS = sorted((Path(__file__).parents[2] / "tutorials").glob("plot_*.py"))


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.fixture(params=TUTORIALS, ids=lambda path: path.stem)
def tutorial(request) -> Path:
    return request.param


def test_numbered_without_gaps() -> None:
    """The numbers in the file names are the order of the gallery."""
    assert TUTORIALS
    numbers = [int(path.stem.split("_")[1]) for path in TUTORIALS]
    assert list(range(1, len(TUTORIALS) + 1)) == numbers


def test_asks_a_question_in_its_first_paragraph(tutorial: Path) -> None:
    """The first paragraph behind the title has a question."""
    paragraphs = ast.get_docstring(ast.parse(read(tutorial))).split("\n\n")
    title, underline = paragraphs[0].splitlines()
    assert underline == "=" * len(title)
    assert "?" in paragraphs[1]


def test_asserts_its_claim(tutorial: Path) -> None:
    """The claim is asserted in code that runs when the page is built."""
    assert any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(read(tutorial))))


def test_draws_and_links(tutorial: Path) -> None:
    """A figure of its own, and a link to an equation, a page of theory or a class."""
    text = read(tutorial)
    assert "plt.show()" in text
    assert re.search(r":(eq|doc|class|func):`", text)


def test_is_cut_into_cells(tutorial: Path) -> None:
    """A notebook of one cell cannot be taught from."""
    assert read(tutorial).count("\n# %%\n") >= 4
