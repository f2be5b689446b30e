"""An interpreter: runs a graph node by node, each opcode a method to override."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .._typing import AnyModule, Tensor
from ..nn.modules.module import Module
from .graph import Graph
from .node import Node, map_arg

__all__ = ["Interpreter"]


class Interpreter:
    """Runs the graph of a module.

    Parameters
    ----------
    module
        A graph module, or any module if ``graph`` is given.
    garbage_collect_values
        Forget each value after its last use.
    graph
        The graph to run, by default the module's.

    Attributes
    ----------
    env : dict
        The values of nodes, while the graph runs.

    Examples
    --------
    >>> import pyqref
    >>> class Names(Interpreter):
    ...     def run_node(self, n):
    ...         print(n.name)
    ...         return super().run_node(n)
    >>> module = pyqref.fx.symbolic_trace(lambda x: x + 1)
    >>> Names(module).run(pyqref.tensor(2)).item()
    x
    add
    output
    3

    Source: documentation of ``torch.fx.Interpreter``.
    """

    def __init__(
        self, module: AnyModule, garbage_collect_values: bool = True, graph: Graph | None = None
    ) -> None:
        self.module = module
        self.submodules = dict(module.named_modules()) if isinstance(module, Module) else {}
        self.graph: Graph = module.graph if graph is None else graph
        self.env: dict[Node, Any] = {}
        self.args_iter: Iterator[Any] = iter(())
        self.garbage_collect_values = garbage_collect_values
        self._last_uses: dict[Node, list[Node]] = {}
        if garbage_collect_values:
            seen: set[Node] = set()
            for user in reversed(self.graph.nodes):
                for used in user.all_input_nodes:
                    if used not in seen:
                        seen.add(used)
                        self._last_uses.setdefault(user, []).append(used)

    def run(
        self,
        *args: Tensor,
        initial_env: dict[Node, Any] | None = None,
        enable_io_processing: bool = True,
    ) -> Any:
        """Run the graph.

        Parameters
        ----------
        *args
            Its inputs, by position.
        initial_env
            Values of nodes that are known already and not computed.
        enable_io_processing
            Accepted for compatibility: inputs and outputs are never processed.

        Returns
        -------
        The value of the output.
        """
        self.env = dict(initial_env or {})
        self.args_iter = iter(args)
        return self._run()

    def _run(self) -> Any:
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                _add_context(error, node)
                raise
            for used in self._last_uses.get(node, ()):
                self.env.pop(used, None)
            if node.op == "output":
                return self.env[node]
        return None

    def boxed_run(self, args_list: list[Any]) -> Any:
        """:meth:`run` with the inputs of a list, which is emptied: no one else need keep them.

        Raises
        ------
        TypeError
            ``args_list`` is no list.
        RuntimeError
            It has more or fewer elements than the graph has inputs.
        """
        if not isinstance(args_list, list):
            raise TypeError(f"boxed_run takes a list, got a {type(args_list).__name__}")
        count = len(self.graph.find_nodes(op="placeholder"))
        if len(args_list) != count:
            raise RuntimeError(
                f"boxed_run: the graph has {count} inputs, args_list {len(args_list)} elements"
            )
        inputs = args_list[::-1]
        args_list.clear()
        self.env = {}
        self.args_iter = _taken(inputs)
        return self._run()

    def run_node(self, n: Node) -> Any:
        """The value of a node, from those of its arguments."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    # One method an opcode

    def placeholder(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The next input, or its default; all that are left for ``*args``."""
        if target.startswith("**"):
            return {}
        if target.startswith("*"):
            return tuple(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError(
                f"Expected positional argument for parameter {target}, but one was not passed in!"
            ) from None

    def get_attr(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """An attribute of the module."""
        return self.fetch_attr(target)

    def call_function(
        self, target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Tensor:
        """Return the result of a function."""
        return target(*args, **kwargs)

    def call_method(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result of a method of the first argument."""
        own, *others = args
        return getattr(own, target)(*others, **kwargs)

    def call_module(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
        """Return the result of a submodule."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result."""
        return args[0]

    # Helpers

    def fetch_attr(self, target: str) -> Any:
        """Return the attribute at a path of the module."""
        found = self.module
        for index, step in enumerate(steps := target.split(".")):
            if not hasattr(found, step):
                raise RuntimeError(
                    f"Node referenced nonexistent target {'.'.join(steps[: index + 1])}"
                )
            found = getattr(found, step)
        return found

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a node, with values in the place of nodes."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args: object, n: Node) -> Any:
        """Replace nodes by their values in nested arguments of ``n``."""

        def value(node: Node) -> Any:
            if node not in self.env:
                raise RuntimeError(
                    f"Node {n} referenced nonexistent value {node}! Run Graph.lint() to diagnose"
                )
            return self.env[node]

        return map_arg(args, value)


def _taken(reversed_inputs: list[Any]) -> Iterator[Any]:
    """Each input once, with no reference left behind."""
    while reversed_inputs:
        yield reversed_inputs.pop()


def _add_context(error: Exception, node: Node) -> None:
    """Say at which node, and at which line of the user's, it happened."""
    context = f"While executing {node.format_node()}"
    if node.stack_trace is not None:
        context += f"\nOriginal line:\n  {node.stack_trace}"
    message = str(error.args[0]) if error.args else ""
    if "While executing" not in message:
        error.args = (f"{message}\n\n{context}" if message else context, *error.args[1:])
