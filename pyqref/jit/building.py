"""Modules from JSON and arrays: every node is checked, and no code runs but pyqref's own.

A module is made without its ``__init__``: its class is looked up, its attributes, parameters,
buffers and submodules are put where they were.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from ..fx.graph_module import GraphModule
from ..nn.modules.module import _HOOK_DICTIONARIES, Module
from ..quantization.observer.partial import PartialWrapper
from ..serialization.container import short
from ..serialization.structure import Builder
from ..tape import Array
from ..tensor.base import TensorBase
from ..tensor.parameter import Parameter
from .graphs import graph_from
from .packed import packed_from
from .references import find_class, find_function
from .script_module import RecursiveScriptModule
from .taking_apart import RECORDS

__all__ = ["ModuleBuilder"]

_WRONG = (TypeError, ValueError, RuntimeError, AttributeError, KeyError, IndexError)


class ModuleBuilder(Builder):
    """Puts models together again.

    Parameters
    ----------
    arrays
        By name, as the file has them.
    file
        Its name, for errors.
    given
        Classes and functions that the caller passed, by name.
    """

    def __init__(self, arrays: dict[str, Array], file: str, given: Mapping[str, Any]) -> None:
        super().__init__(arrays, file)
        self.given = given
        self._modules: dict[int, Any] = {}
        self._tensors: dict[str, Any] = {}

    def build(self, node: Any, depth: int = 0) -> object:
        """The value whose JSON form is ``node``."""
        tag = node[0] if isinstance(node, list) and node else None
        reader = getattr(self, f"_read_{tag}", None) if isinstance(tag, str) else None
        if reader is None or len(node) < 2:
            return super().build(node, depth)
        if depth > 200:
            self._refuse("the structure is nested too deeply")
        return reader(node[1:], depth + 1)

    def _read_module(self, rest: list[Any], depth: int) -> Any:
        self._require(rest, 8)
        number, name = rest[:2]
        if not isinstance(name, str):
            self._refuse(f"the class of a module is {short(name)}")
        found = find_class(name, self.given)
        if isinstance(found, str):
            self._refuse(found)
        module: Any = object.__new__(found)
        Module.__init__(module)
        self._remember(number, module)
        self._fill(module, rest[2:], depth)
        return module

    def _read_graph_module(self, rest: list[Any], depth: int) -> Any:
        self._require(rest, 8)
        number, kind = rest[:2]
        if not isinstance(kind, list) or len(kind) != 2 or not isinstance(kind[0], str):
            self._refuse(f"a graph module is {short(kind)}")
        module: Any = GraphModule.__new__(GraphModule)
        Module.__init__(module)
        type(module).__name__ = type(module).__qualname__ = kind[0]
        module.__dict__.update(meta={}, _tracer_cls=None)
        self._remember(number, module)
        self._fill(module, rest[2:], depth)
        try:
            module.graph = graph_from(
                kind[1], lambda each: self.build(each, depth), self.given, module
            )
        except (*_WRONG, SyntaxError) as error:
            self._refuse(str(error))
        return module

    def _read_scripted(self, rest: list[Any], depth: int) -> Any:
        self._require(rest, 2)
        model = self.build(rest[1], depth)
        if not isinstance(model, Module):
            self._refuse(f"a scripted module is a {type(model).__name__}")
        made = RecursiveScriptModule(model)
        self._remember(rest[0], made)
        return made

    def _read_again(self, rest: list[Any], depth: int) -> Any:
        self._require(rest, 1)
        if type(rest[0]) is not int or rest[0] not in self._modules:
            self._refuse(f"the structure names the module {short(rest[0])}, which it does not have")
        return self._modules[rest[0]]

    def _read_packed(self, rest: list[Any], depth: int) -> Any:
        self._require(rest, 1)
        try:
            return packed_from(self.build(rest[0], depth))
        except _WRONG as error:
            self._refuse(f"a packed weight: {error}")

    def _read_record(self, rest: list[Any], depth: int) -> Any:
        self._require(rest, 2)
        record, fields = RECORDS.get(str(rest[0])), self.build(rest[1], depth)
        if record is None or not isinstance(fields, dict):
            self._refuse(f"a record is {short(rest)}")
        try:
            return record(**fields)
        except _WRONG as error:
            self._refuse(f"a {rest[0]}: {error}")

    def _read_class(self, rest: list[Any], depth: int) -> Any:
        found = find_class(str(rest[0]), self.given)
        if isinstance(found, str):
            self._refuse(found)
        return found

    def _read_function(self, rest: list[Any], depth: int) -> Any:
        found = find_function(str(rest[0]), self.given)
        if isinstance(found, str):
            self._refuse(found)
        return found

    def _read_recipe(self, rest: list[Any], depth: int) -> Any:
        return PartialWrapper(self._read_partial(rest, depth))

    def _read_partial(self, rest: list[Any], depth: int) -> Any:
        self._require(rest, 1)
        self._require(rest[0], 3)
        function, args, kwargs = (self.build(each, depth) for each in rest[0])
        if not callable(function) or not isinstance(args, tuple) or not isinstance(kwargs, dict):
            self._refuse(f"a partial is {short(rest)}")
        return functools.partial(function, *args, **kwargs)

    def _read_set(self, rest: list[Any], depth: int) -> Any:
        self._require(rest, 1)
        if not isinstance(rest[0], list):
            self._refuse(f"a set is {short(rest)}")
        try:
            return {self.build(each, depth) for each in rest[0]}
        except TypeError:
            self._refuse(f"a set is {short(rest)}")

    def _read_array(self, rest: list[Any], depth: int) -> Any:
        tensor = self.build(rest[0], depth)
        if not isinstance(tensor, TensorBase) or tensor.is_quantized:
            self._refuse(f"an array is {short(rest)}")
        return tensor._array

    def _fill(self, module: Any, parts: list[Any], depth: int) -> None:
        """Attributes, hooks, parameters, buffers and submodules."""
        attributes, hooks, parameters, buffers, transient, modules = parts
        own = vars(module)
        for name, value in self._pairs(attributes, depth):
            if name in own and name not in ("training", "meta"):
                self._refuse(f"a module has the attribute {name!r} twice")
            own[name] = value
        if not isinstance(hooks, list):
            self._refuse(f"the hooks of a module are {short(hooks)}")
        for found in hooks:
            self._hook(module, found)
        wanted = (
            (parameters, "_parameters", Parameter),
            (buffers, "_buffers", TensorBase),
            (modules, "_modules", Module),
        )
        for part, registry, kind in wanted:
            for name, value in self._pairs(part, depth):
                if value is not None and not isinstance(value, kind):
                    self._refuse(f"{registry} of a module has a {type(value).__name__} {name!r}")
                own[registry][name] = value
        if not isinstance(transient, list) or not all(isinstance(each, str) for each in transient):
            self._refuse(f"the names of buffers are {short(transient)}")
        own["_non_persistent_buffers_set"].update(transient)

    def _hook(self, module: Any, found: Any) -> None:
        self._require(found, 2)
        registry, name = found
        if registry not in _HOOK_DICTIONARIES or not str(name).startswith("pyqref."):
            self._refuse(f"a module has the hook {short(found)}")
        hook = self._read_function([name], 0)
        if registry == "_forward_pre_hooks":
            module.register_forward_pre_hook(hook)
        elif registry == "_forward_hooks":
            module.register_forward_hook(hook)
        else:
            self._refuse(f"a module has the hook {short(found)}")

    def _pairs(self, part: Any, depth: int) -> list[tuple[str, Any]]:
        if not isinstance(part, list):
            self._refuse(f"a part of a module is {short(part)}")
        found = []
        for pair in part:
            self._require(pair, 2)
            if not isinstance(pair[0], str):
                self._refuse(f"a part of a module has the name {short(pair[0])}")
            found.append((pair[0], self.build(pair[1], depth)))
        return found

    def _tensor(self, tag: str, rest: list[Any]) -> Any:
        """One object for each tensor, however often it is named."""
        key = repr((tag, rest))
        if key not in self._tensors:
            self._tensors[key] = super()._tensor(tag, rest)
        return self._tensors[key]

    def _remember(self, number: Any, module: Any) -> None:
        if type(number) is not int or number in self._modules:
            self._refuse(f"a module has the number {short(number)}")
        self._modules[number] = module

    def _require(self, found: Any, length: int) -> None:
        if not isinstance(found, list) or len(found) != length:
            self._refuse(f"the structure has a node {short(found)}")
