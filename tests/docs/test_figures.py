"""Figures of the tutorials are narrowed for phones and darkened, and come back as they were."""

from __future__ import annotations

from typing import Any

import matplotlib
import pytest

matplotlib.use("agg")
pytest.importorskip("sphinx_gallery")
from docs.extensions import extension
from matplotlib import pyplot
from matplotlib.colors import to_hex

import pyqref
from pyqref import plot
from pyqref.fx.styles import STYLES
from pyqref.plot.style import CYCLES, PAPERS

THEMES = extension("two_themes")


@pytest.fixture
def pair() -> Any:
    """A figure with two axes side by side that share what is drawn upwards."""
    with plot.theme("light"):
        figure, axes = pyplot.subplots(1, 2, figsize=(8, 3), sharey=True)
        for ax, title in zip(axes, ("left", "right"), strict=True):
            ax.plot([0, 1], [0, 2])
            ax.set(title=title, xlabel="x")
        axes[0].set_ylabel("y")
    yield figure
    pyplot.close(figure)


def shown(figure: Any) -> list[Any]:
    """Places and labels, and the size."""
    figure.draw_without_rendering()
    places = [(round(number, 4) for number in axes.get_position().bounds) for axes in figure.axes]
    labels = [(axes.get_ylabel(), axes.yaxis.get_tick_params()) for axes in figure.axes]
    return [tuple(figure.get_size_inches()), [tuple(each) for each in places], labels]


def test_a_narrow_figure_has_its_axes_below_each_other(pair: Any) -> None:
    before = shown(pair)
    with THEMES.narrowed(pair):
        pair.draw_without_rendering()
        assert THEMES.NARROW == pair.get_size_inches()[0]
        upper, lower = (axes.get_position() for axes in pair.axes)
        assert upper.y0 > lower.y1
        assert ["y", "y"] == [axes.get_ylabel() for axes in pair.axes]
    assert before == shown(pair)


def test_a_dark_figure_has_the_colours_of_the_dark_theme(pair: Any) -> None:
    assert THEMES.themed(pair)
    THEMES.darken(pair)
    assert PAPERS["dark"][0] == to_hex(pair.get_facecolor())
    assert CYCLES["dark"][0] == to_hex(pair.axes[0].lines[0].get_color())


def test_boxes_of_a_graph_stay_light() -> None:
    graph = pyqref.fx.symbolic_trace(pyqref.nn.Linear(2, 2))
    with plot.theme("light"):
        ax = plot.graph(graph)
    assert THEMES.themed(ax.figure)
    THEMES.darken(ax.figure)
    fills = {to_hex(each.get_facecolor()).upper() for each in ax.patches if each.get_gid()}
    assert fills - {"#1D2430"} <= {style.fill.upper() for style in STYLES.values()}
    pyplot.close(ax.figure)


def test_a_figure_is_described_by_its_labels(pair: Any) -> None:
    """Not by the name of its file, which tells a reader who cannot see it nothing."""
    text = ".. image-sg:: /a.png\n   :alt: plot 01\n   :srcset: /a.png\n"
    described = THEMES.described(text, [pair])
    assert ":alt: left: y over x | right: x\n" in described
