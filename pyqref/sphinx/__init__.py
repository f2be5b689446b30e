"""Equations, derivations, figures, plots and exercises in the pages of a course.

With ``extensions = ["pyqref.sphinx"]`` in the ``conf.py`` of a Sphinx project, its pages, in
reStructuredText or in Markdown with MyST, have five directives:

``pyqref-equation``
    An equation by its label, with links to the function that computes it and the test that proves
    it.
``pyqref-derivation``
    Where one number comes from, step by step (:func:`pyqref.explain`).
``pyqref-figure``
    An interactive figure, with pyqref's integers.
``pyqref-plot``
    A plot of your own data, drawn with :mod:`pyqref.plot`.
``pyqref-exercise``
    An exercise of :mod:`pyqref.course`.

``pyqref_docs`` in ``conf.py`` is the address of pyqref's documentation, to which labels and
functions then lead. :doc:`/course/own_pages` shows all of them.
"""

from __future__ import annotations

from typing import Any

from .interactive import figure_page as figure_page

__all__ = ["figure_page"]


def setup(app: Any) -> dict[str, Any]:
    """Add the directives to a Sphinx project; Sphinx calls it."""
    from .extension import connect

    return connect(app)
