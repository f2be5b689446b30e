"""Recording: while it runs, the operations of explainers are kept with their numbers.

Public functions arrive by :mod:`pyqref.fx.interception`; what functions on tensors do when the
tensor is quantized, and a few functions of layers, get another code object of the same kind.
Nothing is wrapped, and outside of a recording nothing is paid.
"""

from __future__ import annotations

import inspect
import linecache
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from .._insides.code_objects import detour, exchange, twin_of
from .._insides.stack import caller
from ..backends import quantized as engines
from ..fx.interception import Intercepted, watching
from ..nn.module_path import CALLS, module_path, running_module
from ..nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from ..nn.quantized import QFunctional
from ..nn.quantized.dynamic import GRU, LSTM, GRUCell, LSTMCell, RNNCell
from ..nn.quantized.integer_range import clamp_integers
from ..nn.utils.rnn import PackedSequence
from ..ops import quantized as ops
from ..quantization.observer import ObserverBase
from ..tensor.base import TensorBase
from ..tensor.dispatch import quantized as implementations
from ..tensor.learnable_fake_quantize import (
    _fake_quantize_learnable_per_channel_affine,
    _fake_quantize_learnable_per_tensor_affine,
)
from ..tensor.under_way import layer_under_way
from .draft import CAPTURES, EXPLAINERS
from .record import Record, Value

__all__ = ["Recorder"]

_GRAPH = "<pyqref.fx graph "
#: Methods that give the same numbers as another tensor.
_SAME = frozenset({"detach", "requires_grad_"})
LEARNABLE = _fake_quantize_learnable_per_tensor_affine, _fake_quantize_learnable_per_channel_affine
CELLS = LSTMCell, GRUCell, RNNCell
#: Functions of layers that are one operation, whatever they call.
_LAYERS: Any = (
    (clamp_integers, "clamp_integers"),
    *((each, each.__name__) for each in LEARNABLE),
    *((each.forward, f"dynamic.{each.__name__}") for each in (LSTM, GRU, *CELLS)),
)


class _Detour:
    """A private function whose calls are recorded."""

    def __init__(self, function: FunctionType, operation: str) -> None:
        self.function, self.operation = function, operation
        self.plain = twin_of(function)
        self.own_code = function.__code__
        self.code = detour(self.own_code, self, __file__)

    def arrive(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for recorder in reversed(Recorder.running):
            return recorder.call(self.operation, self.plain, args, kwargs)
        return self.plain(*args, **kwargs)


@cache
def _detours() -> list[_Detour]:
    """Return the functions that take quantized tensors, by the operation of the tape."""
    found: list[_Detour] = []
    seen: set[Any] = set()
    for operation in implementations:
        function = implementations[operation]
        if isinstance(function, FunctionType) and function not in seen:
            seen.add(function)
            found.append(_Detour(function, operation.__name__))
    found += [_Detour(function, name) for function, name in _LAYERS]
    return found


@cache
def _operation_of(function: Any, method: str | None) -> str:
    """Return the name by which records know a public function."""
    if method is not None:
        return method
    name = function.__name__
    return f"quantized.{name}" if function.__module__.startswith(ops.__name__) else name


@cache
def _signature(function: Any) -> inspect.Signature:
    return inspect.signature(function)


class Recorder:
    """Recorder of everything that happens inside of a ``with recording()``.

    Attributes
    ----------
    records : list of Record
        In the order in which they ran.
    results : dict
        By the path of a module, the first tensor that it gave when it was first called.
    """

    running: list[Recorder] = []

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.results: dict[str, Value] = {}
        #: By the id of a tensor: the tensor, its numbers, and its version when they were taken.
        self._values: dict[int, tuple[Any, Value, int]] = {}
        self._names: dict[str, int] = {}
        self._inside = False
        self._unknown = 0
        self._thread = 0
        self._before: list[tuple[Any, dict[str, Any]]] = []
        self._histories: dict[int, list[Record]] = {}
        self._parameters: dict[int, tuple[Any, str]] = {}

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Record what this thread runs inside."""
        self._thread = threading.get_ident()
        with ExitStack() as stack:
            stack.enter_context(watching(self._watch))
            for handle in (
                register_module_forward_pre_hook(self._enter_module),
                register_module_forward_hook(self._leave_module),
            ):
                stack.callback(handle.remove)
            if not Recorder.running:
                for each in _detours():
                    exchange(each.function, each.code)
            Recorder.running.append(self)
            stack.callback(self._uninstall)
            yield

    def _uninstall(self) -> None:
        Recorder.running.remove(self)
        if not Recorder.running:
            for each in _detours():
                exchange(each.function, each.own_code)

    # what arrives

    def _watch(self, called: Intercepted, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        operation = _operation_of(called.function, called.method)
        if operation in EXPLAINERS:
            return self.call(operation, called.plain, args, kwargs)
        if operation in _SAME:
            result = called.plain(*args, **kwargs)
            self._remember(result, self._taken(args[0]))
            return result
        if self._inside or self._unknown or threading.get_ident() != self._thread:
            return called.plain(*args, **kwargs)
        count = len(self.records)
        self._unknown += 1
        try:
            result = called.plain(*args, **kwargs)
        finally:
            self._unknown -= 1
        if len(self.records) == count and isinstance(result, TensorBase):
            kind = "quantized" if result.is_quantized else "float"
            if self._known(result) is None and (result.is_quantized or _is_real(result)):
                given = {f"argument {n}": self._taken(each) for n, each in enumerate(args)}
                self._keep(Record(operation, "", given, kind=kind), result)
        return result

    def call(
        self,
        operation: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> object:
        """Run an operation, and record it unless another one runs it."""
        if self._inside or threading.get_ident() != self._thread:
            return function(*args, **kwargs)
        self._inside = True
        try:
            bound = _signature(function).bind(*args, **kwargs)
            bound.apply_defaults()
            given = {name: self._taken(value) for name, value in bound.arguments.items()}
            if operation in CAPTURES:
                given.update(CAPTURES[operation](bound.arguments))
        except TypeError:  # the function says what is wrong
            given = None
        try:
            result = function(*args, **kwargs)
        finally:
            self._inside = False
        if given is not None and not self._unchanged(result, args):
            self._keep(Record(operation, "", given), result)
        return result

    def _enter_module(self, module: Any, args: tuple[Any, ...]) -> None:
        if threading.get_ident() != self._thread:
            return
        if not module_path(module):  # the outermost
            for name, each in (*module.named_parameters(), *module.named_buffers()):
                self._parameters.setdefault(id(each), (each, name))
        if isinstance(module, ObserverBase):
            state = {name: each._array.copy() for name, each in module.named_buffers()}
            self._before.append((module, state))

    def _leave_module(self, module: Any, args: tuple[Any, ...], result: Any) -> None:
        if threading.get_ident() != self._thread:
            return
        first = next(_tensors(result), None)
        found = None if first is None else self._known(first)
        if found is None and any(first is each for each in args):
            found = self._taken(first)
        if found is not None:
            self.results.setdefault(module_path(module), found)
        if not self._before or self._before[-1][0] is not module:
            return
        _, state = self._before.pop()
        if not args or not isinstance(args[0], TensorBase):
            return
        after = {name: each._array.copy() for name, each in module.named_buffers()}
        history = self._histories.setdefault(id(module), [])
        given = {"x": self._taken(args[0]), "observer": module, "before": state, "after": after}
        operation = f"observer.{type(module).__name__}"
        history.append(Record(operation, "", {**given, "history": history}, kind="observer"))
        self._keep(history[-1], None)

    # what is kept

    def _taken(self, value: Any) -> Any:
        """An argument as a record keeps it."""
        if isinstance(value, TensorBase):
            return self._known(value) or self._new(value)
        if type(value) in (list, tuple):
            return type(value)([self._taken(each) for each in value])
        if isinstance(value, PackedSequence):
            return PackedSequence(*(self._taken(each) for each in value))
        return value

    def _new(self, tensor: Any, maker: Record | None = None, name: str = "input") -> Value:
        if maker is None and id(tensor) in self._parameters:
            name = self._parameters[id(tensor)][1]
        value = Value(tensor._array.copy(), tensor._quantizer, name, maker)
        self._remember(tensor, value)
        return value

    def _remember(self, tensor: Any, value: Value) -> None:
        self._values[id(tensor)] = tensor, value, tensor._version[0]

    def _known(self, tensor: Any) -> Value | None:
        """Return the record of a tensor that has not changed since; else None."""
        found = self._values.get(id(tensor))
        if found is None or found[0] is not tensor or found[2] != tensor._version[0]:
            return None
        return found[1] if found[1].shape == tensor._array.shape else None

    def _unchanged(self, result: Any, args: tuple[Any, ...]) -> bool:
        """Return True if a function gave back an argument without a change."""
        if not any(result is each for each in args):
            return False
        known = self._known(result)
        return known is not None and np.array_equal(known.array, result._array)

    def _keep(self, record: Record, result: Any) -> None:
        record.settings = {
            "engine": engines.engine,
            "conventions": engines.conventions,
            "arithmetic": engines.arithmetic,
        }
        record.module, record.layer = self._layer(record)
        self.records.append(record)
        record.outputs = [self._new(each, record, record.layer) for each in _tensors(result)]

    def _layer(self, record: Record) -> tuple[str, str]:
        """The path of the module that runs, and a name for the operation."""
        layer = layer_under_way()
        path = "" if layer is None else layer.path
        module, node = _under_way()
        if node and running_module() is module:
            name = f"{path}.{node}" if path else node
        elif module is not None and not node:
            name = module_path(module) or record.operation.rpartition(".")[2]
        elif layer is not None and layer.is_own and path:
            name = path
        else:
            word = record.operation.rpartition(".")[2].lower()
            name = f"{path}.{word}" if path else word
        count = self._names[name] = self._names.get(name, -1) + 1
        return path, f"{name}_{count}" if count else name

    def value_of(self, tensor: object) -> Value | None:
        """Return the record of a tensor, or None if it has changed since."""
        return self._known(tensor)


def _tensors(result: Any) -> Iterator[Any]:
    """The tensors among what an operation gave, in order."""
    if isinstance(result, TensorBase):
        yield result
    elif isinstance(result, PackedSequence):
        yield result.data
    elif isinstance(result, tuple | list):
        for each in result:
            yield from _tensors(each)


def _is_real(tensor: Any) -> bool:
    return bool(tensor._array.dtype.kind == "f")


def _under_way() -> tuple[Any, str]:
    """The graph module whose code runs innermost and the node that it computes.

    Or the module whose methods stand for operations, such as ``QFunctional``, and no node.
    """
    frame: Any = caller(2)
    while frame is not None and frame.f_code not in CALLS:
        code = frame.f_code
        if code.co_filename.startswith(_GRAPH):
            line = linecache.getline(code.co_filename, frame.f_lineno).strip()
            name, equals, _ = line.partition(" = ")
            known = equals and name.isidentifier()
            return frame.f_locals.get("self"), name if known else "output"
        owner = frame.f_locals.get("self")
        if isinstance(owner, QFunctional):
            return owner, ""
        frame = frame.f_back
    return None, ""
