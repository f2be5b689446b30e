"""The tracer: runs a model once with proxies and writes down what happens."""

from __future__ import annotations

import builtins
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from .._typing import Node
from ..nn.modules.container import Sequential
from ..nn.modules.hooks import CallsHooks
from ..nn.modules.members import Members
from ..nn.modules.module import Module
from ..nn.parameter import Parameter
from ..tensor.base import TensorBase, wrap
from .arguments import annotation, arguments_of_root
from .errors import user_line
from .graph import Graph
from .interception import find_stand_in, intercepting
from .patching import Patcher
from .proxy import ParameterProxy, Proxy
from .recorder import Scope, ScopeContextManager, TracerBase
from .wrapping import WRAPPED_NAMES, wrapped_globals

__all__ = ["Tracer"]


class Tracer(TracerBase):
    """Records a model as a graph.

    Subclass it to decide which modules stay whole (:meth:`is_leaf_module`), or what a
    branch or loop over a traced value means (:meth:`to_bool`, :meth:`iter`).

    Parameters
    ----------
    autowrap_modules
        Modules whose functions are recorded when called with a proxy, ``math`` by default.
    autowrap_functions
        Further functions that are.
    param_shapes_constant
        Treat the shapes of parameters as known numbers.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> class Block(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.layer = nn.Linear(2, 2)
    ...     def forward(self, x):
    ...         return self.layer(x).relu()
    >>> class KeepBlocks(Tracer):
    ...     def is_leaf_module(self, m, module_qualified_name):
    ...         return isinstance(m, Block) or super().is_leaf_module(m, module_qualified_name)
    >>> model = nn.Sequential(Block(), Block())
    >>> [node.name for node in Tracer().trace(model).nodes]
    ['input_1', '_0_layer', 'relu', '_1_layer', 'relu_1', 'output']
    >>> [node.name for node in KeepBlocks().trace(model).nodes]
    ['input_1', '_0', '_1', 'output']

    Source: documentation of ``torch.fx.Tracer``.
    """

    #: Whether buffers are traced as nodes at once, not only when they meet a proxy.
    proxy_buffer_attributes = False

    def __init__(
        self,
        autowrap_modules: tuple[ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        super().__init__()
        self.autowrap_modules = autowrap_modules
        functions = [f for m in autowrap_modules for n, f in vars(m).items() if n[0] != "_"]
        recorded = map(_recorded, (*functions, *autowrap_functions))
        self._autowrapped = {id(each): each for each in recorded if callable(each)}
        self.param_shapes_constant = param_shapes_constant
        self.root: Any = None
        self.submodule_paths: dict[Any, str] = {}

    # What a subclass may decide

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Return True if a module is recorded as one call, not traced through.

        True for the modules of ``pyqref.nn`` but ``Sequential``; the fused modules of
        ``nn.intrinsic`` are leaves, too.
        """
        kind: str = type(m).__module__
        if not kind.startswith(("pyqref.nn.", "pyqref.ao.nn.")):
            return False
        return not isinstance(m, Sequential) or ".intrinsic." in kind

    def call_module(
        self,
        m: Module,
        forward: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Called for every call of a module.

        Parameters
        ----------
        m
            The module.
        forward
            Runs it.
        args, kwargs
            Arguments of the call.

        Returns
        -------
        What the call is to return: a proxy for a leaf.
        """
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))):
            self.module_stack[path] = (path, type(m))
            try:
                if not self.is_leaf_module(m, path):
                    return forward(*args, **kwargs)
                return self.create_proxy("call_module", path, args, kwargs)
            finally:
                self.module_stack.pop(path, None)

    def getattr(self, attr: str, attr_val: object, parameter_proxy_cache: dict[str, Any]) -> Any:
        """Called when code takes a parameter, buffer or submodule from a module.

        Returns
        -------
        What the code gets: for a parameter a proxy, one for all its uses.
        """
        if isinstance(attr_val, Parameter):
            named, kind = self.root.named_parameters(), self._parameter_proxy
        elif self.proxy_buffer_attributes and isinstance(attr_val, TensorBase):
            named, kind = self.root.named_buffers(), None
        else:
            return attr_val
        for path, each in named:
            if each is attr_val:
                if path not in parameter_proxy_cache:
                    parameter_proxy_cache[path] = self.create_proxy(
                        "get_attr",
                        path,
                        (),
                        {},
                        proxy_factory_fn=kind(path, each) if kind is not None else None,
                    )
                return parameter_proxy_cache[path]
        return attr_val

    def _parameter_proxy(self, path: str, parameter: Any) -> Callable[[Any], Proxy] | None:
        if not self.param_shapes_constant:
            return None
        return lambda node: ParameterProxy(self, node, path, parameter)

    def path_of_module(self, mod: Module) -> str:
        """The path of a submodule of the root.

        Raises
        ------
        NameError
            It is none.
        """
        path = self.submodule_paths.get(mod)
        if path is not None:
            return path
        for path, each in self.root.named_modules():
            if each is mod:
                return str(path)
        raise NameError(
            f"module {type(mod).__name__} is not installed as a submodule of "
            f"{type(self.root).__name__}; assign it to an attribute in __init__"
        )

    def create_constant(self, a: object) -> Node:
        """A parameter, buffer or other tensor, or a module, as the node that fetches it."""
        if isinstance(a, np.ndarray):
            a = wrap(a)
        if isinstance(a, Module):
            return self.create_node("get_attr", self.path_of_module(a), (), {})
        if not isinstance(a, TensorBase):
            return super().create_constant(a)
        path = self._tensor_paths.get(id(a))
        if path is None:
            number = 0
            while hasattr(self.root, f"_tensor_constant{number}"):
                number += 1
            path = f"_tensor_constant{number}"
            setattr(self.root, path, a)
            self._tensor_paths[id(a)] = path
        return self.create_node("get_attr", path, (), {})

    # The trace

    def trace(self, root: Any, concrete_args: dict[str, Any] | None = None) -> Graph:
        """Record a module or function.

        Parameters
        ----------
        root
            A module, whose ``forward`` is recorded, or a function.
        concrete_args
            Arguments that are no inputs: the trace is for these values. Structures may
            hold ``pyqref.fx.PH`` where an input is to stay.

        Returns
        -------
        Graph

        Raises
        ------
        TraceError
            The code asks for a value; see :class:`~pyqref.fx.TraceError`.
        """
        is_module = isinstance(root, Module)
        self.root = root if is_module else Module()
        own = vars(root).get("forward") if is_module else root
        function = type(root).forward if own is None else own
        self.scope, self.module_stack, self.node_name_to_scope = Scope("", None), {}, {}
        self.called_from = user_line()
        self.submodule_paths = {module: path for path, module in self.root.named_modules()}
        self._tensor_paths = _tensor_paths(self.root)
        self.graph = Graph(tracer_cls=type(self))
        with intercepting(), Patcher() as self._patcher, _modules_come_to(self, self._patcher):
            for module in self.autowrap_modules:
                self._autowrap(vars(module))
            for space in (*wrapped_globals(), getattr(function, "__globals__", {})):
                self._autowrap(space)
            call, args = arguments_of_root(self, function, concrete_args or {}, own is None)
            result = call(*args)
            annotations = getattr(function, "__annotations__", {})
            self.create_node(
                "output",
                "output",
                (self.create_arg(result),),
                {},
                type_expr=annotation(annotations.get("return"), function),
            )
        return self.graph

    def _module_called(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A module is called during the trace."""

        def forward(*args: Any, **kwargs: Any) -> Any:
            return CallsHooks.__call__(module, *args, **kwargs)

        self._autowrap(getattr(type(module).forward, "__globals__", {}))
        return self.call_module(module, forward, args, kwargs)

    def _autowrap(self, space: dict[str, Any]) -> None:
        """Replace the functions to record among the names of a module."""
        for name, value in list(space.items()):
            if name[:1] != "_" and callable(value) and id(_recorded(value)) in self._autowrapped:
                self._patcher.entry(space, name, recording(value))
        for name in list(space.get(WRAPPED_NAMES, ())):
            value = space.get(name, getattr(builtins, name, None))
            if value is None:
                raise NameError(f"{name!r} was wrapped, but the module has no such function")
            self._patcher.entry(space, name, recording(value))


_traces = threading.local()


def _active() -> list[tuple[Tracer, dict[str, Any]]]:
    """The traces of this thread, the innermost last, with their parameters' proxies."""
    active: list[tuple[Tracer, dict[str, Any]]] = _traces.__dict__.setdefault("active", [])
    return active


@contextmanager
def _modules_come_to(tracer: Tracer, patcher: Patcher) -> Iterator[None]:
    """Let calls and attributes of modules, in this thread, come to a tracer."""
    patcher.attribute(Module, "__call__", _call)
    patcher.attribute(Module, "__getattr__", _attribute)
    active = _active()
    active.append((tracer, {}))
    try:
        yield
    finally:
        active.pop()


def _call(module: Any, *args: Any, **kwargs: Any) -> Any:
    """``Module.__call__`` while any thread traces."""
    active = _active()
    if not active:
        return CallsHooks.__call__(module, *args, **kwargs)
    return active[-1][0]._module_called(module, args, kwargs)


def _attribute(module: Any, name: str) -> Any:
    """``Module.__getattr__`` while any thread traces."""
    value = Members.__getattr__(module, name)
    active = _active()
    if not active:
        return value
    tracer, proxies = active[-1]
    return tracer.getattr(name, value, proxies)


def _recorded(function: Any) -> Any:
    """Return the function that a wrapper of :func:`recording` records, or the function itself."""
    made = isinstance(function, FunctionType)
    return vars(function).get("recorded", function) if made else function


def recording(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that records its calls with a proxy, and else does what ``function`` does."""
    function = _recorded(function)

    def record(*args: Any, **kwargs: Any) -> Any:
        proxy = find_stand_in((args, kwargs))
        if proxy is None:
            return function(*args, **kwargs)
        return proxy.record_function(function, args, kwargs)

    record.recorded = function  # type: ignore[attr-defined]
    return record


def _tensor_paths(root: Any) -> dict[int, str]:
    """Return the paths of a module's tensors: parameters, buffers, and plain attributes."""
    found: dict[int, str] = {}
    for path, module in root.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, TensorBase):
                found.setdefault(id(value), f"{path}.{name}" if path else name)
    for path, value in (*root.named_buffers(), *root.named_parameters()):
        found[id(value)] = path
    return found
