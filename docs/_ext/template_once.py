"""The template of numpydoc is compiled once, and not for each of some thousand docstrings."""

from __future__ import annotations

from typing import Any

from numpydoc import docscrape_sphinx


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx; for each docstring numpydoc makes an environment, always the same."""
    make, made = docscrape_sphinx.SandboxedEnvironment, []

    def once(loader: Any) -> Any:
        if not made:
            made.append(make(loader=loader))
        return made[0]

    docscrape_sphinx.SandboxedEnvironment = once
    return {"parallel_read_safe": True, "parallel_write_safe": True}
