"""Graph modules that keep attributes of the model that they were made from.

The workflow itself gives plain :class:`~pyqref.fx.GraphModule`; earlier versions of ``torch``
gave these, and code that was written for them names them.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyqref._typing import Module
from pyqref.fx import Graph, GraphModule

__all__ = [
    "FusedGraphModule",
    "ObservedGraphModule",
    "ObservedStandaloneGraphModule",
    "QuantizedGraphModule",
]


class FusedGraphModule(GraphModule):
    """A graph module with some attributes of its root.

    Parameters
    ----------
    root, graph
        See :class:`~pyqref.fx.GraphModule`.
    preserved_attr_names
        Attributes of ``root`` to be taken over, where it has them; copies have them too.

    Examples
    --------
    >>> import copy
    >>> import pyqref
    >>> model = pyqref.nn.Linear(2, 2)
    >>> model.note = "mine"
    >>> graph = pyqref.fx.symbolic_trace(pyqref.nn.Sequential(model)).graph
    >>> root = pyqref.nn.Sequential(model)
    >>> root.note = "kept"
    >>> copy.deepcopy(FusedGraphModule(root, graph, {"note"})).note
    'kept'
    """

    preserved_attr_names: set[str]

    def __init__(
        self, root: Module, graph: Graph, preserved_attr_names: Iterable[str] = ()
    ) -> None:
        names = set(preserved_attr_names)
        kept = {name: getattr(root, name) for name in names if hasattr(root, name)}
        super().__init__(root, graph, next(k.__name__ for k in type(self).__mro__[1:]))
        self.preserved_attr_names = names
        for name, value in kept.items():
            setattr(self, name, value)


class ObservedGraphModule(FusedGraphModule):
    """A prepared graph module; see :class:`FusedGraphModule`."""


class ObservedStandaloneGraphModule(ObservedGraphModule):
    """A prepared part that is quantized as a model of its own."""


class QuantizedGraphModule(FusedGraphModule):
    """A converted graph module; see :class:`FusedGraphModule`."""
