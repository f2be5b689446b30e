"""A node: one step of a graph.

===============  ============================  ====================================
``op``           ``target``                    what it stands for
===============  ============================  ====================================
placeholder      name of an argument           an input
get_attr         path of an attribute          a parameter or buffer of the module
call_function    the function itself           ``target(*args, **kwargs)``
call_method      name of a method              ``args[0].target(*args[1:], **kwargs)``
call_module      path of a submodule           ``self.target(*args, **kwargs)``
output           ``"output"``                  the result, ``args[0]``
===============  ============================  ====================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._typing import Graph, Module
from .immutable_collections import immutable_dict, immutable_list
from .naming import qualified_name
from .operator_schemas import ArgsKwargsPair, normalize_function, normalize_module
from .side_effects import is_impure

__all__ = ["OPCODES", "Argument", "Node", "Target", "map_aggregate", "map_arg"]

#: For annotations, as in ``torch.fx.node``: what a node calls or fetches.
Target = Callable[..., Any] | str
#: What may stand among its arguments: nodes, constants, nested tuples, lists, dicts, slices.
Argument = Any

OPCODES = (
    "placeholder",
    "get_attr",
    "call_function",
    "call_method",
    "call_module",
    "output",
)


def map_aggregate(value: object, fn: Callable[[Any], Any]) -> Any:
    """Apply ``fn`` to the leaves of nested tuples, lists, dicts and slices.

    Examples
    --------
    >>> map_aggregate((1, [2, {"k": 3}]), lambda leaf: leaf * 10)
    (10, [20, {'k': 30}])
    """
    if isinstance(value, tuple):
        mapped = tuple(map_aggregate(each, fn) for each in value)
        return mapped if type(value) is tuple else _same_tuple(value, mapped)
    if isinstance(value, list):
        return immutable_list([map_aggregate(each, fn) for each in value])
    if isinstance(value, dict):
        return immutable_dict({key: map_aggregate(each, fn) for key, each in value.items()})
    if isinstance(value, slice):
        return slice(*(map_aggregate(each, fn) for each in (value.start, value.stop, value.step)))
    return fn(value)


def _same_tuple(value: tuple[Any, ...], mapped: tuple[Any, ...]) -> Any:
    return type(value)(*mapped) if hasattr(value, "_fields") else type(value)(mapped)


def map_arg(value: object, fn: Callable[[Node], Any]) -> Any:
    """Apply ``fn`` to the nodes in nested arguments; other leaves stay.

    Examples
    --------
    >>> from pyqref import fx
    >>> graph = fx.Graph()
    >>> a, b = graph.placeholder("a"), graph.placeholder("b")
    >>> fx.map_arg((a, [b, 2.0]), lambda node: node.name)
    ('a', ['b', 2.0])
    """
    return map_aggregate(value, lambda leaf: fn(leaf) if isinstance(leaf, Node) else leaf)


class Node:
    """One step of a graph, linked to the one before and the one after it.

    Made by the methods of :class:`~pyqref.fx.Graph`, not by hand.

    Attributes
    ----------
    graph
        The graph that it belongs to.
    name : str
        The variable that holds its value in the generated code.
    op : str
        One of the six opcodes; see the table above.
    target
        What is called or fetched.
    users : dict of Node to None
        The nodes that have this one among their arguments, in the order in which they
        came to have it.
    type
        The annotated type of the value, or None.
    meta : dict
        Whatever a pass wishes to remember about the node. A trace leaves
        ``"source"``, the user's line, and ``"nn_module_stack"``.

    Source: documentation of ``torch.fx.Node``.

    Examples
    --------
    >>> from pyqref import fx, nn
    >>> graph = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU())).graph
    >>> for node in graph.nodes:
    ...     print(node.op, node.name, node.target, node.args)
    placeholder input_1 input ()
    call_module _0 0 (input_1,)
    call_module _1 1 (_0,)
    output output output (_1,)
    """

    def __init__(
        self,
        graph: Graph,
        name: str,
        op: str,
        target: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        return_type: object = None,
    ) -> None:
        if op not in OPCODES:
            raise ValueError(f"op must be one of {', '.join(OPCODES)}, got {op!r}")
        if op == "call_function" and not callable(target):
            raise ValueError(f"target of call_function must be callable, got {target!r}")
        if op != "call_function" and not isinstance(target, str):
            raise ValueError(f"target of {op} must be a str, got {target!r}")
        self.graph = graph
        self.name = name
        self.op = op
        self.target = target
        self.type = return_type
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self._inputs: dict[Node, None] = {}
        self._args: tuple[Any, ...] = ()
        self._kwargs: dict[str, Any] = immutable_dict()
        self._prev: Node = self
        self._next: Node = self
        self._erased = False
        self._set_arguments(args, kwargs or {})

    # Arguments and users

    @property
    def args(self) -> tuple[Any, ...]:
        """Positional arguments: nodes and constants, also nested in tuples, lists and dicts."""
        return self._args

    @args.setter
    def args(self, value: tuple[Any, ...]) -> None:
        self._set_arguments(tuple(value), self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """Keyword arguments."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, value: dict[str, Any]) -> None:
        self._set_arguments(self._args, value)

    def _set_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        inputs: dict[Node, None] = {}

        def note(node: Node) -> Node:
            inputs[node] = None
            return node

        self._args = map_arg(tuple(args), note)
        self._kwargs = map_arg(dict(kwargs), note)
        for gone in [each for each in self._inputs if each not in inputs]:
            gone.users.pop(self, None)
        for node in inputs:
            node.users.setdefault(self)
        self._inputs = inputs

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once, in order."""
        return list(self._inputs)

    def update_arg(self, idx: int, arg: object) -> None:
        """Replace a positional argument."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def update_kwarg(self, key: str, arg: object) -> None:
        """Set a keyword argument."""
        self.kwargs = {**self.kwargs, key: arg}

    def insert_arg(self, idx: int, arg: object) -> None:
        """Insert a positional argument before index ``idx``, in [0, len(args)]."""
        if not 0 <= idx <= len(self.args):
            raise IndexError(f"idx must be in [0, {len(self.args)}], got {idx}")
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Take ``new_input`` wherever ``old_input`` stands among the arguments."""

        def swap(node: Node) -> Node:
            return new_input if node is old_input else node

        self._set_arguments(map_arg(self.args, swap), map_arg(self.kwargs, swap))

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] | None = None,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Let the users of this node use ``replace_with`` instead.

        Parameters
        ----------
        replace_with
            The node to use.
        delete_user_cb
            Asked for each user whether it is to be changed; by default all are.
        propagate_meta
            Copy ``meta`` to ``replace_with``, whose ``meta`` must be empty.

        Returns
        -------
        list of Node
            The users that were changed.
        """
        if propagate_meta:
            if replace_with.meta:
                raise ValueError(f"{replace_with.name} has meta already, propagate_meta needs none")
            replace_with.meta.update(self.meta)
        changed = [
            user for user in list(self.users) if delete_user_cb is None or delete_user_cb(user)
        ]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    # Place in the graph

    @property
    def next(self) -> Node:
        """The node after this one."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node before this one."""
        return self._prev

    def prepend(self, x: Node) -> None:
        """Move ``x`` to just before this node."""
        if x.graph is not self.graph:
            raise ValueError(f"cannot move {x.name}: it belongs to another graph than {self.name}")
        if x is self:
            return
        x._unlink()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x

    def append(self, x: Node) -> None:
        """Move ``x`` to just after this node."""
        if x is not self:
            self._next.prepend(x)

    def _unlink(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    # Description

    def is_impure(self) -> bool:
        """Return True if the node has an effect other than computing its value.

        True for inputs and the output, for functions marked with
        :func:`~pyqref.fx.has_side_effect`, for modules with ``_is_impure``, and for what
        changes its argument in place (``relu_``, ``inplace=True``, ``out=``).
        """
        return is_impure(self)

    @property
    def stack_trace(self) -> str | None:
        """The user's line that made this node."""
        source = self.meta.get("source")
        return None if source is None else str(source)

    def target_name(self) -> str:
        """The target as text."""
        return self.target if isinstance(self.target, str) else qualified_name(self.target)

    def format_node(
        self,
        placeholder_names: list[str] | None = None,
        maybe_return_typename: list[str] | None = None,
    ) -> str | None:
        """The node as a line of ``str(graph)``.

        The two lists, if given, take up the placeholder (which then gives None) and the
        annotation of the result.
        """
        kind = f" : {type_text(self.type)}" if self.type is not None else ""
        if self.op == "placeholder":
            default = f"(default={self.args[0]})" if self.args else ""
            if placeholder_names is not None:
                placeholder_names.append(f"{self.target}{kind}")
                return None
            uses = f"{_colon(kind)}[num_users={len(self.users)}]"
            return f"%{self.name}{kind} {uses} = placeholder[target={self.target}]{default}"
        if self.op == "output":
            if self.type is not None and maybe_return_typename is not None:
                maybe_return_typename[0] = f" -> {type_text(self.type)}"
            return f"return {self.args[0]}"
        head = f"%{self.name}{kind} {_colon(kind)}[num_users={len(self.users)}] = "
        head += f"{self.op}[target={self.target_name()}]"
        if self.op == "get_attr":
            return head
        return f"{head}(args = {_percent(self.args)}, kwargs = {_percent(self.kwargs)})"

    def normalized_arguments(
        self,
        root: Module,
        arg_types: tuple[Any, ...] | None = None,
        kwarg_types: dict[str, Any] | None = None,
        normalize_to_only_use_kwargs: bool = False,
    ) -> ArgsKwargsPair | None:
        """The arguments as the function or module names them, defaults included.

        Parameters
        ----------
        root
            The module whose submodules the graph calls.
        arg_types, kwarg_types
            Accepted for compatibility.
        normalize_to_only_use_kwargs
            Name all of them.

        Returns
        -------
        ArgsKwargsPair or None
            None for what calls no function or module, and for a function whose arguments have
            no names; see ``pyqref.fx.operator_schemas``.
        """
        only_kwargs = normalize_to_only_use_kwargs
        if self.op == "call_function":
            return normalize_function(self.target, self.args, self.kwargs, None, None, only_kwargs)
        if self.op == "call_module":
            return normalize_module(root, self.target, self.args, self.kwargs, only_kwargs)
        return None

    def __repr__(self) -> str:
        return self.name

    def __lt__(self, other: Node) -> bool:
        """Return True if this node stands before another of its graph."""
        return self.graph._order(self) < self.graph._order(other)

    def __deepcopy__(self, memo: dict[int, Any]) -> Node:
        """A node is copied with its graph only."""
        if id(self) not in memo:
            raise TypeError(f"node {self.name} is copied with its graph; use copy.deepcopy(graph)")
        copied: Node = memo[id(self)]
        return copied


def _colon(kind: str) -> str:
    return "" if kind else ": "


def _percent(value: Any) -> str:
    """Arguments as text, nodes as ``%name``, strings without quotes."""
    if isinstance(value, tuple):
        inner = ", ".join(_percent(each) for each in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, list):
        return f"[{', '.join(_percent(each) for each in value)}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_percent(v)}" for k, v in value.items()) + "}"
    return f"%{value.name}" if isinstance(value, Node) else str(value)


def type_text(kind: object) -> str:
    """An annotation as text."""
    if isinstance(kind, str):
        return kind
    if not isinstance(kind, type) or getattr(kind, "__args__", None):
        return str(kind).replace("typing.", "")
    return kind.__name__ if kind.__module__ == "builtins" else qualified_name(kind)
