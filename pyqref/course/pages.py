"""Where in the documentation an equation stands."""

from __future__ import annotations

import os

from ..explaining.show.links import ENVIRONMENT_VARIABLE, link

__all__ = ["address"]

#: Equations of exercises on other pages than those of derivations.
_ELSEWHERE = {
    "eq-noise-sum": "quantization_error",
    "eq-roofline": "why_integers",
    "eq-linear-dynamic": "dynamic",
}


def address(label: str) -> str:
    """Address of the page of an equation: below the root that is named, else the file.

    The environment variable ``PYQREF_DOCS`` names the root of the documentation, as for
    :func:`pyqref.explain`.

    Examples
    --------
    >>> address("eq-requantize")  # doctest: +ELLIPSIS
    '...theory/requantization...'
    """
    where = link(label) or f"theory/{_ELSEWHERE.get(label, 'index')}.html#equation-{label}"
    root = os.environ.get(ENVIRONMENT_VARIABLE, "").rstrip("/")
    return f"{root}/{where}" if root else f"docs/{where.partition('.html')[0]}.rst"
