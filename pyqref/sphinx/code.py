"""Code in the body of a directive: it runs, and its last line is what is shown."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

__all__ = ["value_of"]


def value_of(code: str, here: Path) -> Any:
    r"""Run ``code`` and return the value of its last line.

    It has the names ``pyqref`` and ``torch`` for the package, ``nn`` for its layers, ``plot`` for
    its figures, ``np`` for NumPy, and ``here`` for the folder of the page.

    Parameters
    ----------
    code
        Python, whose last statement is an expression.
    here
        Where data of the page stand.

    Raises
    ------
    ValueError
        The last statement is no expression, or there is none.

    Examples
    --------
    >>> value_of("x = torch.ones(3)\nfloat(x.sum())", Path("."))
    3.0
    """
    import numpy

    import pyqref

    from .. import nn, plot

    tree = ast.parse(code, "<the page>")
    shown = tree.body.pop() if tree.body else None
    if not isinstance(shown, ast.Expr):
        raise ValueError("the last line must be an expression, what is to be shown")
    last = ast.Expression(shown.value)
    names = {"pyqref": pyqref, "torch": pyqref, "nn": nn, "plot": plot, "np": numpy, "here": here}
    exec(compile(tree, "<the page>", "exec"), names)
    return eval(compile(last, "<the page>", "eval"), names)
