"""A transformer: an interpreter whose values are proxies, so that running it writes a new graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._typing import AnyModule, Module
from .graph import Graph
from .graph_module import GraphModule
from .interpreter import Interpreter
from .node import Node, map_aggregate
from .proxy import Proxy
from .tracer import Tracer

__all__ = ["Transformer"]


class _TransformerTracer(Tracer):
    def __init__(self, graph: Graph, module: Module) -> None:
        super().__init__()
        self.graph = graph
        self.root = module
        self._tensor_paths: dict[int, str] = {}

    def is_leaf_module(self, m: AnyModule, module_qualified_name: str) -> bool:
        return True


class Transformer(Interpreter):
    """Makes a new graph module; override a method to change what becomes of an opcode.

    Parameters
    ----------
    module
        The graph module to transform.

    Examples
    --------
    >>> import pyqref
    >>> class Sigmoid(Transformer):
    ...     def call_function(self, target, args, kwargs):
    ...         if target is pyqref.relu:
    ...             return pyqref.sigmoid(*args)
    ...         return super().call_function(target, args, kwargs)
    >>> module = pyqref.fx.symbolic_trace(lambda x: pyqref.relu(x) * 2)
    >>> print(Sigmoid(module).transform().code.strip())
    def forward(self, x):
        sigmoid = pyqref.sigmoid(x);  x = None
        mul = sigmoid * 2;  sigmoid = None
        return mul

    Source: documentation of ``torch.fx.Transformer``.
    """

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph(tracer_cls=module._tracer_cls)
        self.tracer = _TransformerTracer(self.new_graph, module)

    def placeholder(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
        """An input of the new graph."""
        default = {"default_value": args[0]} if args else {}
        return Proxy(self.new_graph.placeholder(target, **default), self.tracer)

    def get_attr(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
        """A node that fetches the attribute."""
        return Proxy(self.new_graph.get_attr(target), self.tracer)

    def call_module(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A node that calls the submodule."""
        return self.tracer.create_proxy("call_module", target, args, kwargs)

    def call_function(
        self, target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """A node that calls the function."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def call_method(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
        """A node that calls the method."""
        return self.tracer.create_proxy("call_method", target, args, kwargs)

    def run_node(self, n: Node) -> Any:
        """Run a node; what it makes keeps its annotation and its line."""
        result = super().run_node(n)
        if isinstance(result, Proxy):
            if result.node.type is None:
                result.node.type = n.type
            for key, value in n.meta.items():
                result.node.meta[key] = value
        return result

    def transform(self) -> GraphModule:
        """Run the graph on proxies and make a module of what they recorded."""
        result = super().run()
        output = self.graph.output_node()
        value = map_aggregate(result, lambda a: a.node if isinstance(a, Proxy) else a)
        self.new_graph.output(value, output.type).meta.update(output.meta)
        return GraphModule(self.module, self.new_graph, type(self.module).__name__)
