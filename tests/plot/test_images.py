"""The figures look as they did when a person last looked at them."""

from __future__ import annotations

import pytest
from matplotlib.testing.compare import compare_images
from plot.figures import FIGURES, RECORDED, draw

from pyqref import plot

TOLERANCE = 4.0
"""Root mean square difference of two pictures, in steps of 0 to 255.

Versions of matplotlib place and smooth lines a fraction of a pixel apart: of 30,000 pixels at
most about 2,000 lie on the edge of a line, and if each of them differs by 15 steps, the root
mean square is 15 * sqrt(2000 / 30000) = 3.9. A line that is missing or in another place changes
some 300 pixels by 150 steps or more, 15 in the root mean square.
"""


@pytest.mark.parametrize("name", FIGURES)
def test_figure_looks_as_recorded(name, tmp_path):
    """Axes, lines and bars; without text, whose fonts differ between machines."""
    drawn = tmp_path / f"{name}.png"
    draw(name, drawn)
    difference = compare_images(str(RECORDED / f"{name}.png"), str(drawn), TOLERANCE)
    assert difference is None, f"{difference}; see tests/plot/figures.py"


def test_every_figure_is_recorded():
    """Every figure has a picture, and every picture has a figure."""
    assert sorted(FIGURES) == sorted(path.stem for path in RECORDED.glob("*.png"))


def test_every_function_has_a_figure():
    """All that draw."""
    functions = set(plot.__all__) - {"theme", "settings"}
    assert functions <= set(FIGURES)
