"""Directive ``drawing``: a figure that is drawn with ``pyqref.plot`` while the page is read.

::

    .. drawing:: start.staircase
       :alt: The staircase from real numbers to sixteen integers.

The argument names a function of ``docs/drawings``: here ``staircase`` of ``start.py``. It returns
a matplotlib figure. The page shows it on light and on dark paper, wide and as narrow as a phone.
The container has the name ``drawing-start-staircase``; a figure that moves may take its place.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from matplotlib import pyplot, rc_context
from sphinx.util.docutils import SphinxDirective
from two_themes import darken, narrowed

from pyqref import plot

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


def draw(name: str, folder: Path) -> list[Path]:
    """Write a drawing as four files, in the order of ``KINDS``."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name.replace('.', '-')}-{theme}-{width}.svg" for theme, width in KINDS]
    with plot.theme("light"), rc_context({"svg.hashsalt": "pyqref"}):
        figure = function_of(name)()
        for file, (theme, width) in zip(files, KINDS, strict=True):
            if (theme, width) == ("dark", "wide"):
                darken(figure)
            if width == "narrow":
                with narrowed(figure):
                    save(figure, file)
            else:
                save(figure, file)
        pyplot.close(figure)
    return files


def save(figure: Any, file: Path) -> None:
    """Save as SVG, without a date."""
    figure.savefig(file, facecolor=figure.get_facecolor(), metadata={"Date": None})


def stamp(name: str) -> str:
    """Changes when the code that draws does."""
    sources = [*FOLDER.glob("*.py"), *Path(plot.__file__).parent.glob("*.py"), Path(__file__)]
    text = b"".join(path.read_bytes() for path in sorted(sources))
    return hashlib.sha256(name.encode() + text).hexdigest()


class Drawing(SphinxDirective):
    """See the head of this file."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        name, alt = self.arguments[0], self.options["alt"]
        self.env.note_dependency(str(FOLDER / f"{name.partition('.')[0]}.py"))
        folder = Path(self.env.srcdir) / WRITTEN
        mark = folder / f"{name}.stamp"
        now = stamp(name)
        if not mark.exists() or mark.read_text(encoding="utf-8") != now:
            draw(name, folder)
            mark.write_text(now, encoding="utf-8")
        outer = nodes.container(classes=["drawing"], ids=[f"drawing-{name.replace('.', '-')}"])
        for theme, width in KINDS:
            uri = f"/{WRITTEN}/{name.replace('.', '-')}-{theme}-{width}.svg"
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
