"""One operation on the tape: its forward and its backward stand together.

An :class:`Operation` works on NumPy arrays and knows nothing of tensors. Running
it makes one instance, which is both the place where ``forward`` leaves what
``backward`` will need and the node of the graph that
:func:`pyqref.tape.run_backward` walks.

>>> class Square(Operation):
...     def forward(self, x):
...         self.save(x)
...         return x * x
...     def backward(self, grad):
...         (x,) = self.saved
...         return (2 * x * grad,)
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy import ndarray

from pyqref._kernels.tensors import becomes_grad

from .sums import total

__all__ = ["AccumulateGrad", "Array", "Edge", "Operation", "unbroadcast"]

Array: TypeAlias = np.ndarray[Any, Any]


_PLAIN = (type(None), bool, int, float, np.generic)
"""Types that may be saved without tying the graph to an array."""

_numbers = itertools.count(0, -1)
"""Numbers of nodes: the newest has the smallest, so a heap gives it first."""


class Edge(NamedTuple):
    """Destination of the gradient of one input: a node, and the output that the input was.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.ones(1, requires_grad=True)
    >>> edge = pyqref.relu(3 * x).grad_fn.edges[0]
    >>> type(edge.node).__name__, edge.output_index
    ('Mul', 0)
    """

    node: Operation
    output_index: int


class Operation:
    """A differentiable function of arrays and, once run, a node of the graph.

    Subclasses define :meth:`forward` and :meth:`backward`. Positional arguments of
    ``forward`` may be arrays (from tensors) or plain values; keyword arguments are
    always plain values.

    Attributes
    ----------
    is_view : bool
        Class attribute: the result may share memory with the first argument.
    label : str or None
        The name of the node, where it is not the class's name.
    saved : tuple
        What ``forward`` gave to :meth:`save`.
    edges : tuple of Edge or None
        For each positional argument, where its gradient goes.
    needs : tuple
        For each positional argument, something true where its gradient is wanted. All false
        while nothing is recorded; ``forward`` may use it to save less.
    number : int
        Smaller than those of the nodes that its gradients go to.
    output_shapes : tuple of (shape, dtype)
        Where there are several results, of each, so that a missing gradient can be taken as zero.
    makes_gradients : bool
        Class attribute: what ``backward`` returns are new arrays, which nothing else holds, one
        for each edge. A leaf may keep its own without a copy.
    saves_own : bool
        Class attribute: what ``forward`` saves are new arrays, which no tensor holds; nobody can
        change them in place.
    saves_argument : bool
        Class attribute: the first argument may be saved, and must stay as it is: where the result
        is stored over it, a copy is.
    is_quiet : bool
        Class attribute: arithmetic is left to kernels, so NumPy has nothing to warn of.
    compute : function or None
        Class attribute: a function that gives what :meth:`forward` gives, from the same positional
        arguments. While nothing is recorded, it is called instead, and no node is made.
    computes : bool
        Class attribute: whether there is such a function. A subclass that defines ``forward`` anew
        has none, unless it defines ``compute``, too.
    runs_quietly : bool
        Class attribute: NumPy has nothing to warn of in ``forward`` and ``compute``; in
        ``backward`` it may have.
    way : tuple
        Class attribute, made with the class: ``compute`` or None, whether NumPy may warn of
        something, and ``is_view``. Each call looks them up as one.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.tensor.dispatch import apply
    >>> class Cube(Operation):
    ...     def forward(self, x):
    ...         self.save(x)
    ...         return x * x * x
    ...     def backward(self, grad):
    ...         (x,) = self.saved
    ...         return (3 * x * x * grad,)
    >>> x = pyqref.tensor([2.0], requires_grad=True)
    >>> apply(Cube, x).backward()
    >>> x.grad.tolist()
    [12.0]
    """

    is_view = False
    makes_gradients = False
    saves_own = False
    is_quiet = False
    saves_argument = False
    compute: Any = None
    computes = runs_quietly = False
    way: tuple[Any, bool, bool] = (None, True, False)
    label: str | None = None

    saved: tuple[Any, ...] = ()
    edges: tuple[Edge | None, ...] = ()
    needs: tuple[Any, ...] = ()
    number = 0
    output_shapes: tuple[tuple[tuple[int, ...], Any], ...] = ()
    hooks: dict[int, list[Callable[[Array], Array | None]]] | None = None
    released = False
    _watched: tuple[tuple[list[int], int], ...] = ()

    def __init_subclass__(cls) -> None:
        if "compute" in cls.__dict__:
            cls.computes = True
        elif "forward" in cls.__dict__:
            cls.computes = False
        warns = not (cls.is_quiet or cls.runs_quietly)
        cls.way = cls.compute if cls.computes else None, warns, cls.is_view

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the result, an array or a tuple of arrays."""
        raise TypeError(f"{type(self).__name__} defines no forward")

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        """Gradients of the positional arguments of ``forward``, from those of the results.

        An argument that is no tensor, or whose gradient is not wanted, gets None.
        """
        raise RuntimeError(f"the derivative of {self.name()} is not defined")

    def save(self, *values: object) -> None:
        """Keep what ``backward`` needs; later changes in place are detected."""
        self.saved = values

    def enter(self, edges: tuple[Edge | None, ...]) -> None:
        """Take a place in the graph, in front of the nodes that gradients go to."""
        self.needs = self.edges = edges
        self.number = next(_numbers)
        # The walk back asks for these: an instance's own are found in a tenth of the time.
        self.hooks, self.output_shapes, self.released = None, (), False

    def watch(self, tensors: Sequence[Any]) -> None:
        """Remember the versions of those whose array, or a view of its memory, was saved."""
        watched = []
        for each in self.saved:
            if not isinstance(each, np.ndarray):
                continue
            # The base of a view of a view is what owns the memory, not the view between.
            is_view = each.base is not None
            for tensor in tensors:
                array = tensor._array
                if each is array or (is_view and np.may_share_memory(each, array)):
                    version = tensor._version
                    watched.append((version, version[0]))
        self._watched = tuple(watched)

    def gradients_of_results(self, arrived: dict[int, Array]) -> list[Array]:
        """One for each result; zeros where none has arrived."""
        if not self.output_shapes:
            return [arrived[0]]
        return [
            arrived[index] if index in arrived else np.zeros(shape, dtype)
            for index, (shape, dtype) in enumerate(self.output_shapes)
        ]

    def check_walkable(self) -> None:
        """Raise if what ``backward`` needs was freed, or changed in place after it was saved."""
        if self.released:
            raise RuntimeError(
                f"trying to go backward through {self.name()} a second time: the graph was freed; "
                "call backward(retain_graph=True) the first time"
            )
        self.check_unmodified()

    def check_unmodified(self) -> None:
        """Raise if a saved tensor was changed in place after it was saved."""
        for version, expected in self._watched:
            if version[0] != expected:
                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified "
                    f"by an inplace operation: {self.name()} saved it at version {expected}, it is "
                    f"at version {version[0]} now; use the out-of-place form or clone() first"
                )

    def release(self) -> None:
        """Drop the arrays that were saved; if there were any, this cannot be walked again."""
        for each in self.saved:
            if type(each) is ndarray or not isinstance(each, _PLAIN):
                self.saved = self._watched = ()
                self.released = True
                return

    def name(self) -> str:
        """Name of the node as ``torch`` shows it, such as ``MulBackward0``."""
        return self.label or f"{type(self).__name__}Backward0"

    @property
    def next_functions(self) -> tuple[tuple[Operation | None, int], ...]:
        """The nodes that gradients go to, as ``torch`` shows them."""
        return tuple((edge.node, edge.output_index) for edge in self.edges if edge is not None)

    def __repr__(self) -> str:
        return f"<{self.name()}>"


class AccumulateGrad(Operation):
    """The end of the walk: adds the gradient to ``leaf.grad``.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.ones(1, requires_grad=True)
    >>> y = (3 * x).grad_fn
    >>> y.next_functions[0][0].name()
    'AccumulateGrad'
    """

    is_quiet = True

    def __init__(self, leaf: weakref.ref[Any]) -> None:
        self.leaf = leaf  # which holds this node: were it held too, both would stay
        self.enter(())

    def name(self) -> str:
        return "AccumulateGrad"

    def accumulate(self, grad: Array, is_new: bool) -> None:
        """Add ``grad``, if there is still a leaf; ``is_new`` where nothing else holds the array."""
        leaf = self.leaf()
        if leaf is not None and not (is_new and becomes_grad(leaf, grad)):
            leaf._accumulate_grad(grad)

    def release(self) -> None:
        """A leaf keeps nothing and stays usable."""


def unbroadcast(grad: Array, shape: tuple[int, ...]) -> Array:
    """Sum a gradient over the axes along which its operand was broadcast.

    Parameters
    ----------
    grad
        Gradient of the broadcast result.
    shape
        Shape of the operand.

    Examples
    --------
    >>> unbroadcast(np.ones((4, 2)), (2,)).tolist()  # a bias that was added to four rows
    [4.0, 4.0]
    """
    if grad.shape == shape:
        return grad
    extra = grad.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(
        extra + axis
        for axis, length in enumerate(shape)
        if length == 1 and grad.shape[extra + axis] != 1
    )
    return total(grad, axes, keepdim=True).reshape(shape)
