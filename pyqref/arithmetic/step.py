"""One step of a derivation, and what writes steps down while numbers are computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyqref.numerics.noted import noted

from .._typing import NumberOrArray, Value

__all__ = ["Note", "Recorder", "Step", "of", "silent"]


@dataclass(frozen=True)
class Step:
    """One step from an accumulator to an output integer: a plain record.

    Attributes
    ----------
    name
        What was computed, as ``"multiplier"``.
    label
        The equation, as ``"eq-multiplier-fbgemm"``.
    formula
        The equation with the numbers put in.
    value
        The result: a Python int, or a NumPy float32 or float64, exactly as it was computed.
    decision
        What was decided, as ``"tie, to the even integer"`` or ``"clamped to 255"``; else empty.

    Examples
    --------
    >>> Step("sum", "eq-linear-accumulator", "2 * 3 + 4 * 5", 26).value
    26
    """

    name: str
    label: str
    formula: str
    value: Any
    decision: str = ""


#: What :class:`Arithmetic` calls for each quantity it computes. It returns the quantity.
Note = Callable[..., Any]


def silent(
    name: str, value: Value, label: str, formula: str, decision: object = None, **numbers: object
) -> Value:
    """Return the value and write no step down: for whole arrays (:mod:`pyqref.numerics.noted`).

    Examples
    --------
    >>> silent("sum", 26, "eq-linear-accumulator", "{a} + {b}", a=6, b=20)
    26
    """
    return noted(name, value)


def of(what: str, note: Note) -> Note:
    """A note whose names begin with ``what``, for one of several inputs.

    Examples
    --------
    >>> recorder = Recorder()
    >>> of("first", recorder)("sum", 26, "eq-linear-accumulator", "{a} + {b}", a=6, b=20)
    26
    >>> recorder.steps[0].name
    'first: sum'
    """
    if note is silent:
        mark = {"first": " a", "second": " b"}.get(what, "")
        return lambda name, value, *_, **__: noted(f"{name}{mark}", value)
    return lambda name, *args, **numbers: note(f"{what}: {name}", *args, **numbers)


class Recorder:
    """Write down each quantity that is computed of one accumulator.

    Attributes
    ----------
    steps : list of Step
        In the order of the computation.

    Examples
    --------
    >>> note = Recorder()
    >>> note("sum", np.int64(26), "eq-linear-accumulator", "{a} + {b}", a=6, b=20)
    np.int64(26)
    >>> note.steps[0].formula
    '6 + 20'
    """

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def __call__(
        self,
        name: str,
        value: Value,
        label: str,
        formula: str,
        decision: Callable[[], str] | None = None,
        **numbers: Any,
    ) -> Value:
        """Write one step down and return its value as it was given."""
        texts = {key: written(number) for key, number in numbers.items()}
        decided = "" if decision is None else decision()
        self.steps.append(Step(name, label, formula.format(**texts), plain(value), decided))
        return value


def plain(value: Any) -> int | np.floating[Any]:
    """An array of one element as a Python int or a NumPy float.

    Examples
    --------
    >>> plain(np.array([3])), plain(np.float32([0.5]))
    (3, np.float32(0.5))
    """
    element = np.asarray(value).reshape(-1)[0]
    return int(element) if isinstance(element, np.integer) else element


def written(number: NumberOrArray | str) -> str:
    """A number as text that stands for exactly this number; negative ones in parentheses.

    A float32 is written as the double that equals it.

    Examples
    --------
    >>> written(np.float32(0.1)), written(0.1), written(-3), written("x")
    ('0.10000000149011612', '0.1', '(-3)', 'x')
    """
    if isinstance(number, str):
        return number
    value = plain(number)
    text = repr(value if isinstance(value, int) else float(value))
    return f"({text})" if text.startswith("-") else text
