"""The interactive figures: what each shows, and the HTML that its scripts fill.

A figure is a ``<figure>`` with a caption and, for readers without scripts, a picture. The scripts
in ``static/pyqref`` put controls, a drawing and a table of numbers into it. They work from a file
on a disk as well: nothing is loaded while a reader looks.
"""

from __future__ import annotations

import base64
import html
from dataclasses import dataclass

from .pictures import STATIC, drawn
from .words import TRANSLATED, script_of, words

__all__ = [
    "INTERACTIVE",
    "STATIC",
    "Interactive",
    "figure",
    "figure_page",
    "script_names",
]

SHARED = ("numerics.js", "drawing.js", "frame.js")
"""Files that every figure needs, in the order of loading."""


@dataclass(frozen=True)
class Interactive:
    """One interactive figure.

    Attributes
    ----------
    name
        As given to the directive ``pyqref-figure``.
    title
        What it is about, in few words.
    caption
        What to try.
    labels
        The equations that it computes.
    scripts
        What it needs beside what all need.

    Examples
    --------
    >>> INTERACTIVE["ties"].labels
    ('eq-affine-quantize', 'eq-fake-quantize', 'eq-round-half-away')
    """

    name: str
    title: str
    caption: str
    labels: tuple[str, ...]
    scripts: tuple[str, ...]

    def source(self) -> str:
        """Return what stands below the figure, in reStructuredText.

        Examples
        --------
        >>> INTERACTIVE["ties"].source()[:33]
        '**Half-way between two integers**'
        """
        labels = ", ".join(f"``{label}``" for label in self.labels)
        return f"**{self.title}** {self.caption} Equations: {labels}."


INTERACTIVE = {
    each.name: each
    for each in (
        Interactive(
            "range",
            "A range, its integers, and the error",
            "Move x along the staircase. Fewer bits make its steps wider, and so does one "
            "outlier; a range that is too small clips what lies outside of it.",
            ("eq-choose-qparams", "eq-affine-quantize", "eq-affine-dequantize"),
            ("range.js",),
        ),
        Interactive(
            "ties",
            "Half-way between two integers",
            "A tie goes to the even neighbour. Look what happens where the zero point is odd, "
            "and is added before or after rounding.",
            ("eq-affine-quantize", "eq-fake-quantize", "eq-round-half-away"),
            ("ties.js",),
        ),
        Interactive(
            "channels",
            "One scale for all, or one for each channel",
            "Make the weights of one channel small: with one scale for all they fall on few "
            "integers, or on zero.",
            ("eq-symmetric-scale", "eq-affine-quantize", "eq-affine-quantize-channel"),
            ("channels.js",),
        ),
        Interactive(
            "requantize",
            "From the accumulator to the output",
            "Every step of a quantized layer behind its sum of products. Compare the "
            "arithmetics: they treat the bias differently, and sometimes give another "
            "integer.",
            (
                "eq-accumulator-scale",
                "eq-multiplier-fbgemm",
                "eq-multiplier-qnnpack",
                "eq-bias-integer",
                "eq-requantize-bias",
                "eq-requantize",
            ),
            ("requantize.js",),
        ),
        Interactive(
            "straight-through",
            "The gradient through a staircase",
            "Training treats rounding as if it were not there. Start outside of the range: "
            "the gradient is zero, and x stays where it is.",
            ("eq-fake-quantize", "eq-fake-quantize-mask", "eq-straight-through"),
            ("straight_through.js",),
        ),
        Interactive(
            "window",
            "A window over a digit",
            "Slide the window with the sliders, or by pointing at either image. At the border "
            "it sees the zero point of the input, which stands for 0.",
            ("eq-affine-quantize", "eq-conv-accumulator", "eq-requantize"),
            ("digits.js", "window.js"),
        ),
    )
}
"""All of them, by their names."""


def script_names(names: tuple[str, ...], language: str = "en") -> list[str]:
    """Return the files that some figures need in a language, in the order of loading.

    Examples
    --------
    >>> script_names(("window",))
    ['numerics.js', 'drawing.js', 'digits.js', 'window.js', 'frame.js']
    """
    own = [script for name in names for script in _known(name).scripts]
    return [*script_of(language), *SHARED[:-1], *dict.fromkeys(own), SHARED[-1]]


def _known(name: str) -> Interactive:
    if name not in INTERACTIVE:
        raise ValueError(f"name must be one of {', '.join(INTERACTIVE)}, got {name!r}")
    return INTERACTIVE[name]


def opening(name: str, language: str = "en") -> str:
    """Return the HTML of a figure up to its caption: its start, and the picture without scripts."""
    each = _known(name)
    light, dark = (
        "data:image/svg+xml;base64," + base64.b64encode(drawn(name, theme, language)).decode()
        for theme in ("light", "dark")
    )
    title = html.escape(words(language).get(each.title, each.title), quote=True)
    return (
        f'<figure class="pyqref-figure" data-figure="{name}" aria-label="{title}">'
        f'<noscript><picture><source media="(prefers-color-scheme: dark)" srcset="{dark}"/>'
        f'<img src="{light}" alt="{title}"/></picture></noscript><figcaption>'
    )


CLOSING = "</figcaption></figure>"


def figure(name: str, language: str = "en") -> str:
    """Return the HTML of one figure; :func:`script_names` tells what must stand in the page.

    Parameters
    ----------
    name
        ``"range"``, ``"ties"``, ``"channels"``, ``"requantize"``, ``"straight-through"`` or
        ``"window"``.
    language
        As in :func:`figure_page`.

    Raises
    ------
    ValueError
        There is no such figure.

    Examples
    --------
    >>> figure("ties").startswith('<figure class="pyqref-figure" data-figure="ties"')
    True
    """
    each = _known(name)
    labels = ", ".join(f"<code>{label}</code>" for label in each.labels)
    title, text, equations = (
        words(language).get(said, said) for said in (each.title, each.caption, "Equations: {0}.")
    )
    caption = f"<strong>{title}</strong> {html.escape(text)} {equations.format(labels)}"
    return f"{opening(name, language)}{caption}{CLOSING}"


def figure_page(*names: str, title: str = "pyqref", language: str = "en") -> str:
    """Return a whole page of HTML with some figures, for a browser without any other file.

    Parameters
    ----------
    names
        Some of ``"range"``, ``"ties"``, ``"channels"``, ``"requantize"``, ``"straight-through"``
        and ``"window"``; all six if none is given.
    title
        Of the page.
    language
        ``"en"`` or ``"zh_CN"``, simplified Chinese.

    Raises
    ------
    ValueError
        There is no such figure, or no such language.

    Examples
    --------
    >>> text = figure_page("range", title="Lecture 1")
    >>> "<title>Lecture 1</title>" in text, 'src="http' in text
    (True, False)
    """
    if language not in ("en", *TRANSLATED):
        possible = ", ".join(repr(each) for each in ("en", *TRANSLATED))
        raise ValueError(f"language must be one of {possible}, got {language!r}")
    names = names or tuple(INTERACTIVE)
    folder = STATIC / "pyqref"
    needed = script_names(names, language)
    scripts = "\n".join((folder / file).read_text("utf-8") for file in needed)
    styles = (folder / "figures.css").read_text("utf-8")
    figures = "\n".join(figure(name, language) for name in names)
    tag = language.replace("_", "-")
    return (
        f'<!DOCTYPE html>\n<html lang="{tag}">\n<head>\n<meta charset="utf-8"/>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{PAGE_STYLE}{styles}</style>\n</head>\n"
        f"<body>\n<main>\n{figures}\n</main>\n<script>\n{scripts}</script>\n</body>\n</html>\n"
    )


PAGE_STYLE = """\
body { background: #ffffff; font-family: system-ui, sans-serif; margin: 0; }
main { margin: 0 auto; max-width: 48rem; padding: 0.5rem; }
@media (prefers-color-scheme: dark) { body { background: #0d1117; } }
"""
