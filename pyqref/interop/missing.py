"""Names that a user's code certainly calls and pyqref lacks, found by reading the code.

A statement runs for certain unless it stands under a condition, or after a return that does.
What stands under a condition is not refused: it may never run, and says so when it does.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from pyqref._advice import advice

from .mirror import STATIC
from .torch_names import is_absent
from .translation import is_users

__all__ = ["missing_calls"]

_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_CONDITIONAL = (ast.If, ast.While, ast.Try, ast.Match)
_ELSEWHERE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def missing_calls(module: Any) -> list[str]:
    """Reasons why the forward of a module cannot run here, each with file and line.

    Parameters
    ----------
    module
        A module of ``torch`` of a class of its own.
    """
    found: list[str] = []
    _read(type(module).forward, type(module), found, set())
    return list(dict.fromkeys(found))


def _read(function: Any, cls: type | None, found: list[str], seen: set[Any]) -> None:
    """Add what a function certainly calls and is not here."""
    function = inspect.unwrap(function)
    if not isinstance(function, FunctionType) or not is_users(function) or function in seen:
        return
    seen.add(function)
    try:
        text = textwrap.dedent(inspect.getsource(function))
        body = ast.parse(text).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return
    if not isinstance(body, ast.FunctionDef):
        return
    first = function.__code__.co_firstlineno
    for call in _calls(body.body):
        line = f"{function.__code__.co_filename}:{first + call.lineno - 1}"
        _look_at(call, function, cls, line, found, seen)


def _look_at(
    call: ast.Call, function: FunctionType, cls: type | None, line: str, found: Any, seen: Any
) -> None:
    """Add a call if it is not here; go on into functions and methods of the user."""
    names = _names(call.func)
    if not names or names[0] in function.__code__.co_cellvars:
        return
    code = function.__code__
    if names[0] in code.co_varnames:
        if cls is not None and names[0] == code.co_varnames[0] and len(names) == 2:
            _read(inspect.getattr_static(cls, names[1], None), cls, found, seen)
        return
    value: Any = function.__globals__.get(names[0])
    for name in names[1:]:
        value = getattr(value, name, None) if isinstance(value, ModuleType) else None
    if isinstance(value, FunctionType) and is_users(value):
        _read(value, None, found, seen)
    elif value is not None and _is_absent(value):
        first: Any = function.__globals__[names[0]]
        owner = first.__name__ if isinstance(first, ModuleType) else names[0]
        name = ".".join([owner, *names[1:]])
        remedy = advice(name.removeprefix("torch."))
        found.append(
            f"calls {name}, which pyqref does not have ({line})" + (f"; {remedy}" if remedy else "")
        )


def _is_absent(value: Any) -> bool:
    """Return True if pyqref has nothing for a function or class of ``torch``."""
    module = getattr(value, "__module__", None)
    if not callable(value) or (module is not None and module.split(".")[0] != "torch"):
        return False
    return is_absent(STATIC.value(value))


def _names(node: ast.expr) -> list[str]:
    """The names in ``a.b.c``; nothing for any other expression."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return [node.id, *names] if isinstance(node, ast.Name) else []


def _calls(statements: list[ast.stmt]) -> Iterator[ast.Call]:
    """The calls that certainly run."""
    for statement in statements:
        if isinstance(statement, _ELSEWHERE):
            continue
        if isinstance(statement, _CONDITIONAL):
            if isinstance(statement, ast.If):
                yield from _calls_in(statement.test)
            if any(isinstance(each, _LEAVES) for each in ast.walk(statement)):
                return
        elif isinstance(statement, ast.For | ast.With):
            parts = [statement.iter] if isinstance(statement, ast.For) else statement.items
            for part in parts:
                yield from _calls_in(part)
            yield from _calls(statement.body)
            if any(isinstance(each, _LEAVES) for each in ast.walk(statement)):
                return
        else:
            yield from _calls_in(statement)
            if isinstance(statement, _LEAVES):
                return


def _calls_in(node: ast.AST) -> Iterator[ast.Call]:
    """The calls in an expression, but for those that a condition may skip."""
    if isinstance(node, ast.Call):
        yield node
    if isinstance(node, ast.IfExp):
        yield from _calls_in(node.test)
    elif isinstance(node, ast.BoolOp):
        yield from _calls_in(node.values[0])
    elif not isinstance(node, _ELSEWHERE):
        for child in ast.iter_child_nodes(node):
            yield from _calls_in(child)
