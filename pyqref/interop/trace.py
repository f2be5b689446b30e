"""The forward of a module of ``torch`` as a list of steps, by ``torch.fx``."""

from __future__ import annotations

import inspect
import itertools
import operator
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pyqref._typing import AnyModule, Node
from pyqref.dtypes import device
from pyqref.tensor import Tensor

from .arrays import is_torch, to_value
from .functions import MissingError, attribute_exists, check_call, function_of
from .mirror import STATIC
from .torch_names import object_of_torch
from .traced import Program, Result, Step
from .translation import is_users

__all__ = ["line_of", "trace_module"]

_FUNCTIONAL = "torch.ao.nn.quantized.modules.functional_modules"
_CREATION = ("arange", "empty", "eye", "full", "linspace", "ones", "tensor", "zeros")
_RANDOM = ("rand", "randint", "randn", "randperm")
_ASSERTIONS = ("eq", "_assert", "_assert_is_none")

_PLACE = re.compile(r'File "(.*)", line (\d+)')

Programs = dict[tuple[frozenset[str], bool], Program | str]


def trace_module(
    module: AnyModule, problem: Callable[[TypeError], None]
) -> tuple[inspect.Signature, Programs]:
    """Record the forward of one module; its submodules are steps, not looked into.

    Parameters
    ----------
    module
        A module of ``torch``. It is left as it was.
    problem
        Called with each thing that has no counterpart here.

    Returns
    -------
    tuple
        The signature of the forward, and a program for each mode and each choice of optional
        arguments: none, one, two, or all of them.
    """
    signature = inspect.signature(module.forward)
    optional = [
        name
        for name, each in signature.parameters.items()
        if each.default is not inspect.Parameter.empty
    ]
    sizes = sorted({0, 1, 2, len(optional)} & set(range(len(optional) + 1)))
    choices = [frozenset(c) for size in sizes for c in itertools.combinations(optional, size)]
    programs: Programs = {
        (given, training): _record(
            module, _fixed(signature, optional, given), training, signature, problem
        )
        for given, training in itertools.product(choices, (True, False))
    }
    reasons = [each for each in programs.values() if isinstance(each, str)]
    if len(reasons) == len(programs):
        problem(TypeError(reasons[0]))
    return signature, programs


def _record(
    module: Any,
    fixed: dict[str, Any],
    training: bool,
    signature: inspect.Signature,
    problem: Callable[[TypeError], None],
) -> Program | str:
    """Trace once; return a program, or the reason why there is none."""
    try:
        graph, constants = _graph(module, fixed, training)
    except Exception as error:
        text = str(error).strip().splitlines()
        return f"torch.fx cannot trace it: {text[0] if text else type(error).__name__}"
    return _program(graph, constants, signature, problem)


def _fixed(
    signature: inspect.Signature, optional: list[str], given: frozenset[str]
) -> dict[str, Any]:
    """The arguments whose values are known: defaults, and for switches the opposite of them."""
    defaults = {name: signature.parameters[name].default for name in optional}
    return {
        name: default if name not in given else not default
        for name, default in defaults.items()
        if name not in given or isinstance(default, bool)
    }


def _graph(module: Any, fixed: dict[str, Any], training: bool) -> tuple[Any, dict[str, Any]]:
    """The graph that ``torch.fx`` records, and the constant tensors in it by name."""
    from torch import fx

    class Tracer(fx.Tracer):
        """Every submodule is a leaf; buffers are read when the steps run."""

        proxy_buffer_attributes = True
        record_stack_traces = True

        def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
            return True

    tracer = Tracer()
    before, mode = set(vars(module)), module.training
    module.training = training
    try:
        with _recorded(module, tracer):
            graph = tracer.trace(module, concrete_args=fixed or None)
    finally:
        module.training = mode
        # Constant tensors were put on the module as attributes.
        constants = {name: vars(module).pop(name) for name in set(vars(module)) - before}
    return graph, constants


@contextmanager
def _recorded(module: Any, tracer: Any) -> Iterator[None]:
    """Let calls be steps that ``torch.fx`` would look into, or work out at once.

    These are the methods of a ``FloatFunctional``, such as ``self.skip.add(a, b)``; functions
    that make tensors, such as ``torch.zeros(x.shape[0])``; and random numbers.
    """
    import torch
    from torch import fx

    def operation(method: Callable[..., Any]) -> Callable[..., Any]:
        def record(self: Any, *args: Any, **kwargs: Any) -> Any:
            def target() -> None:
                """Carry the name of the method and the path of its object; never called."""

            target.__name__ = method.__name__
            target.path = tracer.path_of_module(self)  # type: ignore[attr-defined]
            return tracer.create_proxy("call_function", target, args, kwargs)

        return record

    def creation(function: Callable[..., Any]) -> Callable[..., Any]:
        def record(*args: Any, **kwargs: Any) -> Any:
            unknown: list[Any] = []
            fx.node.map_aggregate((args, kwargs), unknown.append)
            if function.__name__ in _RANDOM or any(isinstance(x, fx.Proxy) for x in unknown):
                return tracer.create_proxy("call_function", function, args, kwargs)
            return function(*args, **kwargs)

        return record

    classes = {type(each) for each in module.modules() if type(each).__module__ == _FUNCTIONAL}
    patched: list[tuple[Any, str, Any, Any]] = [
        (cls, name, method, operation(method))
        for cls in classes
        for name, method in vars(cls).items()
        if inspect.isfunction(method) and not name.startswith("_") and name != "forward"
    ]
    patched += [
        (torch, name, getattr(torch, name), creation(getattr(torch, name)))
        for name in (*_CREATION, *_RANDOM)
    ]
    try:
        for owner, name, _, replacement in patched:
            setattr(owner, name, replacement)
        yield
    finally:
        for owner, name, original, _ in patched:
            setattr(owner, name, original)


def _program(
    graph: Any,
    constants: dict[str, Any],
    signature: inspect.Signature,
    problem: Callable[[TypeError], None],
) -> Program:
    """The steps of a graph."""
    nodes = _without_assertions(graph, signature)
    last: dict[Any, str] = {}
    for node in nodes:
        for used in node.all_input_nodes:
            last[used] = node.name
    forget: dict[str, list[str]] = {}
    for used, by in last.items():
        forget.setdefault(by, []).append(_name(used))
    steps: list[Step] = []
    for node in nodes:
        if node.op in ("placeholder", "output"):
            continue
        step = _step(node, constants, tuple(forget.get(node.name, ())), problem)
        if step is not None:
            steps.append(step)
    return Program(tuple(steps), _argument(nodes[-1].args[0]))


def _step(
    node: Any,
    constants: dict[str, Any],
    forget: tuple[str, ...],
    problem: Callable[[TypeError], None],
) -> Step | None:
    """The step that a node stands for."""
    try:
        args, kwargs = _argument(node.args), _argument(dict(node.kwargs))
        kind, target = _target(node, args, kwargs, constants)
    except TypeError as error:
        problem(type(error)(f"{error}{line_of(node)}"))
        return None
    return Step(node.name, kind, target, args, kwargs, forget)


def line_of(node: Node) -> str:
    """Return the user's line that made a node, in parentheses, or an empty text."""
    trace = (node.stack_trace or "").strip().splitlines()
    places = [_PLACE.match(each.strip()) for each in trace]
    found = [each for each in places if each is not None]
    return f" ({found[-1][1]}:{found[-1][2]})" if found else ""


def _without_assertions(graph: Any, signature: inspect.Signature) -> list[Any]:
    """The nodes, less inputs that have a fixed value and the assertions that they have it."""
    dropped: set[Any] = set()
    for node in graph.nodes:
        fixed = node.op == "placeholder" and _name(node) not in signature.parameters
        assertion = (
            node.op == "call_function"
            and node.target.__name__ in _ASSERTIONS
            and any(used in dropped for used in node.all_input_nodes)
        )
        if fixed or assertion:
            dropped.add(node)
    return [node for node in graph.nodes if node not in dropped]


def _target(node: Any, args: Any, kwargs: Any, constants: dict[str, Any]) -> tuple[str, Any]:
    """Kind and target of the step that a node stands for."""
    if node.op == "call_module":
        return "module", node.target
    if node.op == "get_attr":
        if node.target in constants:
            return "constant", to_value(constants[node.target])
        return "attribute", node.target
    if node.op == "call_method":
        if not attribute_exists(node.target):
            raise MissingError(
                f"calls the method {node.target} of a tensor, which pyqref does not have"
            )
        method = getattr(Tensor, node.target, None)
        if method is not None:
            check_call(method, args, kwargs, f"the method {node.target} of a tensor")
        return "method", node.target
    path = getattr(node.target, "path", None)
    if path is not None:
        return "operation", (path, node.target.__name__)
    function = _function(node.target)
    if function is getattr and isinstance(args[1], str) and not attribute_exists(args[1]):
        raise MissingError(f"reads the attribute {args[1]} of a tensor, which pyqref does not have")
    if function not in (getattr, operator.getitem):
        check_call(function, args, kwargs, node.target.__name__)
    return "function", function


def _function(target: Any) -> Any:
    """The function of the same name, or the user's own, translated."""
    if is_users(target):
        return STATIC.value(target)
    if (target.__module__, target.__name__) == ("torch", "_assert"):
        return object_of_torch(target)
    return function_of(target)


def _name(node: Any) -> str:
    """Return the name of a node's result; an input is named as in the signature."""
    return node.target.lstrip("*") if node.op == "placeholder" else node.name


def _argument(value: Any) -> Any:
    """An argument of a node, with :class:`Result` in the place of other nodes."""
    if is_torch(value, "Node"):
        return Result(_name(value))
    if isinstance(value, tuple | list):
        return (tuple if isinstance(value, tuple) else list)(_argument(each) for each in value)
    if isinstance(value, dict):
        return {key: _argument(each) for key, each in value.items()}
    if isinstance(value, slice):
        return slice(*(_argument(each) for each in (value.start, value.stop, value.step)))
    if value is Ellipsis or isinstance(value, complex | range):
        return value
    if is_torch(value, "device"):
        return device(str(value))
    return to_value(value)
