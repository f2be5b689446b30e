"""The notebooks of the tutorials: they install pyqref where it is missing, and their links work.

No Sphinx resolves the roles in a notebook. Where the site is built for an address,
``html_baseurl``, ``:func:`~pyqref.quantize_per_tensor``` becomes a link to its page there; else it
becomes ``quantize_per_tensor`` in the type of code, and an equation its label, by which a reader
finds it in the theory.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from sphinx_gallery import notebook

from pyqref.sphinx.equations import survey

__all__ = ["FIRST_CELL", "plain"]

#: Does nothing where pyqref is there. Without a C compiler it is plain NumPy, and slower.
FIRST_CELL = """\
# Where pyqref is not installed, as in Colab, install it.
import importlib.util
import os
import shutil
import subprocess
import sys

if importlib.util.find_spec("pyqref") is None:
    if not any(map(shutil.which, ("cc", "gcc", "clang", "cl"))):
        os.environ["PYQREF_BUILD"] = "reference"
    command = [sys.executable, "-m", "pip", "install", "-q", "pyqref[demo,examples]"]
    subprocess.run(command, check=True)
%matplotlib inline"""

DOCS = Path(__file__).parents[1]
ROLE = re.compile(r":(eq|doc|term|func|class|meth|mod|attr|data):`([^`]+)`")
CODE = {"eq", "func", "class", "meth", "mod", "attr", "data"}


def plain(text: str, site: str = "") -> str:
    """The text with links in the place of roles, or words where ``site`` names no address.

    >>> plain("as :func:`~pyqref.relu` does, see :doc:`the page </theory/sums>`")
    'as `relu` does, see *the page*'
    >>> plain(":eq:`eq-requantize`", "https://docs.example")
    '[`eq-requantize`](https://docs.example/theory/requantization.html#equation-eq-requantize)'
    """
    return ROLE.sub(lambda found: _words(found, site.rstrip("/")), text)


def _words(found: re.Match[str], site: str) -> str:
    role, target = found[1], " ".join(found[2].split())
    shown = target
    if titled := re.fullmatch(r"(.+?) <(.+)>", target):
        shown, target = titled[1], titled[2]
    elif target.startswith("~"):
        shown = target.rpartition(".")[2]
    words = f"`{shown}`" if role in CODE else f"*{shown.lstrip('/')}*"
    place = _place(role, target.lstrip("~"))
    return f"[{words}]({site}/{place})" if site and place else words


@cache
def _pages_of_equations() -> dict[str, str]:
    return {label: each.page for label, each in survey(kernels=False).equations.items()}


def _place(role: str, target: str) -> str:
    """Page and anchor of what a role names; empty if there is no page."""
    if role == "eq":
        page = _pages_of_equations().get(target)
        return f"theory/{page}.html#equation-{target}" if page else ""
    if role == "doc":
        return f"{target.lstrip('/') if target[0] == '/' else f'auto_tutorials/{target}'}.html"
    if role == "term":
        return "glossary.html"
    folder = DOCS / "api" / "generated"
    parts = target.split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        for kind in ("classes/", ""):
            if (folder / f"{kind}{name}.rst").exists():
                whole = "module-" if name == target and not kind else ""
                return f"api/generated/{kind}{name}.html#{whole}{target}"
    return ""


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx: every notebook is written from plain text."""
    written = notebook.rst2md
    notebook.rst2md = lambda text, *others: written(plain(text, app.config.html_baseurl), *others)
    return {"parallel_read_safe": True}
