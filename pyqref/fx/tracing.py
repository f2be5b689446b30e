"""From a model to a graph module in one step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..nn.modules.module import Module
from .graph_module import GraphModule
from .tracer import Tracer

__all__ = ["symbolic_trace"]


def symbolic_trace(
    root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None
) -> GraphModule:
    """Record a module or function as a graph.

    The model is run once with stand-ins for its inputs; what it does with them becomes the
    graph. Loops over numbers and branches on settings are carried out on the way, those on
    inputs raise.

    Parameters
    ----------
    root
        The module or function.
    concrete_args
        Arguments that are to be fixed at these values.

    Returns
    -------
    GraphModule
        It shares parameters and leaf modules with ``root``.

    Raises
    ------
    TraceError
        The model asks for a value that is not known while it is traced.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
    >>> print(symbolic_trace(model).graph)
    graph():
        %input_1 : [num_users=1] = placeholder[target=input]
        %_0 : [num_users=1] = call_module[target=0](args = (%input_1,), kwargs = {})
        %_1 : [num_users=1] = call_module[target=1](args = (%_0,), kwargs = {})
        return _1

    Source: documentation of ``torch.fx.symbolic_trace``.
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else _function_name(root)
    return GraphModule(tracer.root, graph, name)


def _function_name(function: Callable[..., Any]) -> str:
    name = str(getattr(function, "__name__", type(function).__name__))
    return name if name.isidentifier() else "GraphModule"
