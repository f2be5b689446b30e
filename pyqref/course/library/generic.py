"""Mistakes that nobody has thought of: small changes of the model answer, made by rule.

They have no name. The checker says "as if ``scale / x`` stood for ``x / scale``", which is true of
the results whatever the student wrote.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from functools import cache

from ..exercise import Mistake
from .model import Library, compiled

__all__ = ["by_rule"]

OPERATORS: tuple[type[ast.operator], ...] = (ast.Add, ast.Sub, ast.Mult, ast.Div)
TWINS = {
    "min": "max",
    "max": "min",
    "rint": "floor",
    "floor": "ceil",
    "minimum": "maximum",
    "sqrt": "square",
    "log10": "log2",
    "reverse": "",
}
COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.NotEq: ast.Eq,
}
EXPLANATION = "Compare this step with the equation."


#: What may have been done to a step in addition, and how that is said.
AROUND = (
    ("np.rint({})", "is rounded"),
    ("np.floor({})", "is rounded down"),
    ("np.ceil({})", "is rounded up"),
    ("np.trunc({})", "is cut to an integer"),
    ("half_up({})", "is rounded with halves up"),
    ("np.abs({})", "is taken without its sign"),
    ("-({})", "is taken with the other sign"),
    ("({} + 1)", "is taken one too large"),
    ("({} - 1)", "is taken one too small"),
    ("np.maximum({}, 0)", "is cut at 0, its negative numbers become 0"),
    ("np.minimum({}, 0)", "is cut at 0, its positive numbers become 0"),
    ("np.clip({}, 0, 255)", "is clamped to 0..255"),
    ("np.clip({}, -128, 127)", "is clamped to -128..127"),
    ("wrap({}, 0)", "is held in uint8, where it wraps around"),
    ("wrap({}, -1)", "is held in int8, where it wraps around"),
    ("np.float16({})", "is held in float16"),
    ("np.sqrt({})", "is taken under a root"),
    ("np.square({})", "is squared"),
    ("np.max({})", "is replaced by its largest number"),
    ("np.transpose({})", "has its axes the wrong way round"),
)


def _around(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield a step with something done to its value, and a name for that."""
    if isinstance(node, ast.BinOp) or (
        isinstance(node, ast.Call) and getattr(node.func, "attr", "") in (*TWINS, "clip")
    ):
        step = ast.unparse(node)
        for source, words in AROUND:
            made = ast.parse(source.format("STEP"), mode="eval").body
            yield f"{step} {words}", _Named(node).visit(made)


class _Named(ast.NodeTransformer):
    """Puts a step where its name stands."""

    def __init__(self, step: ast.AST) -> None:
        self.step = step

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self.step if node.id == "STEP" else node


def _variants(node: ast.AST, names: list[str]) -> Iterator[ast.AST]:
    """Yield the nodes that may stand in the place of a node."""
    if isinstance(node, ast.BinOp):
        yield node.left
        yield node.right
        if isinstance(node.op, ast.Sub | ast.Div):
            yield ast.BinOp(node.right, node.op, node.left)
        if isinstance(node.op, OPERATORS):
            for other in OPERATORS:
                if not isinstance(node.op, other):
                    yield ast.BinOp(node.left, other(), node.right)
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
        for name in names:
            if name != node.id:
                yield ast.Name(name, ast.Load())
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        for value in (node.value + 1, node.value - 1, 2 * node.value):
            yield ast.Constant(value)
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARED:
        yield ast.Compare(node.left, [COMPARED[type(node.ops[0])]()], node.comparators)
    elif isinstance(node, ast.Call):
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name in TWINS:
            twin = copy.deepcopy(called)
            if isinstance(twin, ast.Attribute):
                twin.attr = TWINS[name]
            elif isinstance(twin, ast.Name):
                twin.id = TWINS[name]
            yield ast.Call(twin, node.args, node.keywords)
        if name == "clip" and len(node.args) == 3:
            yield node.args[0]


class _Replace(ast.NodeTransformer):
    def __init__(self, number: int, new: ast.AST) -> None:
        self.number, self.new, self.seen = number, new, -1

    def visit(self, node: ast.AST) -> ast.AST:
        self.seen += 1
        if self.seen == self.number:
            self.generic_visit(copy.deepcopy(node))  # keeps the numbers of the nodes behind it
            return self.new
        return self.generic_visit(node)


def _numbered(tree: ast.AST) -> list[ast.AST]:
    """Nodes in the order in which a transformer meets them."""
    found = [tree]
    for child in ast.iter_child_nodes(tree):
        found += _numbered(child)
    return found


def _sources(source: str) -> Iterator[tuple[str, str]]:
    """Names of changes, and the changed sources."""
    tree = ast.parse(source)
    function = tree.body[-1]
    arguments = [
        each.arg
        for node in ast.walk(function)
        if isinstance(node, ast.arguments)
        for each in node.args
        if each.arg != "self"
    ]
    stored = [
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    names = list(dict.fromkeys([*arguments, *stored]))
    for number, node in enumerate(_numbered(tree)):
        instead = (
            (f"as if {ast.unparse(new)} stood for {ast.unparse(node)}", new)
            for new in map(ast.fix_missing_locations, _variants(node, names))
        )
        for name, new in (*_around(node), *instead):
            fresh = ast.fix_missing_locations(copy.deepcopy(new))
            made = ast.fix_missing_locations(_Replace(number, fresh).visit(copy.deepcopy(tree)))
            yield name, ast.unparse(made)


@cache
def _made(source: str) -> tuple[Mistake, ...]:
    """All changes by rule of a source; none where one could loop for ever."""
    if "while " in source:
        return ()
    return tuple(Mistake(name, EXPLANATION, compiled(made)) for name, made in _sources(source))


def by_rule(library: Library) -> Iterator[tuple[Mistake, ...]]:
    """Each change by rule, alone."""
    for mistake in _made(library.answer):
        yield (mistake,)
