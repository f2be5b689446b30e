"""References in the notebooks of the tutorials, which no Sphinx resolves, as plain words.

``:func:`~pyqref.quantize_per_tensor``` becomes ``quantize_per_tensor`` in the type of code, and
an equation its label, by which a reader finds it in the theory.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx_gallery import notebook

__all__ = ["plain"]

ROLE = re.compile(r":(eq|doc|term|func|class|meth|mod|attr|data):`([^`]+)`")
CODE = {"eq", "func", "class", "meth", "mod", "attr", "data"}


def plain(text: str) -> str:
    """The text with words in the place of roles.

    >>> plain("as :func:`~pyqref.relu` does, see :doc:`the page </theory/sums>`")
    'as `relu` does, see *the page*'
    """
    return ROLE.sub(_words, text)


def _words(found: re.Match[str]) -> str:
    role, target = found[1], " ".join(found[2].split())
    titled = re.fullmatch(r"(.+?) <.+>", target)
    if titled:
        target = titled[1]
    elif target.startswith("~"):
        target = target.rpartition(".")[2]
    return f"`{target}`" if role in CODE else f"*{target.lstrip('/')}*"


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx: every notebook is written from plain text."""
    written = notebook.rst2md
    notebook.rst2md = lambda text, *others: written(plain(text), *others)
    return {"parallel_read_safe": True}
