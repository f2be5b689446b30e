"""The graph while it is made, and the table of what each operator becomes."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, Union

import numpy as np

from ..._typing import Node
from ...fx import Graph, GraphModule
from ...nn import Module
from ...tensor import from_numpy
from .functions import stored
from .source import Operator, Source

__all__ = ["Given", "FileQParams", "Importer", "Made", "Unsupported", "importing"]


class Unsupported(Exception):  # noqa: N818  # it never leaves the package
    """An operator has no counterpart; the text says why."""


class FileQParams(NamedTuple):
    """Scale and zero point of integers, each one for all or one for each place of an axis."""

    scale: np.ndarray
    zero_point: np.ndarray
    axis: int

    @property
    def key(self) -> tuple[Any, ...]:
        """Return the bytes that two equal grids share."""
        zero_point = self.zero_point
        return self.scale.tobytes(), zero_point.tobytes(), zero_point.dtype.str


@dataclass
class Given:
    """A tensor of the file.

    Attributes
    ----------
    node
        Of the graph that is made; None of a constant.
    array
        Of a constant: its elements.
    grid : FileQParams or None
        Of the integers of a quantized tensor; of a constant that was dequantized, where its
        integers lay.
    integers : ndarray or None
        Of such a constant.
    """

    node: Any = None
    array: Any = None
    grid: FileQParams | None = None
    integers: Any = None


#: What an operator becomes: its result, or a list of its results; None where one is left out.
Made: TypeAlias = Union[Node, Given, list[Any]]  # noqa: UP007 (Node is Any at run time)
Becomes = Callable[..., Made]
_table: dict[str, Becomes] = {}


def importing(*kinds: str) -> Callable[[Becomes], Becomes]:
    """Enter what operators become: a function of importer, operator and its inputs."""

    def enter(function: Becomes) -> Becomes:
        for kind in kinds:
            _table[kind] = function
        return function

    return enter


class Importer:
    """Makes a graph module of a file.

    Attributes
    ----------
    graph : Graph
    root : Module
        Holds layers and constants.
    tensors : dict
        What is known of each tensor of the file, by name.
    problems : list
        Path, operator and reason of what has no counterpart.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.graph = Graph()
        self.root = Module()
        self.root.training = False
        self.tensors: dict[str, Given] = {"": Given()}
        self.problems: list[tuple[str, str, str]] = []
        self.path = ""
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}
        for operator in source.operators:
            for name in operator.inputs:
                self._counts[name] = self._counts.get(name, 0) + 1
        for name in source.outputs:
            self._counts[name] = self._counts.get(name, 0) + 1

    def made(self) -> GraphModule:
        """The graph module, once all operators have been seen."""
        source = self.source
        for name, array in source.constants.items():
            self.tensors[name] = Given(array=array)
        for name in source.inputs:
            self.tensors[name] = Given(self.graph.placeholder(self._argument(name)))
        for operator in source.operators:
            self._operator(operator)
        if self.problems:
            return GraphModule(self.root, Graph())
        results = [self.node(self.tensors[name]) for name in source.outputs]
        self.graph.output(results[0] if len(results) == 1 else tuple(results))
        self.graph.eliminate_dead_code()
        return GraphModule(self.root, self.graph)

    def _argument(self, name: str) -> str:
        """The name of an argument, which no other has."""
        made = identifier(name)
        while made in self._taken:
            made += "_"
        self._taken.add(made)
        return made

    def _operator(self, operator: Operator) -> None:
        self.path = path_of(operator)
        becomes = _table.get(operator.kind)
        try:
            if becomes is None:
                raise Unsupported("no counterpart")
            if any(name not in self.tensors for name in operator.inputs):
                return  # of an operator that is reported already
            inputs = [self.tensors[name] for name in operator.inputs]
            results = becomes(self, operator, *inputs)
        except Unsupported as error:
            self.problems.append((self.path, operator.kind, str(error)))
            return
        except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
            reason = f"its attributes or inputs do not fit: {error}".splitlines()[0]
            self.problems.append((self.path, operator.kind, reason))
            return
        results = results if isinstance(results, list) else [results]
        for name, result in zip(operator.outputs, results, strict=False):
            self.tensors[name] = result if isinstance(result, Given) else Given(result)

    def _fresh(self) -> str:
        """A path for a layer: that of the operator, or one near it."""
        name = made = self.path
        if self._is_taken(name):
            name = made = name.replace(".", "_")
        count = 0
        while self._is_taken(made):
            count += 1
            made = f"{name}_{count}"
        self._taken.add(made)
        return made

    def _is_taken(self, path: str) -> bool:
        """Return True if an operator has this path, or one inside of it, or one around it."""
        parts = path.split(".")
        around = {".".join(parts[:n]) for n in range(1, len(parts) + 1)}
        inside = any(each.startswith(f"{path}.") for each in self._taken)
        return inside or not around.isdisjoint(self._taken)

    def uses(self, name: str) -> int:
        """Count the operators and outputs that take a tensor."""
        return self._counts.get(name, 0)

    def rank(self, name: str) -> int:
        """Return the number of axes of a tensor.

        Raises
        ------
        Unsupported
            The file does not tell.
        """
        if name not in self.source.ranks:
            raise Unsupported("the number of axes of its input is unknown")
        return self.source.ranks[name]

    # nodes

    def node(self, given: Given) -> Any:
        """The node of a tensor; a constant becomes a buffer."""
        if given.node is None:
            if given.array is None:
                return None
            name = f"constant_{len(self.root._buffers)}"
            array = np.ascontiguousarray(given.array).reshape(given.array.shape)
            self.root.register_buffer(name, from_numpy(array.copy()))
            given.node = self.graph.get_attr(name)
        return given.node

    def stored(self, given: Given) -> Any:
        """The node of a tensor, without the grid on which its integers lie."""
        node = self.node(given)
        return node if given.array is not None or given.grid is None else self.call(stored, node)

    def call(self, function: Callable[..., Any], *args: object, **kwargs: object) -> Node:
        """A node that calls a function; the last one of an operator has its name."""
        return self.graph.create_node(
            "call_function", function, args, kwargs, name=self.path.replace(".", "_")
        )

    def method(self, name: str, *args: object, **kwargs: object) -> Node:
        """A node that calls a method of the first argument."""
        return self.graph.create_node(
            "call_method", name, args, kwargs, name=self.path.replace(".", "_")
        )

    def module(self, module: Module, *args: object) -> Node:
        """A node that calls a layer, which stands at the path of the operator."""
        path = self._fresh()
        *parts, last = path.split(".")
        owner = self.root
        for part in parts:
            if part not in owner._modules:
                owner.add_module(part, Module().eval())
            owner = owner._modules[part]
        owner.add_module(last, module.eval())
        return self.graph.call_module(path, args)

    def constant(self, given: Given, what: str) -> np.ndarray:
        """The elements of a constant.

        Raises
        ------
        Unsupported
            It is computed while the model runs.
        """
        if given.array is None:
            raise Unsupported(f"{what} is computed while the model runs")
        return np.asarray(given.array)


def path_of(operator: Operator) -> str:
    """The name of an operator in its file, as far as that is a path; else what it is."""
    parts = re.split(r"[./]+", operator.name.strip("/."))
    name = ".".join(_word(part) for part in parts if part)
    return name or _word(operator.kind.lower())


def _word(text: str) -> str:
    """Letters, digits and underscores that are no word of Python."""
    word = re.sub(r"\W", "_", text, flags=re.ASCII)
    return f"{word}_" if keyword.iskeyword(word) else word


def identifier(name: str) -> str:
    """A name that Python takes."""
    word = _word(name)
    return f"input_{word}" if not word or word[0].isdigit() else word
