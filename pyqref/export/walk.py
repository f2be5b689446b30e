"""Running a model once, operation by operation, and lowering each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..fx import GraphModule, TraceError, Tracer
from ..fx.node import map_aggregate, map_arg
from ..nn.modules import Module
from ..nn.quantized import QFunctional
from .problems import Problem, Unsupported, UnsupportedError
from .table import title
from .wire import Wire, followed, has_wire, is_tensor, values_of

__all__ = ["Lower", "Shapes", "Walk", "traced"]

#: Is given an operation, its path, its arguments with wires in them, and wires for its results.
Lower = Callable[[Any, str, Any, Any, Any], None]

#: The shapes of what each operation gave, or a number, by its path.
Shapes = dict[str, Any]


@contextmanager
def traced(model: Module, function: str) -> Iterator[None]:
    """Say of code that cannot be traced that it cannot be exported, by which function."""
    try:
        yield
    except TraceError as error:
        reason = f"its code decides by values of tensors: {error}".splitlines()[0]
        raise UnsupportedError((Problem("", type(model).__name__, reason),), function) from error


class LayerTracer(Tracer):
    """Keeps the layers of this package whole, and traces what they stand in."""

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """True for layers and observers; not for containers and graphs."""
        if isinstance(m, GraphModule):
            return True  # walked on its own, so that its nodes keep their names
        if type(m).__module__.startswith("pyqref.quantization"):
            return type(m).__name__ != "QuantWrapper"
        return super().is_leaf_module(m, module_qualified_name)


def is_whole(module: Module) -> bool:
    """Return True if a module is lowered as one layer."""
    return not isinstance(module, GraphModule) and LayerTracer().is_leaf_module(module, "")


def shapes_of(value: object) -> object:
    """Shapes of tensors in nested values; other values as they are."""
    return map_aggregate(value, lambda each: tuple(each.shape) if is_tensor(each) else each)


class Walk:
    """Runs the graph of a model, and the graphs inside, with lowerings or without.

    Parameters
    ----------
    lower
        Takes an operation down, and gives names to the wires of its results; it may raise
        ``Unsupported``. None to look at shapes alone.
    other
        Shapes for another batch, which tell what follows the batch; None where nothing does.
    step
        Is called after each operation.

    Attributes
    ----------
    shapes : dict
        What was seen.
    problems : list of Problem
    """

    def __init__(
        self,
        lower: Lower | None = None,
        other: Shapes | None = None,
        step: Callable[[], None] = lambda: None,
    ) -> None:
        self.lower, self.other, self.step = lower, other, step
        self.shapes: Shapes = {}
        self.problems: list[Problem] = []
        self._paths: dict[str, int] = {}
        self._graphs: dict[int, Any] = {}

    def run(self, model: Module, inputs: tuple[Any, ...], path: str = "") -> object:
        """Run the model on inputs, which are wires where operations are lowered."""
        if is_whole(model):
            return self._computed("call_module", model, type(model).__name__, inputs, {})
        graph, scopes = self._graph(model)
        prefix = f"{path}." if path else ""
        env: dict[Any, Any] = {}
        given = iter(inputs)
        lasts = _last_uses(graph)
        for node in graph.nodes:
            args, kwargs = map_arg((node.args, node.kwargs), env.__getitem__)
            if node.op == "placeholder":
                default = args[0] if args else None
                env[node] = next(given, default)
            elif node.op == "get_attr":
                env[node] = _attribute(model, node.target)
            elif node.op == "output":
                return args[0]
            else:
                own = self._path(node, model, prefix, scopes)
                env[node] = self._operation(model, node, own, prefix, args, kwargs)
            for used in lasts.get(node, ()):
                env.pop(used, None)
        return None

    def count(self, model: Module) -> int:
        """How many operations a model has."""
        found = 0
        if is_whole(model):
            return 1
        for node in self._graph(model)[0].nodes:
            inner = model.get_submodule(node.target) if node.op == "call_module" else None
            if inner is not None and not is_whole(inner):
                found += self.count(inner)
            else:
                found += node.op.startswith("call")
        return found

    def _graph(self, model: Module) -> tuple[Any, dict[str, Any]]:
        if isinstance(model, GraphModule):
            return model.graph, {}
        known = self._graphs.get(id(model))
        if known is None:
            tracer = LayerTracer()
            known = self._graphs[id(model)] = tracer.trace(model), tracer.node_name_to_scope
        return known

    def _path(self, node: Any, model: Module, prefix: str, scopes: dict[str, Any]) -> str:
        """The path of a module, or of the node; counted where it runs more than once."""
        name = node.target if node.op == "call_module" else node.name
        if node.op != "call_module":
            scope = scopes.get(node.name, ("", None))[0]
            name = f"{scope}.{node.name}" if scope else node.name
            for user in node.users:  # an operation of a QFunctional
                if user.op == "call_module" and user.target.endswith(".activation_post_process"):
                    owner = user.target.rpartition(".")[0]
                    if isinstance(model.get_submodule(owner), QFunctional):
                        name = owner
        path = prefix + name
        count = self._paths[path] = self._paths.get(path, -1) + 1
        return f"{path}_{count}" if count else path

    def _operation(
        self, model: Module, node: Any, path: str, prefix: str, args: Any, kwargs: Any
    ) -> Any:
        what = node.target
        if node.op == "call_module":
            what = model.get_submodule(node.target)
            if not is_whole(what):
                return self.run(what, args, prefix + node.target)
        if node.target is getattr and not isinstance(args[0], Wire):
            return getattr(*args)
        if _takes_apart(what, args):
            return what(*args, **kwargs)
        return self._computed(node.op, what, path, args, kwargs)

    def _computed(self, op: str, what: Any, path: str, args: Any, kwargs: Any) -> Any:
        """Run an operation and lower it."""
        result = _called(op, what, *values_of((args, kwargs)))
        self.shapes[path] = shapes_of(result)
        self.step()
        if self.lower is None:
            return result
        return self._lowered(self.lower, what, path, args, kwargs, result)

    def _lowered(
        self, lower: Lower, what: Any, path: str, args: Any, kwargs: Any, result: Any
    ) -> Any:
        other = self.shapes[path] if self.other is None else self.other.get(path)
        if not _holds_tensor(result):
            return followed(result, other)
        if not has_wire((args, kwargs)):
            return result
        name = title(what)
        out = _wires(result, other)
        try:
            lower(what, path, args, kwargs, out)
        except Unsupported as error:
            self.problems.append(Problem(path, name, str(error)))
        except (LookupError, TypeError, ValueError) as error:
            reason = f"not with these arguments: {error}".splitlines()[0]
            self.problems.append(Problem(path, name, reason))
        return out


def _takes_apart(what: Any, args: Any) -> bool:
    """Return True if a function takes an element out of a tuple of results."""
    return title(what) == "getitem" and bool(args) and isinstance(args[0], tuple | list | dict)


def _called(op: str, what: Any, args: Any, kwargs: Any) -> Any:
    if op == "call_method":
        return getattr(args[0], what)(*args[1:], **kwargs)
    return what(*args, **kwargs)


def _last_uses(graph: Any) -> dict[Any, list[Any]]:
    """After which node each value is no longer needed."""
    seen: set[Any] = set()
    found: dict[Any, list[Any]] = {}
    for user in reversed(graph.nodes):
        for used in user.all_input_nodes:
            if used not in seen:
                seen.add(used)
                found.setdefault(user, []).append(used)
    return found


def _attribute(model: Module, target: str) -> Any:
    found: Any = model
    for part in target.split("."):
        found = getattr(found, part)
    return found


def _holds_tensor(value: Any) -> bool:
    found: list[Any] = []
    map_aggregate(value, lambda each: found.append(each) if is_tensor(each) else None)
    return bool(found)


def _wires(result: Any, other: Any) -> Any:
    """Wires for the tensors of a result."""
    if is_tensor(result):
        shape = tuple(result.shape)
        changed = other if isinstance(other, tuple) and len(other) == len(shape) else shape
        return Wire("", result, tuple(n for n, size in enumerate(shape) if size != changed[n]))
    if isinstance(result, tuple | list):
        others = other if isinstance(other, tuple | list) else (None,) * len(result)
        wires = [_wires(each, one) for each, one in zip(result, others, strict=True)]
        return type(result)(*wires) if hasattr(result, "_fields") else tuple(wires)
    return result
