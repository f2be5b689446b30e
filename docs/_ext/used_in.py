"""``.. used-in:: pyqref.quantize_per_tensor`` links to the tutorials that use a function.

sphinx-gallery knows which tutorial uses which name. Pages of classes show them as pictures;
a page with forty functions has room for one line each.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

__all__ = ["UsedIn", "setup"]


class UsedIn(SphinxDirective):
    """One line of links, or nothing where no tutorial uses the name."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Read what the gallery found; it ran before any page is read."""
        settings = self.config.sphinx_gallery_conf
        index = Path(self.env.srcdir) / settings["backreferences_dir"] / "backreferences_all.json"
        self.env.note_dependency(str(index))
        found = read(index, index.stat().st_mtime_ns).get(self.arguments[0], [])
        links = [
            f":doc:`/{settings['gallery_dirs']}/{Path(file).stem}`" for file, *_ in sorted(found)
        ]
        if not links:
            return []
        noun = "tutorial" if len(links) == 1 else "tutorials"
        return self.parse_text_to_nodes(f"Used in the {noun} {', '.join(links)}.")


@cache
def read(index: Path, changed: int) -> dict[str, list[list[Any]]]:
    """Return what the gallery found; it is read once, as long as it does not change."""
    found: dict[str, list[list[Any]]] = json.loads(index.read_text(encoding="utf-8"))
    return found


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("used-in", UsedIn)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
