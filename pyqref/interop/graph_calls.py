"""Functions that the nodes of a graph of ``torch`` call, and their counterparts here.

An exported graph calls ``torch.ops.aten``. Most of these operators have the arguments of the
function or method of the same name; where they have not, :data:`_ADAPTED` says what is called.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from importlib import import_module
from types import FunctionType
from typing import Any

from pyqref.nn import functional as F
from pyqref.ops import quantized as ops
from pyqref.tensor import Tensor

from .functions import attribute_exists
from .torch_names import is_absent
from .translation import Translation

__all__ = ["call_of"]

_Call = tuple[str, Any, tuple[Any, ...], dict[str, Any]]
_OPERATORS = ("add", "sub", "mul", "eq", "ne", "lt", "gt", "le", "ge")
#: ``from pyqref import tensor`` would give the function of that name.
_TENSOR = import_module("pyqref.tensor")
#: As the end of a slice: up to the end.
_LAST = 2**63 - 1


def call_of(
    op: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], objects: Translation
) -> _Call:
    """Opcode, target, arguments of the node here.

    Parameters
    ----------
    op
        ``"call_function"`` or ``"call_method"``.
    target
        A function, an operator of ``torch.ops``, or the name of a method.
    args, kwargs
        With the nodes here in the places of those of ``torch``.
    objects
        Translates functions.

    Raises
    ------
    TypeError
        There is none.
    """
    if op == "call_method":
        if not attribute_exists(target):
            raise TypeError(f"calls the method {target} of a tensor, which pyqref does not have")
        return op, target, args, kwargs
    kind = type(target).__name__
    if kind not in ("OpOverload", "OpOverloadPacket"):
        function = objects.value(target)
        if is_absent(function):
            raise TypeError(f"calls {function.__qualname__}, which pyqref does not have")
        return op, function, args, kwargs
    space, name = str(target).split(".")[:2]
    if space == "quantized":
        function = getattr(ops, name, None)
        if function is None:
            raise TypeError(f"calls torch.ops.quantized.{name}, which pyqref does not have")
        return op, function, args, kwargs
    if space == "aten":
        return _aten(name, args, kwargs)
    raise TypeError(f"calls torch.ops.{space}.{name}, which pyqref does not have")


def _aten(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Call:
    """A call of ``torch.ops.aten``."""
    # These say where a tensor lies, and how: always in memory, and in rows.
    for placed in ("device", "layout", "pin_memory"):
        kwargs.pop(placed, None)
    if name in _ADAPTED:
        return _ADAPTED[name](args, kwargs)
    if name in _OPERATORS and len(args) == 2 and not kwargs:
        return "call_function", getattr(operator, name), args, {}
    for place in (F, _TENSOR):
        function = getattr(place, name, None)
        if isinstance(function, FunctionType) and _takes(function, args, kwargs):
            return "call_function", function, args, kwargs
    plain = getattr(F, name.removesuffix("_"), None)
    if name.endswith("_") and isinstance(plain, FunctionType):
        in_place = {**kwargs, "inplace": True}
        if _takes(plain, args, in_place):
            return "call_function", plain, args, in_place
    method = getattr(Tensor, name, None)
    if callable(method) and _takes(method, args, kwargs):
        return "call_method", name, args, kwargs
    raise TypeError(f"calls torch.ops.aten.{name} with arguments that it does not take in pyqref")


def _takes(function: Callable[..., Any], args: Any, kwargs: Any) -> bool:
    """Return True if a function can be called with these arguments."""
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return False
    return True


def _function(function: Any, *args: Any, **kwargs: Any) -> _Call:
    return "call_function", function, args, kwargs


def _method(name: str, *args: Any, **kwargs: Any) -> _Call:
    return "call_method", name, args, kwargs


def _batch_norm(args: Any, _: Any) -> _Call:
    x, weight, bias, mean, variance, training, momentum, eps = args[:8]
    return _function(F.batch_norm, x, mean, variance, weight, bias, training, momentum, eps)


def _slice(args: Any, _: Any) -> _Call:
    defaults: tuple[Any, ...] = (0, None, None, 1)
    dim, start, stop, step = (*tuple(args[1:]), *defaults[len(args) - 1 :])
    stop = None if isinstance(stop, int) and stop >= _LAST else stop
    return _function(operator.getitem, args[0], _at(dim, slice(start, stop, step)))


def _select(args: Any, _: Any) -> _Call:
    x, dim, index = args
    return _function(operator.getitem, x, _at(dim, index))


def _index(args: Any, _: Any) -> _Call:
    x, indices = args
    return _function(
        operator.getitem, x, tuple(slice(None) if each is None else each for each in indices)
    )


def _at(dim: int, index: Any) -> tuple[Any, ...]:
    """The index that is ``index`` in one dimension and takes all of every other."""
    if dim < 0:
        return (Ellipsis, index, *[slice(None)] * (-dim - 1))
    return (*[slice(None)] * dim, index)


def _softmax(function: Any) -> Callable[[Any, Any], _Call]:
    return lambda args, kwargs: _function(
        function, *args[:2], **({"dtype": args[2]} if len(args) > 2 else kwargs)
    )


def _first(count: int, function: Any) -> Callable[[Any, Any], _Call]:
    """A function that takes the first arguments; those after them choose an implementation."""
    return lambda args, kwargs: _function(function, *args[:count], **kwargs)


_ADAPTED: dict[str, Callable[[Any, Any], _Call]] = {
    "batch_norm": _batch_norm,
    "softmax": _softmax(F.softmax),
    "log_softmax": _softmax(F.log_softmax),
    "layer_norm": _first(5, F.layer_norm),
    "group_norm": _first(5, F.group_norm),
    "instance_norm": lambda args, _: _function(
        F.instance_norm, args[0], args[3], args[4], args[1], args[2], *args[5:8]
    ),
    "embedding": lambda args, _: _function(F.embedding, args[1], args[0], *args[2:3]),
    "slice": _slice,
    "select": _select,
    "index": _index,
    "sym_size": lambda args, _: _method("size", *args),
    "_unsafe_view": lambda args, _: _method("view", *args),
    "t": lambda args, _: _method("t", *args),
    "alias": lambda args, _: _method("view_as", args[0], args[0]),
    "lift_fresh_copy": lambda args, _: _method("clone", *args),
    "to": lambda args, kwargs: _method("to", *args[:2], **kwargs),
    "_to_copy": lambda args, kwargs: _method("to", *args, **kwargs),
}
