"""The graph: nodes in a row, each using those before it."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .._typing import Module
from .code import PythonCode, TransformCode, generate
from .lint import check, reaches
from .naming import Namespace, node_name
from .node import Node, map_arg
from .table import tabular

__all__ = ["Graph", "NodeList"]


class NodeList:
    """The nodes of a graph in order. Nodes may be erased and inserted while walking."""

    def __init__(self, root: Node, count: Callable[[], int], reverse: bool = False) -> None:
        self._root, self._count, self._reverse = root, count, reverse

    def __len__(self) -> int:
        return self._count()

    def __iter__(self) -> Iterator[Node]:
        node = self._root
        while True:
            node = node._prev if self._reverse else node._next
            if node is self._root:
                return
            if not node._erased:
                yield node

    def __reversed__(self) -> NodeList:
        return NodeList(self._root, self._count, not self._reverse)


class _Changed:
    """Gives an attribute of a graph a new value; the former comes back at the end of a ``with``."""

    def __init__(self, graph: Graph, attribute: str, value: Any) -> None:
        self._graph, self._attribute = graph, attribute
        self._before = getattr(graph, attribute)
        setattr(graph, attribute, value)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        setattr(self._graph, self._attribute, self._before)


class Graph:
    """A program as data: inputs, steps and an output.

    Parameters
    ----------
    owning_module
        The module whose attributes and submodules the nodes name, if there is one.
    tracer_cls
        The class of the tracer that made the graph.

    Examples
    --------
    >>> import pyqref
    >>> graph = Graph()
    >>> x = graph.placeholder("x")
    >>> y = graph.call_function(pyqref.relu, (x,))
    >>> _ = graph.output(y)
    >>> print(graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %relu : [num_users=1] = call_function[target=pyqref.relu](args = (%x,), kwargs = {})
        return relu

    Source: documentation of ``torch.fx.Graph``.
    """

    def __init__(
        self, owning_module: Module | None = None, tracer_cls: type[Any] | None = None
    ) -> None:
        self.owning_module = owning_module
        self._tracer_cls = tracer_cls
        self._root = Node(self, "", "placeholder", "")
        self._insert: Callable[[Node], None] = self._root.prepend
        self._names = Namespace()
        self._length = 0
        self._transform_code: TransformCode | None = None

    @property
    def nodes(self) -> NodeList:
        """All nodes, in order of execution."""
        return NodeList(self._root, lambda: self._length)

    def output_node(self) -> Node:
        """The output."""
        last = self._root._prev
        if last.op != "output":
            raise RuntimeError("the graph has no output; add one with graph.output(value)")
        return last

    def find_nodes(self, *, op: str, target: object = None, sort: bool = True) -> list[Node]:
        """The nodes of an opcode, and with a target if one is given, in order."""
        return [
            node
            for node in self.nodes
            if node.op == op and (target is None or node.target == target)
        ]

    def _order(self, node: Node) -> int:
        return next(index for index, each in enumerate(self.nodes) if each is node)

    def _free_names(self) -> None:
        """Give the names of erased nodes to new nodes again."""
        self._names = Namespace()
        for node in self.nodes:
            self._names.create_name(node.name)

    # Making nodes

    def create_node(
        self,
        op: str,
        target: object,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        name: str | None = None,
        type_expr: object = None,
    ) -> Node:
        """Insert a node at the present place of insertion, the end by default.

        Parameters
        ----------
        op
            One of the six opcodes, see :class:`~pyqref.fx.Node`.
        target
            What is called or fetched.
        args, kwargs
            Arguments: nodes of this graph and constants.
        name
            The wish for a name; by default the node is called after its target.
        type_expr
            The annotation of its value.
        """
        candidate = name if name is not None else node_name(target)
        node = Node(
            self, self._names.create_name(candidate), op, target, args or (), kwargs, type_expr
        )
        self._insert(node)
        self._length += 1
        return node

    def placeholder(
        self,
        name: str,
        type_expr: object = None,
        default_value: type[Any] = inspect.Signature.empty,
    ) -> Node:
        """An input; ``*name`` and ``**name`` take the remaining arguments."""
        args = () if default_value is inspect.Signature.empty else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: object = None) -> Node:
        """Fetch an attribute of the module, such as ``"layer.weight"``."""
        if self.owning_module is not None and not reaches(self.owning_module, qualified_name):
            warnings.warn(
                f"the module that owns the graph has no attribute {qualified_name!r}; "
                "add it before the graph is run",
                stacklevel=2,
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self,
        module_name: str,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: object = None,
    ) -> Node:
        """Call a submodule by its path."""
        if self.owning_module is not None and not reaches(self.owning_module, module_name):
            warnings.warn(
                f"the module that owns the graph has no submodule {module_name!r}; "
                "add it with GraphModule.add_submodule before the graph is run",
                stacklevel=2,
            )
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self,
        method_name: str,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: object = None,
    ) -> Node:
        """Call a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: object = None,
        name: str | None = None,
    ) -> Node:
        """Call a function."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result: Sequence[Node] | Node, type_expr: object = None) -> Node:
        """The result: a node or nested tuples, lists and dicts of nodes."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda x: x) -> Node:
        """Insert a copy of a node of another graph.

        Parameters
        ----------
        node
            What to copy.
        arg_transform
            From each node among its arguments to the one of this graph to use instead.
        """
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        copied = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        copied.meta = dict(node.meta)
        return copied

    def graph_copy(
        self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False
    ) -> Any:
        """Insert copies of all nodes of another graph but its output.

        Parameters
        ----------
        g
            The graph to copy.
        val_map
            Nodes of ``g`` that already have a counterpart here; filled on the way.
        return_output_node
            Return the pair of the value and the output node of ``g``.

        Returns
        -------
        The value that ``g`` gives out, in nodes of this graph; None without an output.
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                value = map_arg(node.args[0], lambda each: val_map[each])
                return (value, node) if return_output_node else value
            val_map[node] = self.node_copy(node, lambda each: val_map[each])
        return None

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        copied = Graph(tracer_cls=self._tracer_cls)
        copied._transform_code = self._transform_code
        memo[id(self)] = copied
        nodes: dict[Node, Node] = {}
        found = copied.graph_copy(self, nodes, return_output_node=True)
        if found is not None:
            value, output = found
            new_output = copied.output(value, output.type)
            new_output.meta = dict(output.meta)
            nodes[output] = new_output
        memo.update({id(old): new for old, new in nodes.items()})
        return copied

    # Changing the graph

    def inserting_before(self, n: Node | None = None) -> _Changed:
        """Insert what comes next before ``n``, or first of all; for a ``with``."""
        if n is None:
            return self.inserting_after(self._root)
        self._check_own(n)
        return _Changed(self, "_insert", n.prepend)

    def inserting_after(self, n: Node | None = None) -> _Changed:
        """Insert what comes next just after ``n``, or last of all; for a ``with``."""
        if n is None:
            return self.inserting_before(self._root)
        self._check_own(n)
        return _Changed(self, "_insert", n.append)

    def _check_own(self, node: Node) -> None:
        if node.graph is not self:
            raise ValueError(f"node {node.name} belongs to another graph")

    def erase_node(self, to_erase: Node) -> None:
        """Take out a node without users.

        Raises
        ------
        RuntimeError
            It has users; give them something else with ``replace_all_uses_with`` first.
        """
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in "
                f"the graph: {to_erase.users}! Call {to_erase}.replace_all_uses_with(other) first"
            )
        self._check_own(to_erase)
        if to_erase._erased:
            warnings.warn(f"node {to_erase} is erased already", stacklevel=2)
            return
        to_erase._unlink()
        to_erase._erased = True
        to_erase._set_arguments((), {})
        self._length -= 1

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Erase the nodes whose values are not used, unless they do something beside.

        Parameters
        ----------
        is_impure_node
            Decides which nodes stay; by default :meth:`~pyqref.fx.Node.is_impure`.

        Returns
        -------
        bool
            Whether any was erased.
        """
        self.lint()
        impure = is_impure_node or Node.is_impure
        before = self._length
        for node in reversed(self.nodes):
            if not node.users and not impure(node):
                self.erase_node(node)
        return self._length != before

    def lint(self) -> None:
        """Check that the graph is well formed.

        Raises
        ------
        RuntimeError
            A node uses one that is of another graph or comes after it, two have one name,
            something follows the output, an opcode is none of the six, or a node names what
            the owning module does not have, or calls what is no module.
        """
        check(self.nodes, self, self.owning_module)

    # Text

    def python_code(self, root_module: str = "self") -> PythonCode:
        """The graph as the text of a function ``forward``, and the globals that it uses."""
        return generate(self.nodes, root_module, transform=self._transform_code)

    def on_generate_code(
        self, make_transformer: Callable[[TransformCode | None], TransformCode | None]
    ) -> _Changed:
        r"""Change the text of ``forward`` whenever it is written.

        Parameters
        ----------
        make_transformer
            From the present transformer, or None, to the one that takes its place: a function
            from the lines of the body to other lines.

        Returns
        -------
        context manager
            As a ``with`` it puts the former transformer back at the end.

        Examples
        --------
        >>> import pyqref
        >>> module = pyqref.fx.symbolic_trace(lambda x: x + 1)
        >>> with module.graph.on_generate_code(lambda _: lambda body: ["print('here')\n", *body]):
        ...     _ = module.recompile()
        >>> module(1)
        here
        2
        """
        return _Changed(self, "_transform_code", make_transformer(self._transform_code))

    def print_tabular(self) -> None:
        """Print the nodes as a table."""
        print(tabular(self.nodes))  # noqa: T201

    def __str__(self) -> str:
        body = "\n    ".join(str(node.format_node()) for node in self.nodes)
        return f"graph():\n    {body}" if body else "graph():"
