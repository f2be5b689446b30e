"""Recorder that turns actions on proxies into nodes of a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, TracebackType
from typing import Any

import numpy as np

from ..dtypes import device, dtype, layout, memory_format, qscheme
from .errors import SourceLine, explain, user_line
from .graph import Graph
from .node import Node, map_aggregate
from .proxy import Proxy, set_appending_tracer

__all__ = ["GraphAppendingTracer", "Scope", "TracerBase"]

CONSTANTS = (
    bool, int, float, complex, str, type(None), type(...), dtype, device, layout,
    memory_format, qscheme, FunctionType, BuiltinFunctionType,
)  # fmt: skip


@dataclass
class Scope:
    """Module that is being called.

    Attributes
    ----------
    module_path
        Its path from the root, empty for the root itself.
    module_type
        Its class.
    """

    module_path: str
    module_type: Any


class ScopeContextManager:
    """Enters a module's scope for the time of a ``with``."""

    def __init__(self, scope: Scope, current: Scope) -> None:
        self._scope = scope
        self._before = Scope(scope.module_path, scope.module_type)
        scope.module_path, scope.module_type = current.module_path, current.module_type

    def __enter__(self) -> Scope:
        return self._scope

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._scope.module_path = self._before.module_path
        self._scope.module_type = self._before.module_type


class TracerBase:
    """Makes nodes and the proxies that stand for them.

    Attributes
    ----------
    graph
        Where the nodes go.
    scope
        Which module is being called.
    called_from
        The line that asked for the trace, which is no line of the model.
    node_name_to_scope
        For each node, the path and class of the module in whose ``forward`` it was made.
    module_stack
        The modules under way, from the outermost: path to ``(path, class)``.
    """

    graph: Graph

    def __init__(self) -> None:
        self.scope = Scope("", None)
        self.called_from: SourceLine | None = None
        self.module_stack: dict[str, tuple[str, Any]] = {}
        self.node_name_to_scope: dict[str, tuple[str, Any]] = {}

    def create_node(
        self,
        kind: str,
        target: object,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: object = None,
    ) -> Node:
        """Append a node whose arguments hold nodes and constants only."""
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        self.node_name_to_scope[node.name] = (self.scope.module_path, self.scope.module_type)
        if self.module_stack:
            node.meta["nn_module_stack"] = dict(self.module_stack)
        source = user_line()
        if source not in (None, self.called_from) and kind not in ("placeholder", "output"):
            node.meta["source"] = source
        return node

    def proxy(self, node: Node) -> Proxy:
        """The stand-in for the value of a node."""
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: object,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: object = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:
        """Append a node whose arguments may hold proxies, and give a proxy of it."""
        node = self.create_node(
            kind, target, self.create_arg(tuple(args)), self.create_arg(kwargs), name, type_expr
        )
        return (proxy_factory_fn or self.proxy)(node)

    def create_arg(self, a: object) -> Any:
        """A value as an argument of a node: proxies become nodes, constants stay.

        Raises
        ------
        NotImplementedError
            A graph cannot hold it.
        """
        if isinstance(a, dict):
            for key in a:
                if isinstance(key, Proxy | Node):
                    raise explain("A traced value is the key of a dict", _node(key), "use a str")
        if isinstance(a, tuple | list | dict | slice):
            return map_aggregate(a, self._leaf)
        return self._leaf(a)

    def _leaf(self, a: Any) -> Any:
        if isinstance(a, Proxy):
            return a.node
        if isinstance(a, np.generic):
            return a.item()
        if isinstance(a, (Node, range, type, *CONSTANTS)):
            return a
        return self.create_constant(a)

    def create_constant(self, a: object) -> Any:
        """A value that is neither a proxy nor a plain constant, as an argument."""
        raise NotImplementedError(
            f"an argument of type {type(a).__module__}.{type(a).__name__} cannot stand in a "
            "graph; record the call of a function that makes it, with pyqref.fx.wrap"
        )

    # What a subclass may allow

    def to_bool(self, obj: Proxy) -> bool:
        """Called where a branch asks for a proxy's truth."""
        raise explain(
            "A branch (if, while, and, or, not, assert) depends on a traced value",
            obj.node,
            _instead_of_a_branch(obj.node),
            self.scope,
        )

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """Called where a proxy is iterated over."""
        raise explain(
            "A loop, * or ** runs over a traced value",
            obj.node,
            "index it, x[0], x[1], ..., or unpack it into names, a, b = x.chunk(2)",
            self.scope,
        )

    def keys(self, obj: Proxy) -> Proxy:
        """Called for the keys of a proxy."""
        return obj.__getattr__("keys")()


_SHAPES_AND_TYPES = frozenset({"shape", "ndim", "dtype", "device", "size", "dim", "numel"})


def _instead_of_a_branch(node: Node) -> str:
    """Return ways to rewrite a branch on the value of a node, which depend on its question."""
    asked, waiting = [], [node]
    while waiting:
        asked.append(waiting.pop())
        waiting.extend(each for each in asked[-1].all_input_nodes if each not in asked)
    if any(each.target in _SHAPES_AND_TYPES or _attribute(each) for each in asked):
        return (
            "let the branch ask something fixed, such as a setting of the module: shapes and types "
            "are not\n    known, either, while there is no data"
        )
    both = "compute both sides and choose with pyqref.where(condition, a, b)"
    inputs = [each.target for each in (node, *node.all_input_nodes) if each.op == "placeholder"]
    if not inputs:
        return both
    return (
        f"if {inputs[0]!r} is a setting, not a tensor, fix it: "
        f"pyqref.fx.symbolic_trace(model,\n    concrete_args={{{inputs[0]!r}: ...}}); else {both}"
    )


def _attribute(node: Node) -> bool:
    return node.target is getattr and node.args[1] in _SHAPES_AND_TYPES


def _node(value: Any) -> Any:
    return value.node if isinstance(value, Proxy) else value


class GraphAppendingTracer(TracerBase):
    """Appends to a graph where proxies are made by hand.

    Examples
    --------
    >>> from pyqref import fx
    >>> graph = fx.Graph()
    >>> x = fx.Proxy(graph.placeholder("x"), fx.GraphAppendingTracer(graph))
    >>> y = x + 1
    >>> [node.op for node in graph.nodes]
    ['placeholder', 'call_function']
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph


set_appending_tracer(GraphAppendingTracer)
