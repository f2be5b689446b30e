"""The notebooks of the tutorials can be read without the site around them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("sphinx_gallery")
from docs.extensions import extension

TUTORIALS = sorted((Path(__file__).parents[2] / "tutorials").glob("plot_*.py"))


NOTEBOOKS = extension("notebooks")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (":eq:`eq-requantize`", "`eq-requantize`"),
        (":class:`~pyqref.quantization.QConfig`", "`QConfig`"),
        (":func:`pyqref.measure.annotate`", "`pyqref.measure.annotate`"),
        (":doc:`/theory/sums`", "*theory/sums*"),
        (":doc:`the next\ntutorial </auto_tutorials/plot_05>`", "*the next tutorial*"),
        (":math:`x`", ":math:`x`"),
    ],
)
def test_a_role_becomes_words(text: str, expected: str) -> None:
    """All but formulas, which sphinx-gallery turns into those of Markdown."""
    assert expected == NOTEBOOKS.plain(text)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (":eq:`eq-requantize`", "theory/requantization.html#equation-eq-requantize"),
        (":doc:`/theory/sums`", "theory/sums.html"),
        (":doc:`plot_05_reduce_range`", "auto_tutorials/plot_05_reduce_range.html"),
        (":term:`scale`", "glossary.html"),
    ],
)
def test_a_role_becomes_a_link_where_the_site_has_an_address(text: str, place: str) -> None:
    """A notebook is read far away from the site; it needs whole addresses."""
    assert f"](https://docs.example/{place})" in NOTEBOOKS.plain(text, "https://docs.example/")


def test_the_first_cell_does_nothing_where_pyqref_is() -> None:
    """Elsewhere it installs pyqref, without kernels where there is no compiler."""
    exec(NOTEBOOKS.FIRST_CELL.replace("%matplotlib inline", ""), {})
    assert 'os.environ["PYQREF_BUILD"] = "reference"' in NOTEBOOKS.FIRST_CELL


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_no_other_role_is_used(path: Path) -> None:
    text = re.sub(r"\n# ?", "\n", path.read_text(encoding="utf-8"))
    assert {"math"} >= set(re.findall(r":([a-z]+):`", NOTEBOOKS.plain(text)))
