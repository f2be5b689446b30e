"""Show every figure of the tutorials on light and on dark paper, wide and narrow.

The tutorials draw with the light theme. Each figure is saved as it is, and once more as wide as
the screen of a phone, with the same size of type, and with axes that stood side by side below each
other. Then its colours are exchanged for those of the dark theme, and both are saved again; the
page shows the one that fits. What is written on areas with a colour of their own, such as the
boxes of graphs, keeps its colour, since it has to be read on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np
from matplotlib import cm, colors, pyplot
from matplotlib.patches import Patch
from sphinx_gallery.scrapers import matplotlib_scraper

from pyqref.fx.styles import PAPERS as GRAPHS
from pyqref.fx.styles import STYLES
from pyqref.plot.graph import BOXES
from pyqref.plot.style import CYCLES, PAPERS

__all__ = ["darken", "narrowed", "scrape"]

ATTRIBUTES = ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor")

FEW = 16
"""A colour map with fewer colours than this was made of those of the theme."""


def palette(theme: str) -> list[str]:
    """Everything that a theme colours, in one order."""
    graph = GRAPHS[theme]
    return [*PAPERS[theme], graph.edge.lower(), graph.integers.lower(), *CYCLES[theme]]


EXCHANGED = dict(zip(palette("light"), palette("dark"), strict=True))
"""Return the colour that takes the place of each colour of the light theme."""


FILLS = {each.fill.lower() for each in STYLES.values()}
"""The areas in graphs."""

NARROW = 4.4
"""Width of a figure on a phone, in inches."""

STACKED = 0.92
"""Height of axes below each other, in parts of their height side by side."""


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Called by sphinx-gallery after each block of a tutorial."""
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    text = described(matplotlib_scraper(block, block_vars, gallery_conf), figures)
    if not figures or not all(themed(figure) for figure in figures):
        return text
    files = re.findall(r"image-sg:: /(\S+)\.png", text)
    folder = Path(gallery_conf["src_dir"])
    for figure, file in zip(figures, files, strict=True):
        save(figure, folder / f"{file}_narrow", wide=False)
        darken(figure)
        save(figure, folder / f"{file}_dark", wide=True)
        save(figure, folder / f"{file}_dark_narrow", wide=False)
    alone = re.sub(r":srcset: (\S+\.png), .*$", r":srcset: \1", text, flags=re.MULTILINE)
    return "".join(
        within(
            f"only-{theme}",
            within("wide", text.replace(".png", f"{end}.png"))
            + within("narrow", alone.replace(".png", f"{end}_narrow.png")),
        )
        for theme, end in (("light", ""), ("dark", "_dark"))
    )


def save(figure: Any, path: Path, *, wide: bool) -> None:
    """Save a figure in its present colours: as it is, in two resolutions, or narrow."""
    paper = figure.get_facecolor()
    if wide:
        figure.savefig(path.with_name(f"{path.name}.png"), facecolor=paper)
        name = path.name.replace("_dark", "_2_00x_dark")
        figure.savefig(path.with_name(f"{name}.png"), facecolor=paper, dpi=2 * figure.dpi)
        return
    with narrowed(figure):
        figure.savefig(path.with_name(f"{path.name}.png"), facecolor=paper, dpi=2 * figure.dpi)


@contextmanager
def narrowed(figure: Any) -> Iterator[None]:
    """Make a figure as narrow as a phone; axes side by side stand below each other meanwhile."""
    size = figure.get_size_inches()
    side_by_side = [axes for axes in figure.axes if stacks(axes)]
    kept = [(axes, axes.get_subplotspec(), axes.get_ylabel()) for axes in side_by_side]
    rows = max(len(side_by_side), 1)
    width = min(NARROW, size[0])
    pictures = any(axes.images for axes in figure.axes)
    height = size[1] * (width / size[0] if pictures else rows * (STACKED if rows > 1 else 1))
    figure.set_size_inches(width, height)
    grid = figure.add_gridspec(rows, 1)
    for row, (axes, _, label) in enumerate(kept):
        axes.set_subplotspec(grid[row, 0])
        if not label:
            axes.set_ylabel(side_by_side[0].get_ylabel())
            axes.tick_params(axis="y", labelleft=True)
    yield
    for axes, place, label in kept:
        axes.set_subplotspec(place)
        if not label:
            axes.set_ylabel(label)
            axes.tick_params(axis="y", labelleft=False)
    figure.set_size_inches(size)


def stacks(axes: Any) -> bool:
    """Return True if the axes stand in a row of several and show no picture."""
    place = axes.get_subplotspec()
    if place is None or axes.images:
        return False
    rows, columns = place.get_gridspec().get_geometry()
    return bool(rows == 1 and columns > 1)


def described(text: str, figures: list[Any]) -> str:
    """Where a figure has no title, say what is drawn over what instead of the file's name."""
    alts = iter([description(figure) for figure in figures])
    return re.sub(r":alt: .*$", lambda _: f":alt: {next(alts)}", text, flags=re.MULTILINE)


def description(figure: Any) -> str:
    """Titles and labels of a figure, in one line."""
    parts = []
    for axes in figure.axes:
        title = axes.get_title(loc="left") or axes.get_title()
        across, up = axes.get_xlabel(), axes.get_ylabel()
        drawn = f"{up} over {across}" if across and up else across or up
        parts.append(": ".join(each for each in (title, drawn) if each))
    return " | ".join(" ".join(each.split()) for each in parts if each) or "a figure"


def themed(figure: Any) -> bool:
    """Return True if every area of a figure has a colour of the theme or of graphs, or a grey."""
    filled = [patch.get_facecolor() for patch in figure.findobj(Patch)]
    return all(
        colors.to_hex(each) in {*EXCHANGED, *FILLS} or np.ptp(each[:3]) == 0
        for each in filled
        if each[3]
    )


def within(name: str, text: str) -> str:
    """``text`` in a container that the theme shows in one of its two modes."""
    return f"\n.. container:: {name}\n\n{indent(text, '   ')}\n"


def darken(figure: Any) -> None:
    """Exchange the colours of everything in a figure."""
    paper, ink, rule = PAPERS["dark"]
    for axes in figure.axes:
        axes.tick_params(which="both", color=rule, labelcolor=ink, grid_color=rule)
    for artist in figure.findobj():
        if artist.get_gid() == BOXES:
            continue
        if isinstance(artist, cm.ScalarMappable) and artist.get_array() is not None:
            shades = artist.get_cmap()
            if isinstance(shades, colors.ListedColormap) and shades.N < FEW:
                artist.set_cmap(colors.ListedColormap(exchanged(shades.colors)))
            continue
        for attribute in ATTRIBUTES:
            get = getattr(artist, f"get_{attribute}", None)
            if get is not None and hasattr(artist, f"set_{attribute}"):
                value = get()
                if len(colors.to_rgba_array(value)):
                    new = exchanged(value)
                    getattr(artist, f"set_{attribute}")(new if len(new) > 1 else new[0])
    figure.set_facecolor(paper)


def exchanged(value: Any) -> list[Any]:
    """Colours of the dark theme for those of the light one; dark greys become light ones."""
    result = []
    for rgba in colors.to_rgba_array(value):
        code, alpha = colors.to_hex(rgba), float(rgba[3])
        grey = np.ptp(rgba[:3]) == 0
        new = EXCHANGED.get(code)
        if new is None:
            new = 1 - rgba[0] if grey and rgba[0] < 0.45 else rgba[0]
            new = (new, new, new) if grey else rgba[:3]
        result.append(colors.to_rgba(new, alpha))
    return result
