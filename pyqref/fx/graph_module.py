"""A module that runs a graph."""

from __future__ import annotations

import copy
import itertools
import linecache
import weakref
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

from .._typing import AnyModule
from ..nn.modules.module import Module
from ..tensor.base import TensorBase
from ..tensor.parameter import Parameter
from .code import PythonCode
from .errors import GENERATED
from .graph import Graph
from .readable import readable

if TYPE_CHECKING:
    from typing_extensions import Self
else:
    Self = Any  # typing.get_type_hints reads it

__all__ = ["GraphModule"]

_numbers = itertools.count()
_dead: deque[str] = deque()  # files of functions that are gone


class GraphModule(Module):
    """A module whose ``forward`` is written from a graph.

    Parameters
    ----------
    root
        A module, or a dict of paths, where the attributes and submodules that the graph
        names come from. Only those are taken, and shared, not copied.
    graph
        The graph. It belongs to this module from now on.
    class_name
        What the module calls itself.

    Attributes
    ----------
    graph
        Assigning a graph recompiles; after changes within it call :meth:`recompile`.
    code
        The text of ``forward``.
    meta
        Whatever a pass wishes to remember; copied along.

    Examples
    --------
    >>> import pyqref
    >>> module = pyqref.fx.symbolic_trace(lambda x: pyqref.relu(x) + 1)
    >>> print(module.code.strip())
    def forward(self, x):
        relu = pyqref.relu(x);  x = None
        add = relu + 1;  relu = None
        return add
    >>> module(pyqref.tensor([-1.0, 2.0])).tolist()
    [1.0, 3.0]

    Source: documentation of ``torch.fx.GraphModule``.
    """

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        # Each has a class of its own, which carries its forward.
        base = next(each for each in cls.__mro__ if not each.__dict__.get("_is_own_class", False))
        own = type(base.__name__, (base,), {"_is_own_class": True, "__module__": base.__module__})
        made: Self = object.__new__(own)
        return made

    def __init__(
        self, root: AnyModule | Mapping[str, Any], graph: Graph, class_name: str = "GraphModule"
    ) -> None:
        super().__init__()
        type(self).__name__ = type(self).__qualname__ = class_name
        self.meta: dict[str, Any] = {}
        if isinstance(root, Module):
            self.training = root.training
            self.meta.update(getattr(root, "meta", None) or {})
            for path in _targets(graph):
                _copy_attribute(root, self, path)
        elif isinstance(root, dict):
            for path in _targets(graph):
                if path not in root:
                    raise RuntimeError(
                        f"the graph names {path!r}, but root has only {sorted(root)}"
                    )
            for path in sorted(_targets(graph), key=lambda path: path.count(".")):
                _assign(self, path, root[path])
        else:
            raise RuntimeError(f"root must be a Module or a dict, got {type(root).__name__}")
        self._tracer_cls = graph._tracer_cls
        self.graph = graph

    @property
    def graph(self) -> Graph:
        """The graph that ``forward`` is written from."""
        graph: Graph = self.__dict__["_graph"]
        return graph

    @graph.setter
    def graph(self, graph: Graph) -> None:
        if not isinstance(graph, Graph):
            raise TypeError(f"graph must be a pyqref.fx.Graph, got {type(graph).__name__}")
        self.__dict__["_graph"] = graph
        graph.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The text of ``forward``."""
        if "_code" not in self.__dict__:
            raise RuntimeError("there is no code yet; call recompile()")
        return str(self.__dict__["_code"])

    def recompile(self) -> PythonCode:
        """Write ``forward`` anew, after the graph was changed."""
        python_code = self.graph.python_code("self")
        self.__dict__["_code"] = python_code.src
        type(self).forward = _compile(python_code)  # type: ignore[method-assign]
        return python_code

    def print_readable(self, print_output: bool = True) -> str:
        """The class as text, with the user's line above what was made of it.

        Parameters
        ----------
        print_output
            Also print it.
        """
        text = readable(self)
        if print_output:
            print(text)  # noqa: T201
        return text

    # Submodules

    def add_submodule(self, target: str, m: Module) -> bool:
        """Install a module under a path, making empty modules on the way.

        Returns
        -------
        bool
            False if a step of the path is something else than a module.
        """
        *steps, last = target.split(".")
        place: Any = self
        for step in steps:
            if not hasattr(place, step):
                place.add_module(step, Module())
            place = getattr(place, step)
            if not isinstance(place, Module):
                return False
        place.add_module(last, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Remove the module at a path.

        Returns
        -------
        bool
            False if there is none.
        """
        *steps, last = target.split(".")
        place: Any = self
        for step in steps:
            place = getattr(place, step, None)
            if not isinstance(place, Module):
                return False
        if not isinstance(getattr(place, last, None), Module):
            return False
        delattr(place, last)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Remove the modules that no node calls or takes an attribute from."""
        used: set[str] = set()
        modules = dict(self.named_modules(remove_duplicate=False))
        for node in self.graph.nodes:
            if node.op not in ("call_module", "get_attr"):
                continue
            steps = node.target.split(".")
            used.update(".".join(steps[:count]) for count in range(1, len(steps) + 1))
            if node.op == "call_module" and node.target in modules:
                inner = modules[node.target].named_modules(remove_duplicate=False)
                used.update(f"{node.target}.{path}" for path, _ in inner)
        for path in modules:
            if path and path not in used:
                self.delete_submodule(path)

    # Copies and text

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        type(copied).__name__ = type(copied).__qualname__ = type(self).__name__
        copied.__dict__.update(
            {name: copy.deepcopy(value, memo) for name, value in self.__dict__.items()}
        )
        copied.graph = copied.__dict__["_graph"]
        return copied

    def __copy__(self) -> GraphModule:
        return GraphModule(self, copy.deepcopy(self.graph), type(self).__name__)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            "a GraphModule is not pickled: save its state_dict(), trace the model again "
            "and load_state_dict()"
        )

    def __str__(self) -> str:
        hint = "# To see more debug info, please use `graph_module.print_readable()`"
        return f"{self!r}\n{self.code}\n{hint}"


def _compile(code: PythonCode) -> FunctionType:
    """The function, with its text where tracebacks look for it."""
    file = f"<pyqref.fx graph {next(_numbers)}>"
    space = dict(code.globals)
    exec(compile(code.src, file, "exec"), space)
    function: FunctionType = space["forward"]
    first = code.src[: code.src.index("\ndef ")].count("\n") + 3
    GENERATED[file] = {
        first + index: node.meta["source"]
        for index, (node, _) in enumerate(code.lines)
        if node is not None and "source" in node.meta
    }
    linecache.cache[file] = (len(code.src), None, code.src.splitlines(keepends=True), file)
    _forget_the_dead()
    weakref.finalize(function, _dead.append, file)
    return function


def _forget_the_dead() -> None:
    """Drop the texts of functions that are gone.

    Not when they go, which may be at any time: ``linecache`` goes through its names, looks up each
    of them, and fails if one has been dropped meanwhile.
    """
    with suppress(IndexError):  # none is left
        while True:
            file = _dead.popleft()
            linecache.cache.pop(file, None)
            GENERATED.pop(file, None)


def _targets(graph: Graph) -> list[str]:
    return [node.target for node in graph.nodes if node.op in ("get_attr", "call_module")]


def _copy_attribute(source: Any, destination: Any, path: str) -> None:
    """Bring what stands at a path from one module to another."""
    *steps, last = path.split(".")
    for step in steps:
        found = getattr(source, step, None)
        if found is None:
            raise RuntimeError(f"the graph names {path!r}, which the root module does not have")
        if found is getattr(destination, step, None):
            return
        if not hasattr(destination, step):
            destination.add_module(step, Module())
        source, destination = found, getattr(destination, step)
    if not hasattr(source, last):
        raise RuntimeError(f"the graph names {path!r}, which the root module does not have")
    persistent = last not in getattr(source, "_non_persistent_buffers_set", ())
    _set(destination, last, getattr(source, last), persistent)


def _assign(destination: Any, path: str, value: Any) -> None:
    *steps, last = path.split(".")
    for step in steps:
        if not hasattr(destination, step):
            destination.add_module(step, Module())
        destination = getattr(destination, step)
    _set(destination, last, value, persistent=True)


def _set(module: Any, name: str, value: Any, persistent: bool) -> None:
    if isinstance(value, TensorBase) and not isinstance(value, Parameter):
        module.register_buffer(name, value, persistent)
    else:
        setattr(module, name, value)
