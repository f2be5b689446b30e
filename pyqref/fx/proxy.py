"""A proxy: the stand-in for a value of the model while it is traced."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from .._insides.bytecode import unpacks_into
from .._insides.stack import caller
from .._typing import Tensor, TracerBase
from ..tensor.base import TensorBase
from ..tensor.size import Size
from .errors import TraceError, explain
from .interception import StandIn
from .node import Node
from .recording import record_call

__all__ = ["Attribute", "ParameterProxy", "Proxy"]


_AS_IT_IS = "compute with the tensor itself; x.shape[0] and x.size(0) may be used as they are"
_FIXED_COUNT = (
    "let loops and indices count something fixed, such as a setting of the module, or compute "
    "with\n    the tensor as a whole"
)
_NOT_NUMPY = (
    "call the functions of pyqref in NumPy's place, pyqref.exp for np.exp: they are recorded"
)


def _refuse_conversion(what: str, rewrite: str = _AS_IT_IS) -> Callable[..., NoReturn]:
    def method(self: Proxy, *_: Any, **__: Any) -> NoReturn:
        raise self._explain(f"A traced value was converted to {what}", rewrite)

    return method


class Proxy(StandIn):
    """Records what is done with it: operators, methods, functions, indexing, attributes.

    Parameters
    ----------
    node
        The node that computes the value.
    tracer
        What makes new nodes; by default they are appended to the graph of ``node``.

    Raises
    ------
    TraceError
        Where a value is asked for: in a branch, a loop, ``len``, ``int``, an assignment to
        elements.

    Examples
    --------
    >>> import pyqref
    >>> graph = pyqref.fx.Graph()
    >>> x = pyqref.fx.Proxy(graph.placeholder("x"))
    >>> pyqref.relu(x + 1).flatten()
    Proxy(flatten)
    >>> [node.name for node in graph.nodes]
    ['x', 'add', 'relu', 'flatten']

    Source: documentation of ``torch.fx.Proxy``.
    """

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.node = node
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, name: str) -> Attribute:
        if name.startswith("__") or name in ("node", "tracer"):
            raise AttributeError(name)
        return Attribute(self, name)

    def __call__(self, *args: object, **kwargs: object) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    # How functions and tensors' methods that were given a proxy come here

    def record_function(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return record_call(self.tracer.create_proxy, function, args, kwargs)

    def record_method(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
        if name == "__setitem__":
            self._refuse_assignment()
        if name == "__getitem__":
            return self.tracer.create_proxy("call_function", operator.getitem, args, kwargs)
        return self.tracer.create_proxy("call_method", name, args, kwargs)

    # What needs a value

    def _explain(self, what: str, rewrite: str) -> TraceError:
        return explain(what, self.node, rewrite, getattr(self.tracer, "scope", None))

    def __iter__(self) -> Iterator[Any]:
        count = unpacks_into(caller())
        if count is not None:
            return (operator.getitem(self, index) for index in range(count))
        found: Iterator[Any] = self.tracer.iter(self)
        return found

    def __bool__(self) -> bool:
        return bool(self.tracer.to_bool(self))

    def keys(self) -> Proxy:
        """Ask the tracer for the keys, as ``**proxy`` does."""
        return self.tracer.keys(self)

    def __len__(self) -> NoReturn:
        raise self._explain(
            "The length of a traced value was asked for",
            "use x.shape[0], which is recorded, or pyqref.fx.wrap('len') at the top of the file",
        )

    def __contains__(self, item: object) -> NoReturn:
        raise self._explain(
            "'in' asks for the elements of a traced value",
            "write (x == item).any(), which is recorded",
        )

    __int__ = _refuse_conversion("int(...)")
    __index__ = _refuse_conversion("an index or range(...)", _FIXED_COUNT)
    __float__ = _refuse_conversion("float(...)")
    __complex__ = _refuse_conversion("complex(...)")
    __round__ = _refuse_conversion("round(...)")
    __array__ = _refuse_conversion("a NumPy array", _NOT_NUMPY)

    def __format__(self, spec: str) -> str:
        if spec:
            raise self._explain(f"A traced value was formatted as {spec!r}", _AS_IT_IS)
        return repr(self)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: object
    ) -> Proxy:
        """An operator between a number or array of NumPy and a proxy; NumPy functions cannot be."""
        name = _OPERATOR_OF_UFUNC.get(ufunc)
        if name is None or method != "__call__" or isinstance(inputs[0], Proxy):
            raise self._explain(
                f"NumPy's {ufunc.__name__} was called with a traced value", _NOT_NUMPY
            )
        # NumPy makes arrays of its numbers; [()] makes numbers of these again.
        return getattr(self, name)(inputs[0][()] if np.ndim(inputs[0]) == 0 else inputs[0])

    def __array_function__(self, func: Callable[..., Any], *_: object) -> NoReturn:
        raise self._explain(f"NumPy's {func.__name__} was called with a traced value", _NOT_NUMPY)

    def _refuse_assignment(self, *_: Any) -> NoReturn:
        raise self._explain(
            "Elements of a traced value are assigned in place",
            "make a new tensor with pyqref.where, cat or masked_fill",
        )

    __setitem__ = __delitem__ = _refuse_assignment


class Attribute(Proxy):
    """``x.name``: recorded as a method if it is called, else as an attribute when it is used."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root = root
        self.attr = attr
        self.tracer = root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node that fetches the attribute; made when first asked for."""
        if self._node is None:
            proxy = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {})
            self._node = proxy.node
        return self._node

    def __call__(self, *args: object, **kwargs: object) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A parameter whose shape is known, so that code may branch on it."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Tensor) -> None:
        super().__init__(node, tracer)
        self.param = param
        self.name = name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Size:
        return self.param.shape

    @property
    def ndim(self) -> int:
        return int(self.param.ndim)

    def size(self, *dim: int) -> Size | int:
        """The size, or that of one dimension."""
        return self.param.size(*dim)

    def dim(self) -> int:
        """Return the number of dimensions."""
        return int(self.param.dim())

    def numel(self) -> int:
        """Return the number of elements."""
        return int(self.param.numel())

    def nelement(self) -> int:
        """Return the number of elements."""
        return self.numel()


#: What makes nodes for a proxy without a tracer. The class stands in :mod:`.recorder`; users
#: of ``torch`` look for it here.
GraphAppendingTracer: Any = None


def set_appending_tracer(maker: Callable[[Any], Any]) -> None:
    """Say what makes nodes for a proxy without a tracer; called once, where it is defined."""
    global GraphAppendingTracer
    GraphAppendingTracer = maker


def _recorded(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Proxy, *others: Any) -> Any:
        return self.tracer.create_proxy("call_function", function, (self, *others), {})

    return method


def _reflected(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """``other + x``: of a tensor that is no proxy its method is recorded, as in ``torch``."""

    def method(self: Proxy, other: Any) -> Any:
        if isinstance(other, TensorBase):
            return self.tracer.create_proxy("call_method", name, (other, self), {})
        return self.tracer.create_proxy("call_function", function, (other, self), {})

    return method


# The operators of two values, with the names of the tensor's methods.
_BOTH = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "__floordiv__",
    "mod": "remainder", "pow": "pow", "matmul": "matmul", "lshift": "__lshift__",
    "rshift": "__rshift__", "and": "__and__", "or": "__or__", "xor": "__xor__",
}  # fmt: skip
#: What ``array + x`` and the like ask a proxy for.
_OPERATOR_OF_UFUNC = {
    np.add: "__radd__", np.subtract: "__rsub__", np.multiply: "__rmul__",
    np.true_divide: "__rtruediv__", np.floor_divide: "__rfloordiv__", np.remainder: "__rmod__",
    np.power: "__rpow__", np.matmul: "__rmatmul__", np.left_shift: "__rlshift__",
    np.right_shift: "__rrshift__", np.bitwise_and: "__rand__", np.bitwise_or: "__ror__",
    np.bitwise_xor: "__rxor__", np.equal: "__eq__", np.not_equal: "__ne__", np.less: "__gt__",
    np.greater: "__lt__", np.less_equal: "__ge__", np.greater_equal: "__le__",
}  # fmt: skip
_OTHERS = ("eq", "ne", "lt", "gt", "le", "ge", "neg", "pos", "invert", "abs", "getitem")

for _name in (*_BOTH, *_OTHERS):
    _function = getattr(operator, f"{_name}_" if _name in ("and", "or") else _name)
    setattr(Proxy, f"__{_name}__", _recorded(_function))
    if _name in _BOTH:
        setattr(Proxy, f"__r{_name}__", _reflected(_function, _BOTH[_name]))
