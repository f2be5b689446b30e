"""Graphs on matplotlib axes: everything that the picture has is drawn, within the axes."""

from __future__ import annotations

import shutil
from typing import Any

import matplotlib
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, PathPatch

import pyqref
from pyqref import nn, plot
from pyqref.fx.picture import picture
from pyqref.fx.styles import PAPERS, STYLES
from pyqref.plot.graph_layout import layout
from pyqref.quantization import get_default_qconfig_mapping
from pyqref.quantization.quantize_fx import convert_fx, prepare_fx

matplotlib.use("agg")


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        x = self.first(x)
        return x + pyqref.relu(self.second(x))


def lowered() -> Any:
    x = pyqref.ones(1, 4)
    prepared = prepare_fx(Residual().eval(), get_default_qconfig_mapping(), (x,))
    prepared(x)
    return convert_fx(prepared)


@pytest.fixture(params=["layers", "dot"])
def laid_out(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Without Graphviz, and with it where it is installed."""
    if request.param == "layers":
        monkeypatch.setattr(shutil, "which", lambda name: None)
    elif shutil.which("dot") is None:
        pytest.skip("the program dot of Graphviz is not installed")
    return str(request.param)


def test_everything_is_drawn(laid_out: str) -> None:
    """A patch for each box in its colours, an arrow for each edge, text, and a legend."""
    model = lowered()
    shown = picture(model)
    ax = Figure(layout="constrained").subplots()
    assert ax is plot.graph(model, ax)
    arrows = [each for each in ax.patches if isinstance(each, FancyArrowPatch)]
    assert len(shown.arrows) == len(arrows)
    texts = [each for each in ax.patches if isinstance(each, PathPatch)]
    lines = sum(1 + len(box.lines) + len(box.small) for box in shown.boxes)
    assert lines + sum(len(arrow.lines) for arrow in shown.arrows) == len(texts)
    assert len(shown.boxes) == len(ax.patches) - len(arrows) - len(texts)
    colours = {matplotlib.colors.to_hex(each.get_facecolor()).upper() for each in ax.patches}
    assert {STYLES[box.style].fill for box in shown.boxes} <= colours
    legend = ax.get_legend()
    assert legend is not None
    assert len(shown.legend) == len(legend.get_texts())
    ax.figure.draw_without_rendering()


def cubics(curve: Any) -> list[Any]:
    """The pieces of a curve, four points each."""
    return [curve[first : first + 4] for first in range(0, len(curve) - 1, 3)]


def test_boxes_keep_apart_and_inside(laid_out: str) -> None:
    """No two overlap, none leaves the axes, and what uses a value stands below it."""
    shown = picture(lowered())
    sizes = {box.name: (120.0, 40.0) for box in shown.boxes}
    found = layout(shown, sizes, [(60.0, 20.0)] * len(shown.arrows))
    places = list(found.places.values())
    for index, one in enumerate(places):
        assert one.width / 2 - 1 <= one.x <= found.size[0] - one.width / 2 + 1
        assert one.height / 2 - 1 <= one.y <= found.size[1] - one.height / 2 + 1
        for other in places[:index]:
            apart_x = abs(one.x - other.x) >= (one.width + other.width) / 2
            assert apart_x or abs(one.y - other.y) >= (one.height + other.height) / 2
    for arrow, curve in zip(shown.arrows, found.curves, strict=True):
        assert found.places[arrow.source].y > found.places[arrow.target].y
        assert len(curve) % 3 == 1
        middle = [(a[0] + 3 * b[0] + 3 * c[0] + d[0]) / 8 for a, b, c, d in cubics(curve)]
        assert all(-1 <= x <= found.size[0] + 1 for x in middle)
        # It begins at the one box and ends at the other.
        for name, point in ((arrow.source, curve[0]), (arrow.target, curve[-1])):
            place = found.places[name]
            assert abs(point[0] - place.x) <= place.width / 2 + 1
            assert abs(point[1] - place.y) <= place.height / 2 + 1


class Skips(nn.Module):
    """Values that pass by one layer, by two, and beside a second branch."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = (nn.Linear(4, 4) for _ in range(3))
        self.side = nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        first = self.a(x)
        second = self.b(first)
        return self.c(second) + first + second + self.side(x)


@pytest.mark.parametrize("model", [Residual, Skips])
def test_no_arrow_crosses_a_text_or_a_box(
    model: type[nn.Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without Graphviz, arrows that pass by other layers run beside their boxes and texts."""
    monkeypatch.setattr(shutil, "which", lambda name: None)
    x = pyqref.ones(1, 4)
    prepared = prepare_fx(model().eval(), get_default_qconfig_mapping(), (x,))
    prepared(x)
    shown = picture(convert_fx(prepared))
    size = (100.0, 20.0)
    found = layout(
        shown, {box.name: (90.0, 40.0) for box in shown.boxes}, [size] * len(shown.arrows)
    )
    texts = [(*at, *size) for at in found.labels if at is not None]
    for arrow, curve in zip(shown.arrows, found.curves, strict=True):
        others = [
            (each.x, each.y, each.width, each.height)
            for name, each in found.places.items()
            if name not in (arrow.source, arrow.target)
        ]
        for piece in cubics(curve):
            for t in (0.1, 0.3, 0.5, 0.7, 0.9):
                shares = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
                x_at, y_at = (
                    sum(share * point[k] for share, point in zip(shares, piece, strict=True))
                    for k in (0, 1)
                )
                for middle_x, middle_y, width, height in texts + others:
                    inside = abs(x_at - middle_x) < width / 2 and abs(y_at - middle_y) < height / 2
                    assert not inside, (arrow, t)


def test_new_axes_and_options() -> None:
    """A figure as large as the graph; without legend, with every node, under a title."""
    small = plot.graph(lowered(), legend=False, title="Lowered")
    whole = plot.graph(lowered(), legend=False, implied=True)
    assert "Lowered" == small.get_title()
    assert small.get_legend() is None
    assert len(whole.patches) > len(small.patches)
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("name", sorted(PAPERS))
def test_edges_follow_the_paper(name: str) -> None:
    """Light on dark axes, dark on light ones."""
    with plot.theme(name):
        ax = plot.graph(lowered(), Figure().subplots())
    colours = {
        matplotlib.colors.to_hex(each.get_edgecolor()).upper()
        for each in ax.patches
        if isinstance(each, FancyArrowPatch)
    }
    assert {PAPERS[name].edge.upper(), PAPERS[name].integers.upper()} == colours


def test_what_is_no_graph_is_refused() -> None:
    with pytest.raises(TypeError, match=r"got Linear; pyqref.fx.symbolic_trace\(model\) makes one"):
        plot.graph(nn.Linear(1, 1))
