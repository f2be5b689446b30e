"""Public functions and methods say what they take and return: few say ``Any``."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pyqref

PACKAGE = Path(pyqref.__file__).parent
#: The arguments and the result of a function, or of a method. One whose name begins with a single
#: underscore is not public, nor is a function inside another one.
HEAD = re.compile(
    r"^(?:|    (?=def \w+\(\s*(?:self|cls)\b))"
    r"def (?!_[^_])\w+\((.*?)\)(?: -> (.+?))?:(?: \.\.\.)?(?:  #[^\n]*)?$",
    re.M | re.S,
)
PRIVATE_CLASS = re.compile(r"^class _.*?(?=^\S|\Z)", re.M | re.S)


def _is_any(annotation: ast.expr | None) -> bool:
    return annotation is None or (isinstance(annotation, ast.Name) and annotation.id == "Any")


def _share_of_any(annotations: list[ast.expr | None]) -> float:
    assert len(annotations) > 4000
    return sum(map(_is_any, annotations)) / len(annotations)


def test_few_parameters_and_returns_are_any():
    """Fewer than 3 % of all parameters are annotated ``Any`` or not at all, and of all returns."""
    heads = [
        f"def f({arguments}) -> {result}: ...\n"
        for path in PACKAGE.rglob("*.py")
        for arguments, result in HEAD.findall(PRIVATE_CLASS.sub("", path.read_text("utf-8")))
        if result  # none in code that a docstring shows
    ]
    functions = [f for f in ast.parse("".join(heads)).body if isinstance(f, ast.FunctionDef)]
    parameters = [
        each.annotation
        for given in (f.args for f in functions)
        for each in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
        if each is not None and each.arg not in ("self", "cls")
    ]
    assert _share_of_any(parameters) < 0.03
    assert _share_of_any([f.returns for f in functions]) < 0.03
