"""How the Chinese pages are built: translations of some English ones, below the English site.

``docs/conf.py`` starts this when the English site is there. After a change of an English page
that has a translation, bring the messages up to date, from the root of the repository::

    sphinx-build -q -b gettext -c docs/locale docs pot
    sphinx-intl update -p pot -d docs/locale -l zh_CN

and translate what is empty or marked as fuzzy. A message that is not translated is an error.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.util import docname_join, logging

sys.path.insert(0, str(Path(__file__).parents[1] / "_ext"))

from languages import TRANSLATED

project = "pyqref"
author = "The pyqref authors"
copyright = "2026, the pyqref authors"
language = "zh_CN"
locale_dirs = ["locale"]
gettext_compact = False
gettext_uuid = False
gettext_location = False

extensions = [
    "sphinx.ext.doctest",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_copybutton",
    "pyqref.sphinx",
    "drawing",
    "folded",
    "exercise_table",
    "course_pages",
    "languages",
    "chinese_search",
]
include_patterns = [f"{name}.rst" for name in TRANSLATED]
nitpicky = True
intersphinx_disabled_reftypes: list[str] = []  # English pages are found by their name, too
html_theme = "furo"
html_title = "pyqref"
html_static_path = ["../_static"]
html_css_files = ["pyqref.css"]
html_js_files = [("fit.js", {"defer": "defer"})]
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

TOCTREE = re.compile(r"^\.\. toctree::\n(?:(?: +.*)?\n)+", re.MULTILINE)
ENTRY = re.compile(r"^ +([^:\s]\S*)\n", re.MULTILINE)

OTHERWISE_READ = {"重": "虫", "校": "叫"}
"""Characters of the glossary that are read otherwise there than where their code has its place."""


def refer_to_english(app: Any, config: Any) -> None:
    """Look up references that are not translated in the English site around this one."""
    inventory = Path(app.outdir).parent / "objects.inv"
    if inventory.exists():
        config.intersphinx_mapping = {"pyqref": ("..", str(inventory))}


def keep_translated_contents(app: Any, name: str, content: list[str]) -> None:
    """Tables of contents name the translated pages only, and those without one go."""

    def kept(block: re.Match[str]) -> str:
        def entry(line: re.Match[str]) -> str:
            return line[0] if docname_join(name, line[1]) in TRANSLATED else ""

        left = ENTRY.sub(entry, block[0])
        return left if ENTRY.search(left) else ""

    content[0] = TOCTREE.sub(kept, content[0] + "\n")


def lead_to_english(app: Any, doctree: Any) -> None:
    """Name pages without a translation from the root, and equations by their labels."""
    here = app.env.current_document.docname
    for node in list(doctree.findall(addnodes.pending_xref)):
        if node["reftype"] == "doc":
            page = docname_join(here, node["reftarget"])
            if page not in TRANSLATED:
                node["reftarget"] = page
        elif node["reftype"] == "eq":
            node.replace_self(nodes.literal(text=node["reftarget"]))


def root_of_english(app: Any, doctree: Any, name: str) -> None:
    """Labels of equations lead to the English site, so many folders up."""
    app.config.pyqref_docs = "/".join([".."] * (name.count("/") + 1))


def by_pinyin(term: str) -> bytes:
    """Place of a term: GB 2312 orders the common characters as they are pronounced.

    Words in Latin letters come first.
    """
    return term.lower().translate(str.maketrans(OTHERWISE_READ)).encode("gb18030")


def sort_glossary(app: Any, doctree: Any) -> None:
    """Sort the terms by their Chinese names."""
    for glossary in doctree.findall(addnodes.glossary):
        glossary[0][:] = sorted(glossary[0], key=lambda item: by_pinyin(item[0].astext()))


def require_translation(app: Any, doctree: Any) -> None:
    """Every message of a page has a translation that fits the present English text."""
    if app.builder.name == "gettext":
        return
    for node in doctree.findall(nodes.Element):
        if isinstance(node, nodes.image):  # Sphinx translates alt, but does not say so
            lacks = node.get("alt", "").isascii()
        elif isinstance(node, addnodes.toctree):  # nor of captions
            lacks = "rawcaption" in node and node["caption"] == node["rawcaption"]
        else:
            lacks = node.get("translated") is False
        if not lacks:
            continue
        logging.getLogger(__name__).warning(
            "not translated: %s; see docs/locale/conf.py", node.astext()[:60], location=node
        )


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("config-inited", refer_to_english, priority=100)
    app.connect("source-read", keep_translated_contents)
    app.connect("doctree-read", lead_to_english)
    app.connect("doctree-read", sort_glossary)
    app.connect("doctree-read", require_translation, priority=900)
    app.connect("doctree-resolved", root_of_english, priority=100)
