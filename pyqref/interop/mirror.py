"""A class of a user, written for ``torch``, as the same class for this package."""

from __future__ import annotations

import abc
import sys
from enum import EnumMeta
from functools import reduce
from importlib import import_module
from types import GetSetDescriptorType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, NamedTuple

from .torch_names import class_of_torch, is_absent
from .translation import Translation, is_users, root_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["STATIC", "ClassReference", "FunctionReference"]

#: What a class has by itself, or must not have: the original has done its work.
_LEFT_OUT = {
    *("__dict__", "__weakref__", "__module__", "__qualname__", "__slots__", "__orig_bases__"),
    *("__init_subclass__", "__abstractmethods__", "_abc_impl", "__annotate__", "__annotate_func__"),
    *("__annotations__", "__annotations_cache__", "__static_attributes__", "__firstlineno__"),
}
_AT_ONCE = ("__orig_bases__", "__slots__")


class _Code(Translation):
    """Translates functions and classes."""

    def of_class(self, cls: type[Any]) -> type:
        """The class with the same methods for this package; itself, if it is no user's."""
        return _mirrored(self, cls)


#: Functions and classes of all models.
STATIC = _Code()


def _mirrored(translation: Translation, cls: Any) -> Any:
    """The class with the same methods for this package; itself, if it is no user's."""
    if root_of(cls) == "torch":
        return translation.keep(cls, class_of_torch(cls))
    if not is_users(cls) or _stays(cls):
        return cls
    bases = tuple(translation.value(base) for base in cls.__bases__)
    if any(is_absent(base) for base in bases):
        missing = next(base for base in bases if is_absent(base))
        raise TypeError(
            f"its class {cls.__name__} inherits from {missing.__qualname__}, which pyqref does "
            "not have"
        )
    own = {key: vars(cls)[key] for key in _AT_ONCE if key in vars(cls)}
    if id(cls) in translation.known:  # met again among its own bases
        return translation.known[id(cls)][1]
    members = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, **own}
    made: Any = _metaclass(translation, cls)(cls.__name__, bases, members)
    translation.keep(cls, made)
    for name, value in vars(cls).items():
        if name not in _LEFT_OUT and not isinstance(
            value, GetSetDescriptorType | MemberDescriptorType
        ):
            type.__setattr__(made, name, translation.value(value))
    abc.update_abstractmethods(made)
    if "__reduce_ex__" not in vars(cls) and "__reduce__" not in vars(cls):
        type.__setattr__(made, "_reference", ClassReference(cls))
        type.__setattr__(made, "__reduce_ex__", _reduce)
    return made


def _metaclass(translation: Translation, cls: type) -> Any:
    meta = translation.value(type(cls))
    return meta if isinstance(meta, type) else type


def _stays(cls: type) -> bool:
    """Return True if a class holds values and no code that could use ``torch``."""
    fixed = issubclass(cls, BaseException) or isinstance(cls, EnumMeta)
    return fixed or (issubclass(cls, tuple) and hasattr(cls, "_fields"))


class ClassReference(NamedTuple):
    """Names a class of the user, from which its mirror is found again when it is unpickled."""

    original: Any

    def make(self) -> object:
        """A new object of the mirrored class, without attributes."""
        cls = STATIC.value(self.original)
        base: Any = next((b for b in cls.__mro__ if b in (dict, list, set)), object)
        return base.__new__(cls)

    def __deepcopy__(self, memo: object) -> ClassReference:
        return self

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, str]]:
        return _found, (self.original.__module__, self.original.__qualname__)


class FunctionReference(NamedTuple):
    """Names a function of the user; its translation is pickled as that."""

    function: Any

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, str]]:
        return _translated, (self.function.__module__, self.function.__qualname__)


def _translated(module: str, name: str) -> FunctionReference:
    """The translation of the function of that name."""
    return FunctionReference(STATIC.value(_found(module, name).original))


def _found(module: str, name: str) -> ClassReference:
    """The class of that name, imported."""
    home = sys.modules.get(module) or import_module(module)
    return ClassReference(reduce(getattr, name.split("."), home))


def _reduce(self: Any, protocol: Any) -> Any:
    """Copy and pickle an object of a mirrored class."""
    state = self.__getstate__() if hasattr(self, "__getstate__") else self.__dict__
    parts: list[Any] = [ClassReference.make, (self._reference,), state]
    if isinstance(self, list | dict):
        items = iter(list.__iter__(self)) if isinstance(self, list) else None
        parts += [items, iter(dict.items(self)) if isinstance(self, dict) else None]
    return tuple(parts)
