"""The contents in the sidebar are made once for all pages that do not stand in them.

The pages of classes and of sources are hundreds. On such a page no entry is the present one, so the
contents are the same for all pages of a folder, and need not be resolved for each of them.
"""

from __future__ import annotations

from functools import partial
from typing import Any

Key = tuple[str, tuple[tuple[str, Any], ...]]


def share(
    kept: dict[Key, str], app: Any, name: str, template: str, context: Any, doctree: Any
) -> None:
    """Let a page that is in no table of contents take what another one of its folder got."""
    made = context.get("toctree")
    if made is None or name in contents(app):
        return

    def toctree(**options: Any) -> str:
        key = name.rpartition("/")[0], tuple(sorted(options.items()))
        if key not in kept:
            kept[key] = made(**options)
        return kept[key]

    context["toctree"] = toctree


def contents(app: Any) -> set[str]:
    """Pages that a table of contents names, or that have one."""
    includes = app.env.toctree_includes
    return {*includes, *(page for pages in includes.values() for page in pages)}


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx; the theme asks for the contents at the priority of 500."""
    kept: dict[Key, str] = {}
    app.connect("html-page-context", partial(share, kept), priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
