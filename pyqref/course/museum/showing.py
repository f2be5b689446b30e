"""A bug in words and as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..result import wrapped
from .bug import Bug

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["picture", "told"]


def told(bug: Bug) -> str:
    """Say what a bug does, with its change and the numbers that it turns wrong.

    Examples
    --------
    >>> from pyqref.course.museum import bugs
    >>> print(told(bugs()["midpoint-127"]).splitlines()[0])
    midpoint-127: takes 127 for the middle of unsigned bytes
    """
    right, wrong = bug.values()
    return "\n".join(
        [
            f"{bug.name}: {bug.title}",
            wrapped(bug.story, "  "),
            f"  reported      {bug.reference}",
            f"  function      pyqref.numerics.{bug.function}",
            *(f"  without       {line.strip()}" for line in bug.old.splitlines()),
            *(f"  with the bug  {line.strip()}" for line in bug.new.splitlines()),
            wrapped(_difference(right, wrong), "  "),
            f"  found by      {bug.test}",
        ]
    )


def _difference(right: np.ndarray, wrong: np.ndarray) -> str:
    if right.shape != wrong.shape:
        return f"gives {wrong.size} numbers instead of {right.size}"
    places = np.flatnonzero(right != wrong)
    pairs = ", ".join(f"{wrong[each]:.6g} for {right[each]:.6g}" for each in places[:4])
    return f"{len(places)} of {right.size} numbers of its example are wrong: {pairs}"


def picture(bug: Bug) -> Figure:
    """Draw the numbers of a bug's example without it and with it.

    Needs matplotlib.

    Examples
    --------
    >>> from pyqref.course.museum import bugs
    >>> figure = picture(bugs()["half-away"])
    >>> [line.get_label() for line in figure.axes[0].lines]
    ['right', 'with the bug']
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from ... import plot

    right, wrong = bug.values()
    with mpl.rc_context(plot.settings()):
        figure = Figure(figsize=(5, 2.6), layout="constrained")
        axes = figure.subplots()
        axes.plot(right, drawstyle="steps-mid", label="right")
        axes.plot(wrong, "o", markersize=3, label="with the bug")
        axes.set_title(bug.title)
        axes.set_xlabel("element of the example")
        axes.set_ylabel(bug.function.rpartition(".")[2])
        axes.legend()
    return figure
