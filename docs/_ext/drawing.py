"""Directive ``drawing``: a figure that is drawn with ``pyqref.plot`` while the page is read.

::

    .. drawing:: start.staircase
       :alt: The staircase from real numbers to sixteen integers.

The argument names a function of ``docs/drawings``: here ``staircase`` of ``start.py``. It returns
a matplotlib figure. The page shows it on light and on dark paper, wide and as narrow as a phone.
The container has the name ``drawing-start-staircase``; a figure that moves may take its place.
A page in another language shows the words of ``docs/locale/LANGUAGE/drawings.json``.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from matplotlib import pyplot, rc_context
from sphinx.util.docutils import SphinxDirective
from two_themes import darken, narrowed

from pyqref import plot
from pyqref.sphinx.words import put_words, set_aside

__all__ = ["FOLDER", "Drawing", "draw", "setup"]

FOLDER = Path(__file__).parents[1] / "drawings"

WRITTEN = "gen_modules/drawings"
"""Where the files are written, below the sources; it is ignored by git and excluded from pages."""

KINDS = [(theme, width) for theme in ("light", "dark") for width in ("wide", "narrow")]


def function_of(name: str) -> Any:
    """The function that draws ``file.function``."""
    file, _, function = name.partition(".")
    if str(FOLDER.parent) not in sys.path:
        sys.path.insert(0, str(FOLDER.parent))
    return getattr(importlib.import_module(f"drawings.{file}"), function)


def names_of_files(name: str, language: str) -> list[str]:
    """Names of the files of a drawing, in the order of ``KINDS``."""
    start = name.replace(".", "-") + ("" if language == "en" else f"-{language}")
    return [f"{start}-{theme}-{width}.svg" for theme, width in KINDS]


def table(language: str) -> dict[str, str]:
    """The words of all drawings in a language, by the English ones; nothing for English."""
    path = FOLDER.parent / "locale" / language / "drawings.json"
    found: dict[str, str] = json.loads(path.read_text("utf-8")) if language != "en" else {}
    return found


def draw(name: str, folder: Path, language: str = "en") -> list[Path]:
    """Write a drawing as four files, in the order of ``KINDS``."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / each for each in names_of_files(name, language)]
    settings = {"svg.hashsalt": "pyqref", "svg.fonttype": "path" if language == "en" else "none"}
    with plot.theme("light"), rc_context(settings):
        figure = function_of(name)()
        words = {} if language == "en" else set_aside(figure, table(language))
        for file, (theme, width) in zip(files, KINDS, strict=True):
            if (theme, width) == ("dark", "wide"):
                darken(figure)
            if width == "narrow":
                with narrowed(figure):
                    save(figure, file)
            else:
                save(figure, file)
        pyplot.close(figure)
    for file in files if words else ():
        text = file.read_text(encoding="utf-8")
        file.write_text(put_words(text, words, language), encoding="utf-8")
    return files


def save(figure: Any, file: Path) -> None:
    """Save as SVG, without a date."""
    figure.savefig(file, facecolor=figure.get_facecolor(), metadata={"Date": None})


def stamp(name: str, language: str) -> str:
    """Changes when the code that draws does, or the words."""
    return hashlib.sha256(f"{name}{table(language)}{_code()}".encode()).hexdigest()


@cache
def _code() -> str:
    sources = [*FOLDER.glob("*.py"), *Path(plot.__file__).parent.glob("*.py"), Path(__file__)]
    text = b"".join(path.read_bytes() for path in sorted(sources))
    return hashlib.sha256(text).hexdigest()


class Drawing(SphinxDirective):
    """See the head of this file."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        name, alt = self.arguments[0], self.options["alt"]
        self.env.note_dependency(str(FOLDER / f"{name.partition('.')[0]}.py"))
        folder = Path(self.env.srcdir) / WRITTEN
        language = self.config.language
        mark = folder / f"{name}-{language}.stamp"
        now = stamp(name, language)
        if not mark.exists() or mark.read_text(encoding="utf-8") != now:
            draw(name, folder, language)
            mark.write_text(now, encoding="utf-8")
        outer = nodes.container(classes=["drawing"], ids=[f"drawing-{name.replace('.', '-')}"])
        for (theme, width), file in zip(KINDS, names_of_files(name, language), strict=True):
            uri = f"/{WRITTEN}/{file}"
            image = nodes.image("", uri=uri, alt=" ".join(alt.split()))
            box = nodes.container(classes=[width])
            box += nodes.container("", image, classes=[f"only-{theme}"])
            outer += box
        self.set_source_info(outer)
        return [outer]


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("drawing", Drawing)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
