"""A derivation as LaTeX: one aligned equation a step."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..._typing import Derivation
from ..rules import RULES
from ..steps import TWICE, Operand, Step, short

__all__ = ["as_latex"]


def as_latex(derivation: Derivation) -> str:
    """All steps in an ``align*``, with symbols, numbers and values."""
    before = ["", *(each.section for each in derivation.steps)]
    rows = [
        _heading(each.section if each.section != last else "") + _row(each)
        for each, last in zip(derivation.steps, before, strict=False)
    ]
    return "\n".join([r"\begin{align*}", " \\\\\n".join(rows), r"\end{align*}"])


def _row(step: Step) -> str:
    latex = RULES[step.rule].latex
    symbols = latex.format(*(_symbol(each.symbol) for each in step.operands))
    numbers = TWICE.sub(r"(\1)", latex.format(*(_put_in(each) for each in step.operands)))
    middle = "" if symbols == numbers else f" = {numbers}"
    words = _words(step.name)
    return (
        rf"{_symbol(step.symbol)} &= {symbols}{middle} = {_plain(step.value)} && \text{{{words}}}"
    )


def _heading(section: str) -> str:
    return f"\\intertext{{{_words(section)}}}\n" if section else ""


def _words(text: str) -> str:
    return re.sub(r"([_&%#$])", r"\\\1", text)


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
    """``s_x`` as a symbol with an index, ``x+`` with a sign above; words upright."""
    return _NAME.sub(_name, symbol).replace("·", r"\cdot ").replace("Σ", r"\sum ")


_NAME = re.compile(r"([A-Za-z]+)((?:_[A-Za-z0-9]+)*)(?:([+-])(?![\w ]))?")


def _name(found: re.Match[str]) -> str:
    head, tail, sign = found.groups()
    written = head if len(head) == 1 else rf"\mathrm{{{head}}}"
    if tail:
        index = tail[1:].replace("_", ",")
        written += f"_{{{index if len(index) == 1 else chr(92) + f'mathrm{{{index}}}'}}}"
    return written + (f"^{{{sign}}}" if sign else "")
