"""Prepared models on their way to another process, graphs included."""

from __future__ import annotations

import io
import pickle
import sys
from typing import Any

from pyqref.fx.graph import Graph
from pyqref.fx.graph_module import GraphModule
from pyqref.fx.node import Node, map_arg
from pyqref.nn.modules.module import Module

__all__ = ["pack", "unpack"]


class _Place:
    """Stands for a node among the arguments of another one."""

    def __init__(self, name: str) -> None:
        self.name = name


def pack(model: Module) -> bytes:
    """Return the bytes of which :func:`unpack` makes the model again, in another process.

    Raises
    ------
    TypeError
        Something in the model cannot be pickled.
    """
    file = io.BytesIO()
    try:
        _pickler()(file, protocol=5).dump(model)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(
            "calibrate: the model cannot be sent to other processes "
            f"({type(error).__name__}: {error}); define its classes and functions in a module "
            "of their own, or use workers=1"
        ) from error
    return file.getvalue()


def unpack(packed: bytes | memoryview) -> Module:
    """Return the model that :func:`pack` was given."""
    model: Module = pickle.loads(packed)
    return model


def _pickler() -> Any:
    """The pickler that knows most: cloudpickle's takes classes of a script as well."""
    try:
        from cloudpickle import CloudPickler as Base
    except ImportError:
        try:
            from joblib.externals.cloudpickle import CloudPickler as Base
        except ImportError:
            Base = pickle.Pickler

    class Pickler(Base):
        def reducer_override(self, obj: Any) -> Any:
            if isinstance(obj, GraphModule):
                return _rebuilt, _parts(obj)
            override = getattr(super(), "reducer_override", None)
            return NotImplemented if override is None else override(obj)

    return Pickler


def _parts(module: GraphModule) -> tuple[Any, ...]:
    """The class, its name, the attributes and the nodes of a graph module."""
    kind = next(each for each in type(module).__mro__ if _is_importable(each))
    state = {key: value for key, value in module.__dict__.items() if key not in _MADE_ANEW}
    nodes = []
    for node in module.graph.nodes:
        args, kwargs = map_arg((node.args, node.kwargs), lambda each: _Place(each.name))
        nodes.append((node.op, node.target, args, kwargs, node.name, node.type))
    return kind, type(module).__name__, state, nodes


#: Attributes of a graph module that its graph brings.
_MADE_ANEW = {"_graph", "_code", "_source", "forward"}


def _is_importable(kind: type) -> bool:
    home: Any = sys.modules.get(kind.__module__)
    return getattr(home, kind.__qualname__, None) is kind


def _rebuilt(kind: Any, name: str, state: dict[str, Any], nodes: list[Any]) -> GraphModule:
    graph = Graph()
    made: dict[str, Node] = {}
    for op, target, args, kwargs, wish, annotation in nodes:
        args, kwargs = _with_nodes((args, kwargs), made)
        made[wish] = graph.create_node(op, target, args, kwargs, wish, annotation)
    module: GraphModule = kind.__new__(kind)
    type(module).__name__ = type(module).__qualname__ = name
    module.__dict__.update(state)
    module.graph = graph
    return module


def _with_nodes(value: Any, made: dict[str, Node]) -> Any:
    if isinstance(value, _Place):
        return made[value.name]
    if isinstance(value, tuple | list):
        inner = [_with_nodes(each, made) for each in value]
        return type(value)(*inner) if hasattr(value, "_fields") else type(value)(inner)
    if isinstance(value, dict):
        return {key: _with_nodes(each, made) for key, each in value.items()}
    if isinstance(value, slice):
        return slice(*(_with_nodes(each, made) for each in (value.start, value.stop, value.step)))
    return value
