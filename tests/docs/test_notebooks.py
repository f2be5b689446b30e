"""The notebooks of the tutorials can be read without the site around them."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("sphinx_gallery")

ROOT = Path(__file__).parents[2]
TUTORIALS = sorted((ROOT / "tutorials").glob("plot_*.py"))


def _extension() -> ModuleType:
    """``docs/_ext/notebooks.py``, which is no part of a package."""
    spec = importlib.util.spec_from_file_location(
        "notebooks", ROOT / "docs" / "_ext" / "notebooks.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NOTEBOOKS = _extension()


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


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_no_other_role_is_used(path: Path) -> None:
    text = re.sub(r"\n# ?", "\n", path.read_text(encoding="utf-8"))
    assert {"math"} >= set(re.findall(r":([a-z]+):`", NOTEBOOKS.plain(text)))
