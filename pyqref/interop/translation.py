"""Code and objects of a user, written for ``torch``, as the same code and objects for this package.

A function keeps its code and gets another namespace: each name that it reads is looked up among
the globals of the original, and translated when it is first read. So ``torch`` in it is this
package, a function of the user that it calls is translated in turn, and ``math`` stays ``math``.
"""

from __future__ import annotations

import builtins
import functools
import sys
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    MappingProxyType,
    MethodType,
    ModuleType,
)
from typing import Any

from .._typing import Value
from .arrays import is_torch, named_constant, to_value
from .torch_names import TorchModule, absent, object_of_torch

__all__ = ["Names", "Translation", "is_users", "root_of"]

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), range)
_LISTS = (list, set, frozenset)
_DICTS = (dict, OrderedDict, defaultdict)


def root_of(value: object) -> str:
    """The top package in which a class or function stands."""
    return str(getattr(value, "__module__", None) or "").split(".")[0]


@functools.cache
def _uses_torch(root: str) -> bool:
    """Return True if ``torch`` is among the globals of a package."""
    if (root in sys.stdlib_module_names and root != "__main__") or root in ("numpy", "pyqref"):
        return False
    torch = sys.modules.get("torch")
    return torch is not None and any(
        any(
            (isinstance(each, ModuleType) and each.__name__.split(".")[0] == "torch")
            or root_of(each) == "torch"
            for each in list(getattr(module, "__dict__", {}).values())
            if isinstance(each, ModuleType | type | FunctionType)
        )
        for name, module in list(sys.modules.items())
        if name.split(".")[0] == root
    )


def is_users(value: object) -> bool:
    """Return True if a class or function is defined in code that is written for ``torch``."""
    root = root_of(value)
    return root != "torch" and _uses_torch(root)


class Names(dict[str, Any]):
    """The globals of a translated function: a name is translated when it is first read."""

    def __init__(self, translation: Translation, original: dict[str, Any]) -> None:
        super().__init__()
        self._translation, self._original = translation, original
        for name in ("__name__", "__package__", "__file__", "__spec__"):
            if name in original:
                self[name] = original[name]
        self["__builtins__"] = {**vars(builtins), "__import__": self._import}

    def forget(self) -> None:
        """Look all names up anew: the user may have changed them."""
        for name in [each for each in self if not each.startswith("__")]:
            del self[name]

    def __missing__(self, name: str) -> Any:
        value = self._translation.value(self._original[name])
        self[name] = value
        return value

    def _import(
        self, name: str, _globals: Any = None, _locals: Any = None, names: Any = (), level: int = 0
    ) -> Any:
        """An ``import`` statement inside a function."""
        found = builtins.__import__(name, self._original, None, names or (), level)
        return self._translation.value(found)


class _Module(ModuleType):
    """A module of the user, whose attributes are translated."""

    def __init__(self, translation: Translation, original: ModuleType) -> None:
        super().__init__(original.__name__)
        self.__dict__.update(_translation=translation, _original=original)

    def __getattr__(self, name: str) -> Any:
        value = self.__dict__["_translation"].value(getattr(self.__dict__["_original"], name))
        self.__dict__[name] = value
        return value


class Translation:
    """Translations of objects; each object has one translation.

    Parameters
    ----------
    module
        What to do with a module of ``torch``, such as an attribute may hold.
    tensor
        What to do with a tensor.
    code
        Where functions and classes are kept; these are the same for all models.
    """

    def __init__(
        self,
        module: Callable[[Any], Any] | None = None,
        tensor: Callable[[Any], Any] = to_value,
        code: Translation | None = None,
    ) -> None:
        self.module = module
        self.tensor = tensor
        self.code = code or self
        #: By the identity of the original, which is kept alive.
        self.known: dict[int, tuple[Any, Any]] = {}

    def value(self, value: object) -> Any:
        """Return the pyqref form of an object, or itself if it does not concern ``torch``."""
        if isinstance(value, _PLAIN):
            return value
        if id(value) in self.known:
            return self.known[id(value)][1]
        if isinstance(value, type | FunctionType | BuiltinFunctionType | ModuleType):
            return self.code.of_code(value)
        return self.of_object(value)

    def keep(self, value: object, made: Value) -> Value:
        """Remember what became of an object."""
        self.known[id(value)] = (value, made)
        return made

    def refresh(self) -> None:
        """Follow what has changed in modules of the user since they were first met."""
        for original, made in list(self.known.values()):
            if isinstance(made, Names):
                made.forget()
            elif isinstance(original, dict) and isinstance(made, dict):
                kind = OrderedDict if isinstance(made, OrderedDict) else dict
                for key, each in dict.items(original):
                    kind.__setitem__(made, self.value(key), self.value(each))

    # --- code: modules, classes, functions

    def of_code(self, value: Any) -> object:
        """Translate a module, a class or a function."""
        if id(value) in self.known:
            return self.known[id(value)][1]
        if isinstance(value, ModuleType):
            root = value.__name__.split(".")[0]
            if root == "torch":
                return self.keep(value, TorchModule(value.__name__))
            return self.keep(value, _Module(self, value)) if _uses_torch(root) else value
        if isinstance(value, type):
            return self.of_class(value)
        if isinstance(value, BuiltinFunctionType):
            module = value.__module__
            if module is None or module.split(".")[0] == "torch":
                owner = getattr(value, "__self__", None)
                if module is None and not is_torch_owner(owner):
                    return value
                return self.keep(value, object_of_torch(value))
            return value
        return self.of_function(value)

    def of_class(self, cls: type[Any]) -> type:
        """Translate a class: see :mod:`.mirror`."""
        raise NotImplementedError

    def of_function(self, function: FunctionType) -> object:
        """The function with its code, in a namespace that is translated."""
        home = str(function.__globals__.get("__name__", ""))
        if home.split(".")[0] == "torch":
            wrapped = getattr(function, "__wrapped__", None)
            if wrapped is not None and is_users(function):  # under @torch.no_grad(), and such
                return self.keep(function, _in_context(self, function, self.value(wrapped)))
            return self.keep(function, object_of_torch(function))
        if not _uses_torch(home.split(".")[0]):
            names = function.__globals__
            if not any(self._foreign(cell) for cell in function.__closure__ or ()):
                return function
        else:
            names = self.names(function.__globals__)
        cells = tuple(CellType() for _ in function.__closure__ or ())
        made = FunctionType(
            function.__code__, names, function.__name__, None, cells if cells else None
        )
        self.keep(function, made)
        made.__defaults__ = self.value(function.__defaults__)
        made.__kwdefaults__ = self.value(function.__kwdefaults__)
        made.__doc__, made.__module__ = function.__doc__, function.__module__
        made.__qualname__ = function.__qualname__
        for cell, original in zip(cells, function.__closure__ or (), strict=True):
            try:
                content = original.cell_contents
            except ValueError:  # not yet set
                continue
            cell.cell_contents = self.value(content)
        for key, value in vars(function).items():
            made.__dict__[key] = self.value(value)
        if _is_wrapped(function):
            from pyqref.fx.interception import intercept

            intercept(made)
        return made

    def names(self, original: dict[str, Any]) -> Names:
        """The translated namespace of a module of the user."""
        if id(original) not in self.known:
            self.keep(original, Names(self, original))
        found: Names = self.known[id(original)][1]
        return found

    def _foreign(self, cell: CellType) -> bool:
        """Return True if a function of another package holds one of the user, as decorators do."""
        try:
            content = cell.cell_contents
        except ValueError:
            return False
        return (
            isinstance(content, FunctionType | type | MethodType)
            and self.value(content) is not content
        )

    # --- objects

    def of_object(self, value: Any) -> object:
        """Translate a container, or an object with attributes."""
        if is_torch(value, "Tensor"):
            return self.keep(value, self.tensor(value))
        if is_torch(value, "Module"):
            if self.module is None:
                return absent(f"{root_of(type(value))}.{type(value).__name__}, made elsewhere,")
            return self.module(value)
        if is_torch(value, "dtype") or is_torch(value, "qscheme"):
            try:
                return named_constant(value)
            except TypeError:
                return self.keep(value, absent(str(value)))
        if is_torch(value, "memory_format") or is_torch(value, "layout"):
            return named_constant(value)
        if is_torch(value, "device"):
            from pyqref.dtypes import device

            return device("cpu")
        if is_torch(value, "Size"):
            from pyqref.tensor import Size

            return Size(value)
        if type(value) is tuple:
            return tuple(self.value(each) for each in value)
        if type(value) in _LISTS:
            made = type(value)(self.value(each) for each in value)
            return self.keep(value, made)
        if type(value) in _DICTS:
            twin: Any = (
                type(value)()
                if type(value) is not defaultdict
                else defaultdict(self.value(value.default_factory))
            )
            self.keep(value, twin)
            twin.update((self.value(k), self.value(each)) for k, each in value.items())
            return twin
        if isinstance(value, MappingProxyType):
            return self.keep(value, MappingProxyType(self.value(dict(value))))
        return self.of_other(value)

    def of_other(self, value: object) -> object:
        """Translate a callable of Python's own kinds, or an instance of a class of the user."""
        if isinstance(value, MethodType):
            return MethodType(self.value(value.__func__), self.value(value.__self__))
        if isinstance(value, functools.partial):
            keywords = {k: self.value(v) for k, v in value.keywords.items()}
            return functools.partial(self.value(value.func), *self.value(value.args), **keywords)
        if isinstance(value, property):
            return property(*(self.value(f) for f in (value.fget, value.fset, value.fdel)))
        if isinstance(value, classmethod | staticmethod):
            return type(value)(self.value(value.__func__))
        if isinstance(value, functools.cached_property):
            made: Any = functools.cached_property(self.value(value.func))
            made.attrname = value.attrname
            return made
        if hasattr(value, "cache_info") and hasattr(value, "__wrapped__"):
            size = value.cache_info().maxsize
            return self.keep(value, functools.lru_cache(size)(self.value(value.__wrapped__)))
        if root_of(type(value)) == "torch":
            return self.keep(value, object_of_torch(value))
        cls = self.value(type(value))
        return value if cls is type(value) else self._instance(value, cls)

    def _instance(self, value: Any, cls: Any) -> Any:
        """An object of a mirrored class, with the same attributes and elements."""
        if isinstance(value, tuple):
            return tuple.__new__(cls, self.value(tuple(value)))
        base: Any = next((each for each in (dict, list, set) if isinstance(value, each)), object)
        kind = OrderedDict if isinstance(value, OrderedDict) else base
        made = kind.__new__(cls)
        self.keep(value, made)
        if base is dict:
            for key, each in dict.items(value):
                kind.__setitem__(made, self.value(key), self.value(each))
        elif base is not object:
            base.__init__(made, [self.value(each) for each in base.__iter__(value)])
        for key, each in getattr(value, "__dict__", {}).items():
            made.__dict__[key] = self.value(each)
        return made


def is_torch_owner(owner: object) -> bool:
    """Return True if a builtin is bound to a class or module of ``torch``."""
    name = (
        owner.__name__
        if isinstance(owner, ModuleType)
        else f"{root_of(owner)}.{root_of(type(owner))}"
    )
    return "torch" in str(name).split(".")


def _in_context(translation: Translation, function: FunctionType, inner: Any) -> Any:
    """A function under a decorator of ``torch`` such as ``no_grad``."""
    from pyqref import tape

    for cell in function.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:
            continue
        kind = type(getattr(content, "__self__", content)).__name__
        if kind in ("no_grad", "inference_mode", "enable_grad"):
            return getattr(tape, kind)()(inner)
    return inner


def _is_wrapped(function: FunctionType) -> bool:
    """Return True if ``torch.fx.wrap`` was called for a function."""
    tracing = sys.modules.get("torch.fx._symbolic_trace")
    wrapped: Any = getattr(tracing, "_wrapped_fns_to_patch", {})
    return (id(function.__globals__), function.__name__) in wrapped
