"""From a graph to the text of a Python function, one line a node.

After its last use a variable is set to None, so that the tensor it held can be freed.
"""

from __future__ import annotations

import keyword
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..dtypes import device
from .naming import Namespace, importable
from .node import Node, map_arg, type_text
from .side_effects import IN_PLACE_OPERATORS

__all__ = ["PythonCode", "TransformCode", "generate"]

#: From the lines of a body to other lines; see :meth:`pyqref.fx.Graph.on_generate_code`.
TransformCode = Callable[[list[str]], list[str]]

_BINARY = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%",
    "pow": "**", "matmul": "@", "lshift": "<<", "rshift": ">>", "and_": "&", "or_": "|",
    "xor": "^", "eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">=",
}  # fmt: skip
_UNARY = {"neg": "-", "pos": "+", "invert": "~"}


@dataclass
class PythonCode:
    """The text of a function and what it refers to.

    Attributes
    ----------
    src
        The text.
    globals
        Names that it uses, with their objects.
    lines
        The lines of the body, each with the node that it computes; None for what a transformer
        of code has added.
    """

    src: str
    globals: dict[str, Any]
    lines: list[tuple[Node | None, str]] = field(default_factory=list)


class _Globals:
    """The global names that the generated function uses."""

    def __init__(self, taken: Iterable[str]) -> None:
        self.objects: dict[str, Any] = {}
        self._names = Namespace()
        for name in taken:
            self._names.create_name(name)
        self._of: dict[int, str] = {}

    def root(self, name: str) -> None:
        """Make a top-level module such as ``pyqref`` or ``math`` known."""
        root = name.split(".")[0]
        if root != "builtins":
            self.objects[root] = __import__(root)

    def name(self, value: Callable[..., Any], hint: str) -> str:
        """The name under which the code can use an object."""
        public = importable(value)
        if public is not None:
            self.root(public)
            return public.removeprefix("builtins.")
        if id(value) not in self._of:
            self._of[id(value)] = self._names.create_name(hint)
            self.objects[self._of[id(value)]] = value
        return self._of[id(value)]


def generate(
    nodes: Iterable[Node],
    root: str = "self",
    name: str = "forward",
    transform: TransformCode | None = None,
) -> PythonCode:
    """Write the function.

    Parameters
    ----------
    nodes
        The nodes of a graph in order.
    root
        What the module is called in the text.
    name
        The name of the function.
    transform
        Makes other lines of the lines of the body.
    """
    nodes = list(nodes)
    known = _Globals(node.name for node in nodes)
    last_uses = _last_uses(nodes)
    arguments: list[tuple[Node | None, str]] = [(None, root)]
    returns = ""
    lines: list[tuple[Node | None, str]] = []
    for node in nodes:
        if node.op == "placeholder":
            arguments.append((node, _argument(node, known)))
            plain = node.target.lstrip("*")
            if plain != node.name:
                lines.append((node, f"{node.name} = {plain}"))
            continue
        if node.op == "output":
            returns = f" -> {_annotation(node.type, known)}" if node.type is not None else ""
            lines.append((node, f"return {_text(node.args[0], known)}"))
            continue
        kind = f" : {_annotation(node.type, known)}" if node.type is not None else ""
        line = f"{node.name}{kind} = {_expression(node, root, known)}"
        done = [each.name for each in last_uses.get(node, ())]
        if not node.users:
            done.append(node.name)
        if done:
            line += f";  {' = '.join(done)} = None"
        lines.append((node, line))
    if transform is not None:
        lines = _transformed(lines, transform)
    body = "\n".join(f"    {line}" for _, line in lines) or "    pass"
    wrapped = "".join(f'\npyqref.fx.wrap("{each}")' for each in _wrapped(nodes))
    if wrapped:
        known.root("pyqref")
    src = f"{wrapped or chr(10)}\n\ndef {name}({_signature(arguments)}){returns}:\n{body}\n"
    return PythonCode(src if wrapped else f"\n{src.lstrip()}", known.objects, lines)


def _transformed(
    lines: list[tuple[Node | None, str]], transform: TransformCode
) -> list[tuple[Node | None, str]]:
    """The lines that a transformer made; those that it left belong to their nodes still."""
    made = transform([f"{text}\n" for _, text in lines])
    if not isinstance(made, list) or not all(isinstance(each, str) for each in made):
        raise TypeError(
            f"a transformer of code must return a list of strings, got {type(made).__name__}"
        )
    left = list(lines)
    found: list[tuple[Node | None, str]] = []
    for text in "".join(made).splitlines():
        place = next((i for i, (_, each) in enumerate(left) if each == text), None)
        found.append((None if place is None else left[place][0], text))
        left = left if place is None else left[place + 1 :]
    return found


def _signature(arguments: list[tuple[Node | None, str]]) -> str:
    """The arguments in the order of a signature; ``*`` before those that go by name only."""

    def rank(argument: tuple[Node | None, str]) -> int:
        node, text = argument
        if node is not None and node.meta.get("keyword_only"):
            return 2
        return {"**": 3, "*": 1}.get(text[: len(text) - len(text.lstrip("*"))], 0)

    ordered = sorted(arguments, key=rank)
    ranks = [rank(each) for each in ordered]
    texts = [text for _, text in ordered]
    if 2 in ranks and 1 not in ranks:
        texts.insert(ranks.index(2), "*")
    return ", ".join(texts)


def _wrapped(nodes: list[Node]) -> list[str]:
    """Builtins that were recorded because they were wrapped; kept so for a later trace."""
    found = (node.target for node in nodes if node.op == "call_function")
    names = (each.__name__ for each in found if getattr(each, "__module__", "") == "builtins")
    return sorted({each for each in names if each != "getattr"})


def _last_uses(nodes: list[Node]) -> dict[Node, list[Node]]:
    """Return, for each node, the nodes whose values are not needed after it."""
    seen: set[Node] = set()
    found: dict[Node, list[Node]] = {}

    def note(used: Node) -> Node:
        if used not in seen:
            seen.add(used)
            found.setdefault(user, []).append(used)
        return used

    for user in reversed(nodes):
        map_arg((user.args, user.kwargs), note)
    return found


def _argument(node: Node, known: _Globals) -> str:
    kind = f" : {_annotation(node.type, known)}" if node.type is not None else ""
    default = f" = {_text(node.args[0], known)}" if node.args else ""
    return f"{node.target}{kind}{default}"


def _annotation(kind: Any, known: _Globals) -> str:
    if isinstance(kind, str):
        return repr(kind)
    if isinstance(kind, type) and not getattr(kind, "__args__", None):
        return known.name(kind, _hint(kind))
    return repr(type_text(kind))


def _expression(node: Node, root: str, known: _Globals) -> str:
    """The right-hand side of a node's line."""
    if node.op == "get_attr":
        return _attribute(root, node.target)
    if node.op == "call_module":
        return f"{_attribute(root, node.target)}({_call(node.args, node.kwargs, known)})"
    if node.op == "call_method":
        own = _text(node.args[0], known)
        arguments = _call(node.args[1:], node.kwargs, known)
        return f"{_attribute(own, node.target)}({arguments})"
    return _operator(node, known) or (
        f"{known.name(node.target, _hint(node.target))}({_call(node.args, node.kwargs, known)})"
    )


def _hint(target: Any) -> str:
    """``file_function`` for a user's function."""
    name = str(getattr(target, "__name__", type(target).__name__))
    module = str(getattr(target, "__module__", None) or "user").rpartition(".")[2].strip("_")
    return f"{module}_{'lambda' if name == '<lambda>' else name}"


def _operator(node: Node, known: _Globals) -> str | None:
    """Infix form, ``x[i]`` or ``x.name``, where the target has one."""
    args, name = node.args, getattr(node.target, "__name__", "")
    if node.kwargs:
        return None
    if node.target is getattr and len(args) == 2 and str(args[1]).isidentifier():
        return f"{_text(args[0], known)}.{args[1]}"
    if getattr(node.target, "__module__", "") != "_operator":
        return None
    if name in _BINARY and len(args) == 2:
        left, right = (_operand(each, known) for each in args)
        return f"{left} {_BINARY[name]} {right}"
    if name in _UNARY and len(args) == 1:
        return f"{_UNARY[name]}{_operand(args[0], known)}"
    if name == "getitem" and len(args) == 2:
        return f"{_operand(args[0], known)}[{_index(args[1], known)}]"
    if name in IN_PLACE_OPERATORS:
        known.root("operator")
    return None


def _operand(value: Any, known: _Globals) -> str:
    text = _text(value, known)
    return f"({text})" if text.startswith("-") else text


def _index(value: Any, known: _Globals) -> str:
    """An index as one would write it: ``:, 1:, None, ...``."""
    if isinstance(value, tuple) and type(value) is tuple and value:
        inner = ", ".join(_index(each, known) for each in value)
        return f"{inner}," if len(value) == 1 else inner
    if isinstance(value, slice):
        start, stop, step = (
            "" if each is None else _text(each, known)
            for each in (value.start, value.stop, value.step)
        )
        return f"{start}:{stop}" + (f":{step}" if step else "")
    return "..." if value is Ellipsis else _text(value, known)


def _attribute(base: str, path: str) -> str:
    """``base.a.b``; ``getattr(base.a, "0")`` where a step is no identifier."""
    for step in path.split("."):
        plain = step.isidentifier() and not keyword.iskeyword(step)
        base = f"{base}.{step}" if plain else f'getattr({base}, "{step}")'
    return base


def _call(args: tuple[Any, ...], kwargs: dict[str, Any], known: _Globals) -> str:
    positional = [_text(each, known) for each in args]
    if all(key.isidentifier() and not keyword.iskeyword(key) for key in kwargs):
        named = [f"{key} = {_text(each, known)}" for key, each in kwargs.items()]
    else:
        named = [f"**{_text(dict(kwargs), known)}"]
    return ", ".join([*positional, *named])


def _text(value: Any, known: _Globals) -> str:
    """A value as Python text."""
    if isinstance(value, Node):
        return value.name
    if isinstance(value, tuple):
        inner = ", ".join(_text(each, known) for each in value)
        whole = f"({inner},)" if len(value) == 1 else f"({inner})"
        if type(value) is tuple:
            return whole
        maker = known.name(type(value), type(value).__name__)
        return f"{maker}{whole}" if hasattr(value, "_fields") else f"{maker}({whole})"
    if isinstance(value, list):
        return f"[{', '.join(_text(each, known) for each in value)}]"
    if isinstance(value, dict):
        pairs = (f"{_text(key, known)}: {_text(each, known)}" for key, each in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, slice):
        parts = (_text(each, known) for each in (value.start, value.stop, value.step))
        return f"slice({', '.join(parts)})"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    if isinstance(value, np.generic):
        return _text(value.item(), known)
    if value is None or value is Ellipsis or isinstance(value, bool | int | float | complex | str):
        return repr(value)
    return _object(value, known)


def _object(value: Any, known: _Globals) -> str:
    """A function, a type, a dtype, or any other object under a global name."""
    if isinstance(value, type) or callable(value):
        return known.name(value, _hint(value))
    text = repr(value)
    if isinstance(value, device):
        text = f"pyqref.{text}"
    if text.startswith("pyqref.") and "\n" not in text:
        known.root("pyqref")
        return text
    return known.name(value, f"{type(value).__name__.lower()}_constant")
