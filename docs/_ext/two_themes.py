"""Show every figure of the tutorials twice, on light and on dark paper.

The tutorials draw with the light theme. Each figure is saved as it is, then its colours are
exchanged for those of the dark theme, and it is saved again; the page shows the one that fits.
Figures with areas in other colours, such as graphs, stay light: what is written on these areas
has to be read on them.
"""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np
from matplotlib import cm, colors, pyplot
from matplotlib.patches import Patch
from sphinx_gallery.scrapers import matplotlib_scraper

from pyqref.plot.style import CYCLES, PAPERS

__all__ = ["darken", "scrape"]

ATTRIBUTES = ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor")

FEW = 16
"""A colour map with fewer colours than this was made of those of the theme."""

EXCHANGED = {
    colors.to_hex(light): dark
    for light, dark in zip(
        [*PAPERS["light"], *CYCLES["light"]], [*PAPERS["dark"], *CYCLES["dark"]], strict=True
    )
}
"""For each colour of the light theme the one that takes its place."""


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Called by sphinx-gallery after each block of a tutorial."""
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    text = matplotlib_scraper(block, block_vars, gallery_conf)
    if not figures or not all(themed(figure) for figure in figures):
        return text
    files = re.findall(r"image-sg:: /(\S+)\.png", text)
    for figure, file in zip(figures, files, strict=True):
        darken(figure)
        path = Path(gallery_conf["src_dir"], file)
        paper = figure.get_facecolor()
        figure.savefig(f"{path}_dark.png", facecolor=paper)
        figure.savefig(f"{path}_2_00x_dark.png", facecolor=paper, dpi=2 * figure.dpi)
    return within("only-light", text) + within("only-dark", text.replace(".png", "_dark.png"))


def themed(figure: Any) -> bool:
    """Whether all areas of a figure have a colour of the theme, or a grey."""
    filled = [patch.get_facecolor() for patch in figure.findobj(Patch)]
    return all(
        colors.to_hex(each) in EXCHANGED or np.ptp(each[:3]) == 0 for each in filled if each[3]
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
