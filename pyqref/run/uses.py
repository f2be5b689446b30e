"""Find the names of torch that a program uses in its text: nothing is run or imported.

Read :class:`Uses`. It follows what a file imports (``import torch.nn as nn``, ``from torch
import nn``), chains of attributes (``nn.functional.relu``), variables that stand for a module
or class (``F = torch.nn.functional``), and, where a value is a tensor for certain, its methods.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

__all__ = ["ROOTS", "Use", "uses_in"]

#: Packages whose names are looked for.
ROOTS = ("torch", "torchvision", "torchaudio", "torchtext")
#: What a ``try`` catches that looks for a name which may be absent.
_GUARDS = ("ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException")


@dataclass(frozen=True)
class Use:
    """One use of a name.

    Attributes
    ----------
    name
        Its full name: ``"torch.nn.Linear"``, or ``"torch.Tensor.relu"`` for a method.
    line
        Where it stands, from 1.
    guarded
        Whether it stands in a ``try`` that catches its absence.

    Examples
    --------
    >>> Use("torch.nn.Linear", 3).name
    'torch.nn.Linear'
    """

    name: str
    line: int
    guarded: bool = False


def uses_in(source: str, returns_tensor: Callable[[str], bool] | None = None) -> list[Use]:
    """The names of torch that a program uses, in the order of their lines.

    Parameters
    ----------
    source
        The program.
    returns_tensor
        Whether the function of a full name gives a tensor; methods are found by it.

    Raises
    ------
    SyntaxError
        If the source is not Python.

    Examples
    --------
    >>> [use.name for use in uses_in("from torch import nn; nn.Linear(1, 2)")]
    ['torch.nn', 'torch.nn.Linear']
    """
    reader = _Reader(returns_tensor or _never)
    reader.visit(ast.parse(source))
    return sorted(set(reader.uses), key=lambda use: (use.line, use.name))


class _Reader(ast.NodeVisitor):
    """Walks a program with what its names stand for."""

    def __init__(self, returns_tensor: Callable[[str], bool]) -> None:
        self.returns_tensor = returns_tensor
        self.uses: list[Use] = []
        #: What each name of a scope stands for, innermost scope last; None: something else.
        self.scopes: list[dict[str, str | None]] = [{}]
        self.guards = 0

    def _add(self, name: str, line: int) -> None:
        self.uses.append(Use(name, line, self.guards > 0))

    def _bind(self, name: str, meaning: str | None) -> None:
        self.scopes[-1][name] = meaning

    def _meaning(self, name: str) -> str | None:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def _value(self, node: ast.expr) -> str | None:
        """The full name that an expression stands for, or ``"torch.Tensor()"`` for a tensor."""
        if isinstance(node, ast.Name):
            return self._meaning(node.id)
        if isinstance(node, ast.Attribute):
            owner = self._value(node.value)
            if owner == TENSOR:
                return f"torch.Tensor.{node.attr}"
            return None if owner is None else f"{owner}.{node.attr}"
        if isinstance(node, ast.Call):
            function = self._value(node.func)
            return TENSOR if function is not None and self.returns_tensor(function) else None
        if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Subscript)):
            parts = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)]
            if isinstance(node, ast.Subscript):
                parts = [node.value]
            return TENSOR if TENSOR in map(self._value, parts) else None
        return None

    # --- what binds a name ---

    def visit_Import(self, node: ast.Import) -> None:
        for each in node.names:
            root = each.name.partition(".")[0]
            if root in ROOTS:
                self._add(each.name, node.lineno)
            meaning = each.name if each.asname else root
            self._bind(each.asname or root, meaning if root in ROOTS else None)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        ours = not node.level and (node.module or "").partition(".")[0] in ROOTS
        for each in node.names:
            if ours and each.name == "*":
                self._add(node.module or "", node.lineno)
            elif ours:
                self._add(f"{node.module}.{each.name}", node.lineno)
            self._bind(each.asname or each.name, f"{node.module}.{each.name}" if ours else None)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self._assign(target, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.annotation)
        if node.value is not None:
            self.visit(node.value)
            self._assign(node.target, node.value)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._bind(target.id, self._value(value))
        elif isinstance(target, (ast.Tuple, ast.List)):
            values = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
            for number, each in enumerate(target.elts):
                same = len(values) == len(target.elts)
                self._assign(each, values[number] if same else ast.Constant(None))
        else:
            self.visit(target)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.iter)
        self._assign(node.target, ast.Constant(None))
        for each in [*node.body, *node.orelse]:
            self.visit(each)

    visit_AsyncFor = visit_For  # noqa: N815 (Python's name)

    def visit_withitem(self, node: ast.withitem) -> None:
        self.visit(node.context_expr)
        if node.optional_vars is not None:
            self._assign(node.optional_vars, ast.Constant(None))

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        given = node.args
        parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs]
        parameters += [each for each in (given.vararg, given.kwarg) if each is not None]
        for default in [*given.defaults, *given.kw_defaults]:
            if default is not None:
                self.visit(default)
        scope: dict[str, str | None] = {}
        for each in parameters:
            if each.annotation is not None:
                self.visit(each.annotation)
                is_tensor = self._value(each.annotation) == "torch.Tensor"
                scope[each.arg] = TENSOR if is_tensor else None
            else:
                scope[each.arg] = None
        if not isinstance(node, ast.Lambda):
            for outside in [*node.decorator_list, *([node.returns] if node.returns else [])]:
                self.visit(outside)
            self._bind(node.name, None)
        self.scopes.append(scope)
        for inside in node.body if isinstance(node.body, list) else [node.body]:
            self.visit(inside)
        self.scopes.pop()

    visit_FunctionDef = _visit_function  # noqa: N815
    visit_AsyncFunctionDef = _visit_function  # noqa: N815
    visit_Lambda = _visit_function  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for each in [*node.decorator_list, *node.bases, *node.keywords]:
            self.visit(each)
        self._bind(node.name, None)
        self.scopes.append({})
        for statement in node.body:
            self.visit(statement)
        self.scopes.pop()

    # --- what may be absent ---

    def visit_Try(self, node: ast.Try) -> None:
        self.guards += any(_guards(handler) for handler in node.handlers)
        for each in node.body:
            self.visit(each)
        self.guards -= any(_guards(handler) for handler in node.handlers)
        for part in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(part)

    # --- uses ---

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = self._value(node)
        if name is None or "()" in name:
            self.visit(node.value)
            return
        if name.startswith("torch.Tensor.") and self._value(node.value) == TENSOR:
            self.visit(node.value)
        self._add(name, node.lineno)

    def visit_Name(self, node: ast.Name) -> None:
        """A name alone was counted where it was imported."""


def _never(name: str) -> bool:
    return False


#: What stands for a tensor, in the place of a name.
TENSOR = "torch.Tensor()"


def _guards(handler: ast.ExceptHandler) -> bool:
    caught = handler.type
    names: Iterator[ast.AST] = ast.walk(caught) if caught is not None else iter(())
    return caught is None or any(
        isinstance(each, ast.Name) and each.id in _GUARDS for each in names
    )
