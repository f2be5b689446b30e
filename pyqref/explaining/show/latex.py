"""A derivation as LaTeX: one aligned equation a step."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..rules import RULES
from ..steps import Operand, Step, short

__all__ = ["as_latex"]


def as_latex(derivation: Any) -> str:
    """All steps in an ``align*``, with symbols, numbers and values."""
    rows = [_row(each) for each in derivation.steps]
    return "\n".join([r"\begin{align*}", " \\\\\n".join(rows), r"\end{align*}"])


def _row(step: Step) -> str:
    latex = RULES[step.rule].latex
    symbols = latex.format(*(_symbol(each.symbol) for each in step.operands))
    numbers = latex.format(*(_put_in(each) for each in step.operands))
    middle = "" if symbols == numbers else f" = {numbers}"
    words = re.sub(r"([_&%#$])", r"\\\1", step.name)
    return (
        rf"{_symbol(step.symbol)} &= {symbols}{middle} = {_plain(step.value)} && \text{{{words}}}"
    )


def _put_in(operand: Operand) -> str:
    if isinstance(operand.value, np.ndarray | str):
        return _symbol(operand.symbol)
    text = _plain(operand.value)
    return f"({text})" if text.startswith("-") else text


def _plain(value: Any) -> str:
    """A number; powers of ten are written as such."""
    text = short(value).replace("...", r"\ldots")
    return re.sub(r"e([+-]?)0*(\d+)", lambda m: rf" \cdot 10^{{{m[1].strip('+')}{m[2]}}}", text)


def _symbol(symbol: str) -> str:
    """``s_x`` as a symbol with an index; words upright."""
    head, under, tail = symbol.partition("_")
    if len(head) > 2 and head.isalpha():
        return rf"\mathrm{{{symbol.replace('_', chr(92) + '_')}}}"
    index = tail.replace("_", r"\_")
    return f"{head}_{{{index}}}" if under else symbol
