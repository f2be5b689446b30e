"""Run a model while something else decides what each of its operations computes.

A model stays as it is: for the length of one run its layers, and the functions in its graph, ask
a function ``decide`` first. What the quantized model calls an operation here has a path: that of
its module, or the name of its node in a graph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..autograd import no_grad
from ..fx import GraphModule, Interpreter
from ..fx.node import Node
from ..nn.modules import Module
from ..nn.quantized import QFunctional

__all__ = ["Call", "Decide", "Key", "Operation", "called", "intercepted", "operations"]

#: Path of an operation, and how many times it ran before in this run.
Key = tuple[str, int]
#: Packages whose modules are one operation, children or not.
WHOLE = ("pyqref.nn.quantized", "pyqref.nn.intrinsic", "pyqref.nn.qat", "pyqref.nn.quantizable")


class Operation(NamedTuple):
    """A layer of a model, or a node of its graph.

    Attributes
    ----------
    path
        Of the module in the model, or of the node: the path of its graph and its name.
    what
        The module, the function, or the name of the method.
    """

    path: str
    what: Any


class Call(NamedTuple):
    """One call of an operation.

    Attributes
    ----------
    key
        The operation's path, and how many times it ran before in this run.
    what
        The module, the function, or the name of the method.
    run
        Computes what the model computes, from the arguments.
    """

    key: Key
    what: Any
    run: Callable[..., Any]


Decide = Callable[[Call, tuple[Any, ...], dict[str, Any]], Any]


def operations(model: Module, path: str = "") -> Iterator[Operation]:
    """The graphs and the layers of a model, those inside of other layers left out."""
    if isinstance(model, GraphModule):
        yield Operation(path, model)
    elif _is_whole(model):
        yield Operation(path, model)
        return
    for name, child in model.named_children():
        yield from operations(child, f"{path}.{name}" if path else name)


def _is_whole(module: Module) -> bool:
    home = type(module).__module__
    if home.startswith(WHOLE):
        return True
    return home.startswith("pyqref.") and not list(module.children())


def called(model: Module, inputs: tuple[Any, ...]) -> Any:
    """Call the model without recording gradients."""
    with no_grad():
        return model(*inputs)


@contextmanager
def intercepted(model: Module, decide: Decide) -> Iterator[None]:
    """Let ``decide`` compute what the operations of a model give, inside the ``with`` block.

    Parameters
    ----------
    model
        Runs once in the block; it is as before afterwards.
    decide
        Is given a :class:`Call` and its arguments, and gives the result.
    """
    counts: Counter[str] = Counter()

    def ask(path: str, what: Any, run: Any, args: Any, kwargs: Any) -> Any:
        key = path, counts[path]
        counts[path] += 1
        return decide(Call(key, what, run), args, kwargs)

    changed: list[tuple[dict[str, Any], str]] = []
    try:
        for path, module in {id(each.what): each for each in operations(model)}.values():
            for name, stand_in in _stand_ins(path, module, ask):
                if name not in module.__dict__:
                    module.__dict__[name] = stand_in
                    changed.append((module.__dict__, name))
        yield
    finally:
        for attributes, name in changed:
            del attributes[name]


def _stand_ins(path: str, module: Module, ask: Any) -> Iterator[tuple[str, Any]]:
    """The methods of a module that ask first."""
    if isinstance(module, GraphModule):
        yield "forward", _Asking(path, module, ask).forward
        return
    names = module._OPERATIONS if isinstance(module, QFunctional) else ("forward",)
    for name in names:
        method = getattr(module, name)
        what = method if isinstance(module, QFunctional) else module

        def stand_in(*args: Any, _run: Any = method, _what: Any = what, **kwargs: Any) -> Any:
            return ask(path, _what, _run, args, kwargs)

        yield name, stand_in


class _Asking(Interpreter):
    """Runs a graph whose functions and methods ask first; its modules do so themselves."""

    def __init__(self, path: str, module: GraphModule, ask: Any) -> None:
        super().__init__(module)
        self.prefix = f"{path}." if path else ""
        self.ask = ask
        self.name = ""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph module and return its result."""
        names = [node.target for node in self.graph.find_nodes(op="placeholder")]
        named = [kwargs[name] for name in names[len(args) :] if name in kwargs]
        return self.run(*args, *named)

    def run_node(self, n: Node) -> Any:
        self.name = self.prefix + n.name
        return super().run_node(n)

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        return self.ask(self.name, target, target, args, kwargs)

    def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
        def run(this: Any, *rest: Any, **named: Any) -> Any:
            return getattr(this, target)(*rest, **named)

        return self.ask(self.name, target, run, args, kwargs)
