"""Words of figures in another language than English.

The tables are read by the scripts of the interactive figures, too. matplotlib needs a font to know
how wide a text is, and few systems have one with Chinese characters where pages are built. All of
these have the width of the font's size, and so has a dash: the dashes are drawn, and the SVG gets
the words in their places. It is shown in the fonts of the reader.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["TRANSLATED", "put_words", "script_of", "set_aside", "words"]

TRANSLATED = ("zh_CN",)
"""Languages of Sphinx, beside English, that figures speak."""

FOLDER = Path(__file__).parent / "static" / "pyqref"
WIDE = re.compile(r"[\u2e80-\u9fff\uff00-\uff60]")
"""Characters as wide as a dash."""

SPOKEN = re.compile(r"[A-Za-z]{2}")
"""A text with words in it; numbers, formulas and single letters are the same in all languages."""


def script_of(language: str) -> list[str]:
    """Return the file of words that a page in a language loads, in a list, or none.

    Examples
    --------
    >>> script_of("zh_CN"), script_of("en")
    (['words_zh_CN.js'], [])
    """
    return [f"words_{language}.js"] if language in TRANSLATED else []


@cache
def words(language: str) -> dict[str, str]:
    """Return the words of interactive figures in a language, by the English ones.

    Examples
    --------
    >>> words("zh_CN")["bits"], words("en")
    ('位数', {})
    """
    for file in script_of(language):
        text = (FOLDER / file).read_text("utf-8")
        table: dict[str, str] = json.loads(text.partition("words = ")[2].rpartition(";")[0])
        return table
    return {}


def set_aside(figure: Figure, table: Mapping[str, str]) -> dict[str, str]:
    """Put dashes in the place of the words of a figure, and return the words.

    Parameters
    ----------
    figure
        It is changed; its file is to be written with ``svg.fonttype`` set to ``"none"``.
    table
        Texts by the English ones.

    Returns
    -------
    dict
        Texts by the names that their places have in the file; :func:`put_words` takes them.

    Raises
    ------
    ValueError
        The table lacks a text of the figure.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> figure = Figure()
    >>> ax = figure.subplots()
    >>> _ = ax.set_xlabel("integer q")
    >>> set_aside(figure, {"integer q": "整数 q"})
    {'words-0': '整数 q'}
    >>> ax.get_xlabel()
    '—— q'
    """
    from matplotlib.text import Text

    found: dict[str, str] = {}
    for artist in figure.findobj(Text):
        assert isinstance(artist, Text)
        english = artist.get_text()
        if not SPOKEN.search(english) or english.startswith("$"):
            continue
        if english not in table:
            raise ValueError(f"a text of the figure is not translated: {english!r}")
        name = f"words-{len(found)}"
        found[name] = table[english]
        artist.set_gid(name)
        artist.set_text(WIDE.sub("—", table[english]))
    return found


def put_words(svg: str, found: Mapping[str, str], language: str) -> str:
    """Return the text of an SVG file with words in the places where dashes stand.

    Examples
    --------
    >>> put_words('<g id="words-0"><text x="1">—— q</text></g>', {"words-0": "整数 q"}, "zh_CN")
    '<g id="words-0"><text xml:lang="zh-CN" x="1">整数 q</text></g>'
    """

    def put(place: re.Match[str]) -> str:
        lines = iter(found[place[1]].splitlines())
        opening = f'<text xml:lang="{language.replace("_", "-")}"'

        def said(text: re.Match[str]) -> str:
            return f"{opening}{text[1]}>{html.escape(next(lines), quote=False)}</text>"

        return re.sub(r"<text([^>]*)>[^<]*</text>", said, place[0])

    return re.sub(r'<g id="(words-\d+)">.*?</g>', put, svg, flags=re.DOTALL)
