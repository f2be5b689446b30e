"""Modules as JSON and arrays: :class:`ModuleFlattener` writes what :mod:`.building` reads.

A module is a list: the tag, a number by which it is found when it comes again, its class (of a
graph module: its name and graph), its attributes, its hooks, its parameters, its buffers with
the names of those that are not part of the state, and its submodules.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..fx.graph_module import GraphModule
from ..nn.diagnostics import NoEffectWarning, warn
from ..nn.modules.module import _HOOK_DICTIONARIES, Module
from ..quantization.eager.origins import Origin
from ..quantization.observer.partial import PartialWrapper
from ..quantization.qconfig import QConfig, QConfigDynamic
from ..serialization.structure import Flattener
from ..tensor.base import wrap
from .graphs import describe_graph
from .packed import describe_packed
from .references import name_of, name_of_function
from .script_module import RecursiveScriptModule, ScriptModule

__all__ = ["RECORDS", "ModuleFlattener"]

#: Records of pyqref that models hold, by name.
RECORDS: dict[str, Any] = {"QConfig": QConfig, "QConfigDynamic": QConfigDynamic, "Origin": Origin}
_REGISTRIES = ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set")
#: Of graph modules: made again from the graph, or of use for the trace alone.
_GRAPH_ATTRIBUTES = ("_graph", "_code", "_tracer_cls")


class _UnsavedError(TypeError):
    """A value that a file cannot hold."""


class ModuleFlattener(Flattener):
    """Takes models apart. What it cannot keep of a module's attributes it leaves out, and says so.

    Attributes
    ----------
    left_out
        Those attributes, each with its type.
    """

    def __init__(self) -> None:
        super().__init__()
        self._numbers: dict[int, int] = {}
        self.left_out: list[str] = []

    def flatten(self, value: object, path: tuple[Any, ...] = ()) -> object:
        """The JSON form of ``value``, which stands at ``path``."""
        if isinstance(value, Module):
            return self._module(value, path)
        packed = describe_packed(value)
        if packed is not None:
            return ["packed", self.flatten(packed, path)]
        if isinstance(value, type) and issubclass(value, Module):
            return ["class", name_of(value)]
        for name, record in RECORDS.items():
            if type(value) is record:
                fields = dict(value._asdict() if hasattr(value, "_asdict") else vars(value))
                return ["record", name, self.flatten(fields, path)]
        if isinstance(value, PartialWrapper) and not value.callable_args:
            return ["recipe", self._partial(value.p, path)]
        if isinstance(value, functools.partial):
            return ["partial", self._partial(value, path)]
        if isinstance(value, (set, frozenset)):
            return ["set", [self.flatten(each, path) for each in sorted(value, key=repr)]]
        if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
            return ["array", self.flatten(wrap(value), path)]
        if isinstance(value, np.generic) and value.dtype.kind in "fiub":
            return self.flatten(value.item(), path)
        if callable(value) and not hasattr(value, "__self__"):
            name_found = name_of_function(value)
            if name_found is not None:
                return ["function", name_found]
        return super().flatten(value, path)

    def _partial(self, value: Any, path: tuple[Any, ...]) -> list[Any]:
        parts = (value.func, tuple(value.args), dict(value.keywords))
        return [self.flatten(each, path) for each in parts]

    def _module(self, module: Any, path: tuple[Any, ...]) -> Any:
        if id(module) in self._numbers:
            return ["again", self._numbers[id(module)]]
        number = self._numbers[id(module)] = len(self._numbers)
        if isinstance(module, RecursiveScriptModule):
            return ["scripted", number, self.flatten(module._model, path)]
        kind: Any = name_of(type(module))
        tag = "module"
        if isinstance(module, GraphModule):
            tag, kind = "graph_module", [type(module).__name__, self._graph(module, path)]
        own = vars(module)
        return [
            tag,
            number,
            kind,
            [each for name in own for each in self._attribute(module, name, path)],
            self._hooks(module, path),
            self._members(module._parameters, path),
            self._members(module._buffers, path),
            sorted(module._non_persistent_buffers_set),
            self._members(module._modules, path),
        ]

    def _members(self, registry: dict[str, Any], path: tuple[Any, ...]) -> list[Any]:
        return [[name, self.flatten(each, (*path, name))] for name, each in registry.items()]

    def _graph(self, module: GraphModule, path: tuple[Any, ...]) -> list[Any]:
        return describe_graph(
            module.graph, lambda value, place: self.flatten(value, (*path, *place))
        )

    def _attribute(self, module: Any, name: str, path: tuple[Any, ...]) -> list[Any]:
        """The name and value of an attribute, in a list; an empty one if it is left out."""
        if name in _REGISTRIES or name in _HOOK_DICTIONARIES:
            return []
        value = vars(module)[name]
        if isinstance(module, GraphModule):
            if name in _GRAPH_ATTRIBUTES:
                return []
            if name == "meta":
                return [[name, self._meta(value, path)]]
        return self._kept(name, value, (*path, name))

    def _kept(self, name: str, value: Any, path: tuple[Any, ...]) -> list[Any]:
        """A name with a value, in a list; an empty one if the value cannot be kept."""
        try:
            return [[name, self._plain(value, path)]]
        except _UnsavedError as reason:
            self._leave_out(path, reason)
            return []

    def _meta(self, meta: dict[str, Any], path: tuple[Any, ...]) -> Any:
        """The notes of a graph module, as far as they are plain values."""
        found = [self._kept(key, value, (*path, "meta", key)) for key, value in meta.items()]
        return ["dict", [pair for pairs in found for pair in pairs]]

    def _plain(self, value: Any, path: tuple[Any, ...]) -> Any:
        """Flatten like :meth:`flatten`, without a record of values that could not be kept whole."""
        if value is None or type(value) in (bool, int, float, str):
            return self.flatten(value, path)
        arrays, names, numbers = dict(self.arrays), dict(self._names), dict(self._numbers)
        try:
            return self.flatten(value, path)
        except TypeError as error:
            self.arrays, self._names, self._numbers = arrays, names, numbers
            raise _UnsavedError(type(value).__name__) from error

    def _leave_out(self, path: tuple[Any, ...], reason: object) -> None:
        self.left_out.append(f"{'.'.join(map(str, path))} ({reason})")

    def _hooks(self, module: Any, path: tuple[Any, ...]) -> list[Any]:
        """Hooks of pyqref itself, such as an observer's; others would be lost, so refuse."""
        found = []
        for registry in _HOOK_DICTIONARIES:
            for hook in getattr(module, registry).values():
                name = name_of_function(hook) if callable(hook) else None
                if name is None or not name.startswith("pyqref."):
                    where = ".".join(map(str, path)) or type(module).__name__
                    raise TypeError(
                        f"jit.save: {where} has the hook {hook!r}, whose code cannot be saved; "
                        "remove it before (handle.remove(), with the handle that registering gave)"
                    )
                found.append([registry, name])
        return found

    def warn_of_left_out(self) -> None:
        """Tell what was left out, if anything was."""
        if self.left_out:
            warn(
                f"jit.save: a file cannot hold {', '.join(self.left_out)}: left out; the loaded "
                "model lacks it. Files hold modules, tensors, numbers, texts, functions, and "
                "dicts, lists and tuples of them",
                NoEffectWarning,
            )


def require_scripted(model: Module) -> None:
    """Raise unless a model has been scripted or traced."""
    if isinstance(model, ScriptModule):
        return
    if isinstance(model, Module):
        raise TypeError(
            f"jit.save: m must be a scripted module, got {type(model).__name__}; "
            "call pyqref.jit.script(model) first"
        )
    if callable(getattr(model, "save", None)):
        model.save(None)
    raise TypeError(f"jit.save: m must be a scripted module, got {type(model).__name__}")
