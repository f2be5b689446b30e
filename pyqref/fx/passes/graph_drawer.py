"""Pictures of graphs by the class that torch has for them."""

from __future__ import annotations

from typing import Any

from ..drawing import GraphDrawing, draw
from ..graph_module import GraphModule

__all__ = ["FxGraphDrawer"]


class FxGraphDrawer:
    """Draws a graph and the graphs of the modules that it calls.

    Where torch gives objects of the package pydot, the methods give drawings of
    :func:`pyqref.fx.draw`, which need no package: ``save(path)`` writes one.

    Parameters
    ----------
    graph_module
        What is drawn.
    name
        Of the drawing.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.fx.passes.graph_drawer import FxGraphDrawer
    >>> gm = pyqref.fx.symbolic_trace(pyqref.nn.Sequential(pyqref.nn.Linear(3, 2)))
    >>> FxGraphDrawer(gm, "net").get_dot_graph().dot.startswith("digraph")
    True
    """

    def __init__(self, graph_module: GraphModule, name: str) -> None:
        if not isinstance(graph_module, GraphModule):
            raise TypeError(
                f"FxGraphDrawer: graph_module must be a GraphModule, got a "
                f"{type(graph_module).__name__}; symbolic_trace(model) makes one"
            )
        self._name = name
        self._drawings = {name: draw(graph_module)}
        for node in graph_module.graph.nodes:
            if node.op == "call_module":
                inner: Any = graph_module.get_submodule(str(node.target))
                if isinstance(inner, GraphModule):
                    self._drawings[f"{name}_{node.target}"] = draw(inner)

    def get_dot_graph(self, submod_name: str | None = None) -> GraphDrawing:
        """The drawing of the graph, or of a graph module that it calls."""
        if submod_name is None:
            return self.get_main_dot_graph()
        return self.get_submod_dot_graph(submod_name)

    def get_main_dot_graph(self) -> GraphDrawing:
        """The drawing of the graph itself."""
        return self._drawings[self._name]

    def get_submod_dot_graph(self, submod_name: str) -> GraphDrawing:
        """The drawing of a graph module that it calls."""
        found = self._drawings.get(f"{self._name}_{submod_name}")
        if found is None:
            known = ", ".join(each for each in self._drawings if each != self._name) or "none"
            raise KeyError(f"no drawing of {submod_name!r}; there is {known}")
        return found

    def get_all_dot_graphs(self) -> dict[str, GraphDrawing]:
        """All drawings by name."""
        return dict(self._drawings)
