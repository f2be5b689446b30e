"""A change of a graph as a class."""

from __future__ import annotations

import abc
from typing import NamedTuple

from ...graph_module import GraphModule

__all__ = ["PassBase", "PassResult"]


class PassResult(NamedTuple):
    """Result of a pass.

    Parameters
    ----------
    graph_module
        The graph module afterwards.
    modified
        Whether the pass changed it.
    """

    graph_module: GraphModule
    modified: bool


class PassBase(abc.ABC):
    """A change of a graph: :meth:`call` makes it, and checks may stand before and after.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.fx.passes.infra.pass_base import PassBase, PassResult
    >>> class AddToSub(PassBase):
    ...     def call(self, graph_module):
    ...         for node in graph_module.graph.find_nodes(op="call_function", target=pyqref.add):
    ...             node.target = pyqref.sub
    ...         graph_module.recompile()
    ...         return PassResult(graph_module, True)
    >>> gm = pyqref.fx.symbolic_trace(lambda x: pyqref.add(x, 1))
    >>> AddToSub()(gm).graph_module(pyqref.tensor(3)).item()
    2
    """

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        """Check, change, check."""
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module: GraphModule) -> PassResult | None:
        """Make the change."""

    def requires(self, graph_module: GraphModule) -> None:  # noqa: B027  (a check is optional)
        """Raise if the graph is not one that the pass can change."""

    def ensures(self, graph_module: GraphModule) -> None:  # noqa: B027  (a check is optional)
        """Raise if the graph is not what the pass promises."""
