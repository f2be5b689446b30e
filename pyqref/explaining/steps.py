"""Steps of a derivation, and how they are put together."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from .._typing import NumberOrArray
from .exact import exact
from .rules import RULES, is_finite

__all__ = ["TWICE", "Operand", "Step", "Steps", "short"]

#: A negative number in the parentheses of a function and in its own.
TWICE = re.compile(r"\(\((-[^()]*)\)\)")
#: Of a hexadecimal number: those that say nothing.
_LAST_ZEROS = re.compile(r"\.?0+(?=p)")


@dataclass(frozen=True)
class Operand:
    """Operand of a step: a number, or a row of numbers, with its symbol.

    Attributes
    ----------
    symbol : str
        As formulas call it.
    value : int, float32, float64, str or ndarray
        The number; a row of numbers; the name of a function.
    step : int or None
        The number of the step that it is the value of; None where it is given.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.quantized.Linear(2, 1)
    >>> x = pyqref.quantize_per_tensor(pyqref.ones(1, 2), 0.5, 0, pyqref.quint8)
    >>> found = pyqref.explain(layer, x, index=(0, 0))
    >>> found.steps[0].operands[0]
    Operand(symbol='x', value=array([2, 2], dtype=uint8), step=None)
    """

    symbol: str
    value: Any
    step: int | None = None


@dataclass(frozen=True)
class Step:
    """One step of a derivation.

    Attributes
    ----------
    name : str
        In words.
    symbol : str
        What later formulas call its value.
    rule : str
        How the value follows from the operands, a key of ``RULES``.
    operands : tuple of Operand
        What it follows from.
    value : int, float32 or float64
        The exact value.
    label : str
        The label of the equation, empty where the step belongs to the one before.
    decision : str
        What a rounding or a clamp decided; empty where there was nothing to decide.
    section : str
        What a stretch of steps is about; empty where the derivation has no such parts.

    Examples
    --------
    >>> steps = Steps()
    >>> rounded = steps.add("rounded", "half even", Operand("v", np.float32(2.5)), symbol="r")
    >>> steps[0].value, steps[0].formula, steps[0].numbers
    (2, 'rne(v)', 'rne(2.5)')
    >>> steps[0].decision
    'a tie: to the even 2'
    """

    name: str
    symbol: str
    rule: str
    operands: tuple[Operand, ...]
    value: Any
    label: str = ""
    decision: str = ""
    section: str = ""

    @property
    def formula(self) -> str:
        """The formula with symbols."""
        return RULES[self.rule].text.format(*(each.symbol for each in self.operands))

    @property
    def numbers(self) -> str:
        """The formula with the numbers put in; rows of numbers keep their symbols."""
        written = RULES[self.rule].text.format(*(_put_in(each) for each in self.operands))
        return TWICE.sub(r"(\1)", written)

    @property
    def kind(self) -> str:
        """``"integer"``, ``"float32"``, ``"float64"``, or ``"row"`` of several numbers."""
        if isinstance(self.value, np.ndarray):
            return "row"
        if isinstance(self.value, int):
            return "integer"
        return "float32" if isinstance(self.value, np.float32) else "float64"

    @property
    def hexadecimal(self) -> str:
        """A real number in hexadecimal, which leaves nothing out; of an integer, its digits."""
        if not self.kind.startswith("float"):
            return short(self.value)
        return _LAST_ZEROS.sub("", float(self.value).hex())

    @property
    def fraction(self) -> Fraction | None:
        """The exact value; None of infinity, of what is no number, and of a row."""
        return exact(self.value) if self.kind != "row" and is_finite(self.value) else None

    def recompute(self) -> NumberOrArray:
        """The value, from the operands alone, in exact arithmetic."""
        rule = RULES[self.rule]
        values = [each.value for each in self.operands]
        if rule.exactly is None or not all(is_finite(each) for each in values):
            return rule.quick(*values)
        try:
            return rule.exactly(*(_exact(each) for each in values))
        except ZeroDivisionError:
            return rule.quick(*values)


def _exact(value: Any) -> Any:
    return value if isinstance(value, np.ndarray | str) else exact(value)


def _put_in(operand: Operand) -> str:
    if isinstance(operand.value, np.ndarray | str):
        return operand.symbol
    text = short(operand.value)
    return f"({text})" if text.startswith("-") else text


def short(value: object) -> str:
    """A number for people: real ones as short as they can be read back, of a row the first few.

    Examples
    --------
    >>> short(3), short(np.float32(0.1)), short(np.float32(2)), short(np.arange(9))
    ('3', '0.1', '2', '[0, 1, 2, 3, ...] (9)')
    """
    if isinstance(value, np.ndarray):
        some = ", ".join(short(each) for each in value.ravel()[:4])
        return f"[{some}]" if value.size <= 4 else f"[{some}, ...] ({value.size})"
    return str(value) if isinstance(value, int | str) else str(value).removesuffix(".0")


class Steps(list[Step]):
    """The steps so far.

    Attributes
    ----------
    section : str
        What the next steps are about.

    Examples
    --------
    >>> steps = Steps()
    >>> a = steps.add("difference", "difference", Operand("q", 7), Operand("z", 3), symbol="d")
    >>> a.value, a.step
    (4, 0)
    """

    section = ""

    def add(
        self,
        name: str,
        rule: str,
        *operands: Operand,
        symbol: str,
        label: str = "",
        decision: str = "",
    ) -> Operand:
        """Add a step, and return its value as an operand of later ones."""
        values = [each.value for each in operands]
        value = RULES[rule].quick(*values)
        decide = RULES[rule].decide
        if decide is not None:
            said = decide(*values, value)
            decision = f"{said}; {decision}" if decision and said else said or decision
        self.append(Step(name, symbol, rule, operands, value, label, decision, self.section))
        return Operand(symbol, value, len(self) - 1)

    def single(self, name: str, symbol: str, value: float) -> Operand:
        """A real number as float32; a step of its own where that changes it."""
        narrow = np.float32(value)
        if float(narrow) == float(value):
            return Operand(symbol, narrow)
        return self.add(
            f"{name} as float32", "single", Operand(symbol, np.float64(value)), symbol=symbol
        )

    def decide(self, decision: str) -> None:
        """Say what the last step decided."""
        last = self[-1]
        said = f"{last.decision}; {decision}" if last.decision else decision
        self[-1] = replace(last, decision=said)
