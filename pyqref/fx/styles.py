"""Colours and shapes of graphs, on white paper and on black.

The hues are those of Okabe and Ito, which people who do not tell red from green tell apart.
No colour stands alone: a shape, a dashed or a thick line says the same once more.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LEGEND", "PAPERS", "STYLES", "Paper", "Style", "paper"]


@dataclass(frozen=True)
class Style:
    """Appearance of a node.

    Attributes
    ----------
    fill, border
        Colours.
    shape
        As Graphviz names it.
    rounded, dashed
        Of the border.
    width
        Of the border, in points.
    distortion
        Of a polygon with four sides: above zero for one that narrows downward.
    """

    fill: str
    border: str
    shape: str = "box"
    rounded: bool = False
    dashed: bool = False
    width: float = 1.4
    distortion: float | None = None


@dataclass(frozen=True)
class Paper:
    """Colours around the nodes: background, text, edges, and edges that carry integers."""

    background: str
    ink: str
    edge: str
    integers: str


INTEGERS = ("#F6B48A", "#A63E00")

#: By opcode, and by what a node is where more is known.
STYLES: dict[str, Style] = {
    "placeholder": Style("#D6EDFA", "#0072B2", "ellipse"),
    "get_attr": Style("#FBF7C4", "#8A8200", "note"),
    "call_function": Style("#E4E7EB", "#5B6673"),
    "call_method": Style("#E4E7EB", "#5B6673", rounded=True),
    "call_module": Style("#CDEBE1", "#007A59", "box3d"),
    "output": Style("#D6EDFA", "#0072B2", "ellipse"),
    "observer": Style("#FFFFFF", "#8F4A78", rounded=True, dashed=True),
    "quantize": Style(*INTEGERS, "polygon", distortion=0.27),
    "dequantize": Style("#E4E7EB", INTEGERS[1], "polygon", distortion=-0.27),
    "quantized": Style(*INTEGERS, width=3.0),
}

#: What the legend calls them.
LEGEND = {
    "placeholder": "input or output",
    "get_attr": "attribute",
    "call_function": "function",
    "call_method": "method",
    "call_module": "module",
    "observer": "observer",
    "quantize": "float to integers",
    "quantized": "computes with integers",
    "dequantize": "integers to float",
}

PAPERS = {
    "light": Paper("#FFFFFF", "#1D2430", "#4A5361", "#A63E00"),
    "dark": Paper("#161B22", "#E6E9EE", "#A8B0BC", "#FF9E5E"),
}


def paper(theme: str) -> Paper:
    """The colours of ``"light"`` or ``"dark"``."""
    if theme not in PAPERS:
        raise ValueError(f"theme must be one of {sorted(PAPERS)}, got {theme!r}")
    return PAPERS[theme]
