"""A module whose forward is a list of steps, recorded from a module of ``torch``."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any

from pyqref.fx.interception import find_stand_in
from pyqref.nn import Module

from .mirror import FunctionReference
from .signature import forward_with
from .translation import is_users

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Program", "Result", "Step", "Traced", "substitute"]


@dataclass(frozen=True)
class Result:
    """Stands for what an earlier step gave."""

    name: str

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Step:
    """One line of a forward.

    Attributes
    ----------
    name : str
        What the result is called.
    kind : str
        ``"function"``: ``target(*args)``; ``"method"``: ``args[0].target(*args[1:])``;
        ``"module"``: the submodule at the path ``target`` is called; ``"operation"``: so is
        a method of it, ``target = (path, method)``; ``"attribute"``: the parameter or buffer
        at the path ``target``; ``"constant"``: ``target`` itself.
    target : object
    args : tuple
    kwargs : dict
        May hold :class:`Result`, also inside lists, tuples, dictionaries and slices.
    forget : tuple of str
        Results that no later step reads.
    """

    name: str
    kind: str
    target: Any
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = None  # type: ignore[assignment]
    forget: tuple[str, ...] = ()

    def run(self, module: Module, results: Mapping[str, Any]) -> int:
        """The result, given those of the steps before."""
        args = substitute(self.args, results)
        kwargs = substitute(dict(self.kwargs or {}), results)
        if self.kind == "function":
            return _called(self.target, args, kwargs)
        if self.kind == "method":
            return getattr(args[0], self.target)(*args[1:], **kwargs)
        if self.kind == "module":
            return module.get_submodule(self.target)(*args, **kwargs)
        if self.kind == "operation":
            path, method = self.target
            return getattr(module.get_submodule(path), method)(*args, **kwargs)
        if self.kind == "attribute":
            path, _, name = self.target.rpartition(".")
            return getattr(module.get_submodule(path), name)
        return self.target

    def __reduce__(self) -> tuple[Any, ...]:
        target = self.target
        if isinstance(target, FunctionType) and is_users(target):
            target = FunctionReference(target)
        parts = (self.name, self.kind, target, self.args, dict(self.kwargs or {}), self.forget)
        return _step, parts

    def __deepcopy__(self, memo: object) -> Step:
        return self

    def __str__(self) -> str:
        args = [repr(each) for each in self.args]
        kwargs = [f"{key}={value!r}" for key, value in (self.kwargs or {}).items()]
        call = f"({', '.join(args + kwargs)})"
        if self.kind == "function":
            return f"{self.name} = {self.target.__name__}{call}"
        if self.kind == "method":
            return f"{self.name} = {args[0]}.{self.target}({', '.join(args[1:] + kwargs)})"
        if self.kind == "module":
            return f"{self.name} = self.{self.target}{call}"
        if self.kind == "operation":
            return f"{self.name} = self.{'.'.join(self.target)}{call}"
        if self.kind == "attribute":
            return f"{self.name} = self.{self.target}"
        return f"{self.name} = {self.target!r}"


def _step(name: str, kind: str, target: Any, *rest: Any) -> Step:
    """A step that was pickled."""
    target = target.function if isinstance(target, FunctionReference) else target
    return Step(name, kind, target, *rest)


@dataclass(frozen=True)
class Program:
    """Steps, and which of their results are the output."""

    steps: tuple[Step, ...]
    output: Any

    def run(self, module: Module, inputs: Mapping[str, Any]) -> int:
        """The output, given the inputs by name."""
        results = dict(inputs)
        for step in self.steps:
            results[step.name] = step.run(module, results)
            for name in step.forget:
                results.pop(name, None)
        return substitute(self.output, results)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.steps), f"return {self.output!r}"])


class Traced(Module):
    """A module of ``torch`` of a class of its own, as the list of steps of its forward.

    Its submodules, parameters and buffers have the names that they have in ``torch``.
    A forward may depend on whether the module is training, and on which optional
    arguments it is given; each case was recorded by itself. Its own forward has the arguments
    of the original, so that it can be traced for graph mode like any other module.

    Parameters
    ----------
    name
        Name of the class in ``torch``, for printing.
    signature
        The arguments of its forward.
    programs
        From (names of the optional arguments given, training) to what was recorded, or to
        the reason why that case could not be.

    Examples
    --------
    >>> import operator
    >>> from pyqref.interop.traced import Program, Result, Step
    >>> steps = (Step("twice", "function", operator.mul, (Result("x"), 2)),)
    >>> program = Program(steps, Result("twice"))
    >>> def forward(x): ...
    >>> module = Traced("Twice", inspect.signature(forward), {(frozenset(), False): program})
    >>> print(module.eval().program())
    twice = mul(x, 2)
    return twice
    >>> module(21)
    42
    """

    def __new__(cls, name: str = "", signature: Any = None, *_: object, **__: object) -> Self:
        # Each has a class of its own, which carries its forward.
        members = {"forward": forward_with(signature, name), "__module__": cls.__module__}
        made: Self = object.__new__(type(name, (cls,), members))
        return made

    def __init__(
        self,
        name: str,
        signature: inspect.Signature,
        programs: Mapping[tuple[frozenset[str], bool], Program | str],
    ) -> None:
        super().__init__()
        self._name = name
        self._signature = signature
        self._programs = dict(programs)

    def _get_name(self) -> str:
        return self._name

    def program(self, *optional: str) -> Program:
        """The steps that are run, in the present mode, if these optional arguments are given."""
        found = self._programs.get((frozenset(optional), self.training))
        if isinstance(found, Program):
            return found
        given = ", ".join(sorted(optional)) or "none"
        raise RuntimeError(
            f"{self._name}: its forward was not recorded for these optional arguments: {given}"
            + (f"; {found}" if found else "")
        )

    def _run(self, arguments: Mapping[str, Any]) -> Any:
        """Compute the module of ``torch`` step by step."""
        optional = {name for name, value in arguments.items() if self._given(name, value)}
        return self.program(*optional).run(self, arguments)

    def _given(self, name: str, value: Any) -> bool:
        """Return True if an argument is optional and has another value than its default."""
        default = self._signature.parameters[name].default
        if default is inspect.Parameter.empty:
            return False
        return (bool(value) if isinstance(default, bool) else value) is not default

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        return _again, (self._name, self._signature), self.__getstate__()


def _again(name: str, signature: inspect.Signature) -> Traced:
    """A module without state, for copies."""
    return Traced.__new__(Traced, name, signature)


def _called(function: Any, args: Any, kwargs: Any) -> Any:
    """Call a function; those of Python itself, which compute at once, are recorded in a trace."""
    if getattr(function, "__module__", "") in ("builtins", "math") and function is not getattr:
        stand_in = find_stand_in((args, kwargs))
        if stand_in is not None:
            return stand_in.record_function(function, args, kwargs)
    return function(*args, **kwargs)


def substitute(value: object, results: Mapping[str, Any]) -> Any:
    """``value`` with every :class:`Result` replaced by what it stands for."""
    if isinstance(value, Result):
        return results[value.name]
    if isinstance(value, tuple | list):
        return type(value)(substitute(each, results) for each in value)
    if isinstance(value, dict):
        return {key: substitute(each, results) for key, each in value.items()}
    if isinstance(value, slice):
        return slice(*(substitute(each, results) for each in (value.start, value.stop, value.step)))
    return value
