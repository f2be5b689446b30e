"""Interception: a call such as ``relu(x)`` becomes a node when ``x`` is a stand-in.

The functions of this library are plain Python functions and know nothing of tracing. As
long as a stand-in lives, every public function carries another *code object*, its
``__code__``: one that looks for stand-ins among the arguments, hands such calls to them,
and passes all others on. When the last stand-in dies the functions get their own code back.
How code is exchanged stands in :mod:`pyqref._insides.code_objects`.

Because the function *object* is never replaced, every way of reaching it is covered:
``F.relu``, ``from pyqref.nn.functional import relu``, a table of functions, a default
argument, a ``functools.partial``. The node's target is that object. And outside of tracing
nothing is paid, not even a test of a flag.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias

from .._insides.code_objects import detour, exchange, twin_of
from ..library import Operator
from ..tensor.assertions import _assert, _check
from ..tensor.quantized.tensor import QuantizedTensor
from ..tensor.tensor import Tensor

if TYPE_CHECKING:
    from typing_extensions import Self
else:
    Self = Any  # typing.get_type_hints reads it

__all__ = [
    "Intercepted",
    "StandIn",
    "intercept",
    "intercepted_functions",
    "intercepting",
    "plain",
    "watching",
]

#: Called with what is called, its arguments, and its keyword arguments.
Watcher: TypeAlias = "Callable[[Intercepted, tuple[Any, ...], dict[str, Any]], Any]"

# Where public functions are listed in __all__. All are imported, by name, when a stand-in is made:
# what pyqref imports at its first use may first be used in the model that is traced.
NAMESPACES = (
    "pyqref.tensor",
    "pyqref.tensor.fake_quantize",
    "pyqref.tensor.fused_fake_quantize",
    "pyqref.nn.functional",
    "pyqref.ops.quantized",
    "pyqref.nn.quantized.functional",
)
# These ask what kind of object they are given; a stand-in is not a tensor.
ANSWERED = frozenset({"is_tensor", "typename"})

_lock = threading.RLock()
_holders = 0
_extra: dict[FunctionType, Intercepted] = {}
_watchers: list[Watcher] = []
_installed: list[Intercepted] = []


class StandIn:
    """Base class of values that record what is done with them.

    Interception is in place as long as one lives.
    """

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        _hold()
        return super().__new__(cls)

    def __del__(self) -> None:
        if not sys.is_finalizing():
            _release()

    def record_function(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """A function is called with this value among its arguments."""
        raise NotImplementedError

    def record_method(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
        """A tensor's method is called with this value among its arguments."""
        raise NotImplementedError


class Intercepted:
    """A function whose calls with a stand-in are recorded.

    Attributes
    ----------
    function
        The function, as users know it.
    plain
        The same with its own code, whatever ``function`` carries at the moment.
    method
        If it is recorded as a method of its first argument, the name of that.
    """

    def __init__(self, function: FunctionType, method: str | None = None) -> None:
        self.function = function
        self.method = method
        self.own_code = function.__code__
        self.plain = twin_of(function)
        self.code = detour(self.own_code, self, __file__)

    def arrive(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
        """A call of the function while interception is in place."""
        stand_in = find_stand_in((args, kwargs))
        if stand_in is None:
            if _watchers:
                return _watchers[-1](self, args, kwargs)
            return self.plain(*args, **kwargs)
        if self.function is Operator.__call__:
            return stand_in.record_function(args[0], args[1:], kwargs)
        if self.method is not None:
            return stand_in.record_method(self.method, args, kwargs)
        return stand_in.record_function(self.function, args, kwargs)


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its own code, for looking at its signature or text."""
    with _lock:
        found = next((each for each in _installed if each.function is function), None)
    return function if found is None else found.plain


def find_stand_in(value: object) -> StandIn | None:
    """The first stand-in in nested tuples, lists, dicts and slices."""
    if isinstance(value, StandIn):
        return value
    inner: Any = ()
    if isinstance(value, tuple | list):
        inner = value
    elif isinstance(value, dict):
        inner = value.values()
    elif isinstance(value, slice):
        inner = (value.start, value.stop, value.step)
    for each in inner:
        found = find_stand_in(each)
        if found is not None:
            return found
    return None


def intercept(function: FunctionType) -> None:
    """Record calls of a user's function from now on."""
    with _lock:
        if any(function is each.function for each in _installed) or function in _extra:
            return
        _extra[function] = Intercepted(function)
        if _holders:
            _install(_extra[function])


def intercepted_functions() -> Iterator[tuple[FunctionType, str | None]]:
    """Every function to intercept; with its name if it is a method only."""
    yield Operator.__call__, None  # type: ignore[misc]
    yield _assert, None  # type: ignore[misc]
    yield _check, None  # type: ignore[misc]
    seen: set[FunctionType] = set()
    for name in NAMESPACES:
        module = import_module(name)
        for public in module.__all__:
            function = getattr(module, public, None)
            if isinstance(function, FunctionType) and public not in ANSWERED:
                if function not in seen:
                    yield function, None
                seen.add(function)
    for kind in (Tensor, QuantizedTensor):
        for base in kind.__mro__:
            for name, method in vars(base).items():
                named = not name.startswith("_") or name in ("__getitem__", "__setitem__")
                if named and isinstance(method, FunctionType) and method not in seen:
                    seen.add(method)
                    yield method, name


@cache
def _of(function: FunctionType, method: str | None) -> Intercepted:
    return Intercepted(function, method)


def _install(each: Intercepted) -> None:
    each.function.__wrapped__ = each.plain  # type: ignore[attr-defined]  # what inspect shows
    exchange(each.function, each.code)
    _installed.append(each)


def _remove(each: Intercepted) -> None:
    exchange(each.function, each.own_code)
    each.function.__dict__.pop("__wrapped__", None)
    each.function.__dict__.update(each.plain.__dict__)


def _hold() -> None:
    global _holders
    with _lock:
        _holders += 1
        if _holders == 1:
            for function, method in intercepted_functions():
                _install(_of(function, method))
            for extra in _extra.values():
                _install(extra)


def _release() -> None:
    global _holders
    with _lock:
        _holders -= 1
        if _holders == 0:
            while _installed:
                _remove(_installed.pop())


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Hand every call without a stand-in to ``watcher(intercepted, args, kwargs)``.

    It gives what the call gives, as a rule by calling ``intercepted.plain``. The newest watcher
    alone is asked.

    Examples
    --------
    >>> import pyqref
    >>> seen = []
    >>> def watcher(intercepted, args, kwargs):
    ...     seen.append(intercepted.function.__name__)
    ...     return intercepted.plain(*args, **kwargs)
    >>> x = pyqref.ones(3)
    >>> with watching(watcher):
    ...     y = pyqref.cumsum(x, 0)
    >>> "cumsum" in seen
    True
    """
    with intercepting():
        _watchers.append(watcher)
        try:
            yield
        finally:
            _watchers.remove(watcher)


@contextmanager
def intercepting() -> Iterator[None]:
    """Keep interception in place, whether a stand-in lives or not."""
    _hold()
    try:
        yield
    finally:
        _release()
