"""How the Chinese pages are built: translations of some English ones, below the English site.

``docs/conf.py`` starts this when the English site is there. After a change of an English page
that has a translation, bring the messages up to date, from the root of the repository::

    sphinx-build -q -b gettext -c docs/locale docs pot
    sphinx-intl update -p pot -d docs/locale -l zh_CN

and translate what is empty or marked as fuzzy. A message that is not translated is an error.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util import logging

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
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_copybutton",
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

CONTENTS = "\n".join(
    [".. toctree::", "   :hidden:", "", *(f"   {name}" for name in TRANSLATED[1:]), ""]
)


def refer_to_english(app: Any, config: Any) -> None:
    """Look up references that are not translated in the English site around this one."""
    inventory = Path(app.outdir).parent / "objects.inv"
    if inventory.exists():
        config.intersphinx_mapping = {"pyqref": ("..", str(inventory))}


def keep_translated_contents(app: Any, name: str, content: list[str]) -> None:
    """The table of contents names the translated pages only."""
    before, toctree, _ = content[0].partition(".. toctree::")
    if toctree:
        content[0] = before + CONTENTS


def require_translation(app: Any, doctree: Any) -> None:
    """Every message of a page has a translation that fits the present English text."""
    if app.builder.name == "gettext":
        return
    for node in doctree.findall(nodes.Element):
        picture = isinstance(node, nodes.image)  # Sphinx translates alt, but does not say so
        if not (node.get("alt", "").isascii() if picture else node.get("translated") is False):
            continue
        logging.getLogger(__name__).warning(
            "not translated: %s; see docs/locale/conf.py", node.astext()[:60], location=node
        )


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("config-inited", refer_to_english, priority=100)
    app.connect("source-read", keep_translated_contents)
    app.connect("doctree-read", require_translation, priority=900)
