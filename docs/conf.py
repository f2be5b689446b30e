"""How the documentation is built."""

from __future__ import annotations

import sys
from pathlib import Path

import pyqref

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "pyqref"
author = "The pyqref authors"
copyright = "2026, the pyqref authors"
release = version = pyqref.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx-mathjax-offline",
    "sphinx_copybutton",
    "api_pages",
]
exclude_patterns = ["_build", "_ext"]
root_doc = "index"
nitpicky = True
# Built-in and NumPy types are named in signatures; their pages are not part of this site.
nitpick_ignore_regex = [
    (r"py:.*", r"(?!pyqref).*"),
]
math_number_all = False
math_eqref_format = "({number})"
numfig = True

autosummary_generate = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
add_module_names = False
doctest_global_setup = "import numpy\nimport pyqref"

html_theme = "furo"
html_title = "pyqref"
html_static_path = ["_static"]
html_css_files = ["pyqref.css"]
html_theme_options = {"source_repository": "", "navigation_with_keys": True}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
