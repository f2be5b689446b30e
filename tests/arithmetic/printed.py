"""Formulas of steps, as they are printed, in exact arithmetic."""

from __future__ import annotations

import ast
import math
from fractions import Fraction
from typing import Any

import numpy as np
from formulas.exact import f32, fma, rha, rne


def f64(value: Fraction) -> Fraction:
    """Rounded to double precision: Python divides integers correctly."""
    return Fraction(value.numerator / value.denominator)


def whole_log2(value: Fraction) -> int:
    """The logarithm, rounded down."""
    power = value.numerator.bit_length() - value.denominator.bit_length()
    return power if Fraction(2) ** power <= value else power - 1


#: What formulas say, in exact arithmetic.
WORDS: dict[str, Any] = {
    "fl32": f32,
    "fl64": f64,
    "rne": rne,
    "rha": rha,
    "rsr": lambda x, shift: rha(Fraction(x) / 2**shift),
    "rsu": lambda x, shift: math.floor(Fraction(x) / 2**shift + Fraction(1, 2)),
    "fma": fma,
    "min": min,
    "max": max,
    "floor": math.floor,
    "log2": whole_log2,
}


def evaluated(formula: str) -> Fraction:
    """The value of a formula, as it is printed, in exact arithmetic."""

    def value(node: ast.AST) -> Any:
        if isinstance(node, ast.Expression):
            return value(node.body)
        if isinstance(node, ast.Constant):
            return Fraction(node.value)  # type: ignore[arg-type]
        if isinstance(node, ast.UnaryOp):
            return -value(node.operand)
        if isinstance(node, ast.BinOp):
            left, right = value(node.left), value(node.right)
            if isinstance(node.op, ast.Pow):
                return left ** int(right)
            if isinstance(node.op, ast.Add):
                return left + right
            if isinstance(node.op, ast.Sub):
                return left - right
            return left * right if isinstance(node.op, ast.Mult) else left / right
        assert isinstance(node, ast.Call)
        assert isinstance(node.func, ast.Name)
        arguments = [value(each) for each in node.args]
        if node.func.id in ("rsr", "rsu"):
            arguments[1] = int(arguments[1])
        return WORDS[node.func.id](*arguments)

    return Fraction(value(ast.parse(formula, mode="eval")))


def holds(step: Any) -> bool:
    """Return True if the printed formula, computed exactly and rounded once, gives the value."""
    if step.formula.startswith(("sum of", "f(", "scale of", "zero point of")):
        return True
    exact = evaluated(step.formula)
    if isinstance(step.value, np.float32):
        exact = f32(exact)
    elif isinstance(step.value, np.float64):
        exact = f64(exact)
    return exact == Fraction(step.value.item() if hasattr(step.value, "item") else step.value)
