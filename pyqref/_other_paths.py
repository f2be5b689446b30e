"""Names by the module paths that ``torch`` has for them, where pyqref keeps them elsewhere.

A script may write ``from torch.nn.intrinsic.qat.modules.conv_fused import ConvBn2d``: a module
that pyqref does not have, with a class that it has. ``_other_paths_table.py`` lists such modules,
and the names that each has in ``torch``. A finder, which importing this file sets up, makes a
module that is only in the list, and adds the names of the list to one that is there. A name is
then looked up when it is first asked for: in the packages around the module, from the inside
out, and then in ``HOMES``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ._lazy import importing, no_attribute
from ._other_paths_table import TABLE

__all__ = ["paths"]

PACKAGE = __package__
#: Packages that are others under a second path, with all modules below them.
SAME = {
    f"{PACKAGE}.ao.quantization": f"{PACKAGE}.quantization",
    f"{PACKAGE}.ao.nn.intrinsic": f"{PACKAGE}.nn.intrinsic",
    f"{PACKAGE}.ao.nn.qat": f"{PACKAGE}.nn.qat",
    f"{PACKAGE}.ao.nn.quantizable": f"{PACKAGE}.nn.quantizable",
    f"{PACKAGE}.ao.nn.quantized": f"{PACKAGE}.nn.quantized",
    f"{PACKAGE}.nn.quantized._reference": f"{PACKAGE}.nn.quantized.reference",
}
#: Where a name is looked for that the packages around its module do not have.
HOMES = (
    "nn",
    "nn.modules.handle",
    "nn.modules.utils",
    "nn.utils",
    "quantization",
    "quantization.backend_config",
    "quantization.fx",
    "quantization.utils",
    "fx",
    "fx.tracer",
    "utils.data",
    "optim",
    "autograd",
    "quantization.fx.numeric_suite",
)


@cache
def paths() -> dict[str, dict[str, str]]:
    """Return the names of each module path below ``pyqref``, and their places where told."""
    found: dict[str, dict[str, str]] = {}
    path = ""
    for line in TABLE.splitlines():
        if line and not line.startswith(" "):
            path, _, line = line.partition(":")
            path = f"{PACKAGE}.{path}"
            found[path] = {}
        for each in line.split():
            name, _, home = each.partition("=")
            found[path][name] = home
    for path in list(found):
        while "." in (path := path.rpartition(".")[0]):
            found.setdefault(path, {})
    return found


def _name(path: str, name: str) -> Any:
    """The object called ``name`` in the packages around ``path``, or else in ``HOMES``."""
    home, _, there = paths()[path][name].rpartition(".")
    if there:
        return getattr(_imported(f"{PACKAGE}.{home}"), there)
    around = path
    homes = []
    while "." in (around := around.rpartition(".")[0]):
        homes.append(around)
    for home in (*homes, *(f"{PACKAGE}.{home}" for home in HOMES), PACKAGE):
        module = _imported(home)
        if home not in _made and (name in vars(module) or name in getattr(module, "__all__", ())):
            value = getattr(module, name)
            if not isinstance(value, ModuleType):
                return value
    raise AttributeError(f"module {path!r} has no attribute {name!r}")


def _imported(path: str) -> ModuleType:
    with importing(path):
        return import_module(path)


#: Modules that are only in the list.
_made: set[str] = set()


def _complete(module: ModuleType) -> None:
    """Let a module find the names that the list has for it."""
    path = module.__name__
    own: Callable[[str], Any] | None = vars(module).get("__getattr__")
    more = frozenset(paths()[path])

    def found(name: str) -> Any:
        """Import what has the name, and keep it: the next use finds it at once."""
        if own is not None:
            try:
                return own(name)
            except AttributeError:
                if name not in more and f"{path}.{name}" not in paths():
                    raise
        if name not in more:
            if f"{path}.{name}" in paths():
                return _imported(f"{path}.{name}")
            raise no_attribute(path, name)
        value = _name(path, name)
        setattr(module, name, value)
        return value

    vars(module)["__getattr__"] = found


class _Made:
    """Makes a module that is only in the list."""

    def create_module(self, spec: ModuleSpec) -> None:
        """Do what the usual loader does."""

    def exec_module(self, module: ModuleType) -> None:
        path = module.__name__
        torch_path = path.replace(PACKAGE, "torch", 1)
        names = paths()[path]
        _made.add(path)
        vars(module)["__doc__"] = f"Names that ``{torch_path}`` has."
        vars(module)["__all__"] = list(names)
        vars(module)["__dir__"] = lambda: sorted({*vars(module), *names})
        _complete(module)


class _Completed:
    """Loads a module as another loader does, and adds the names of the list."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["loader"], name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self.loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        self.loader.exec_module(module)
        _complete(module)


class _Same:
    """Gives a module that is there under another path already."""

    def __init__(self, path: str) -> None:
        self.path = path

    def create_module(self, spec: ModuleSpec) -> None:
        """Do what the usual loader does."""

    def exec_module(self, module: ModuleType) -> None:
        alias = module.__name__
        sys.modules[alias] = import_module(self.path)
        # Those that are there need not be imported, which would set them as attributes of the
        # package, where functions may have their names: ``quantize``.
        for path, each in list(sys.modules.items()):
            if path.startswith(f"{self.path}."):
                sys.modules.setdefault(alias + path[len(self.path) :], each)


class _Finder:
    """Finds modules of the list; every other module is left to the finders after it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(f"{PACKAGE}."):
            return None
        for alias, real in SAME.items():
            if fullname == alias or fullname.startswith(f"{alias}."):
                real += fullname[len(alias) :]
                loader: Any = _Same(real)
                return ModuleSpec(fullname, loader) if _exists(real) else None
        if fullname not in paths():
            return None
        spec = _others(fullname, path, target)
        if spec is None:
            inner = any(other.startswith(f"{fullname}.") for other in paths())
            made: Any = _Made()
            return ModuleSpec(fullname, made, is_package=inner)
        completed: Any = _Completed(spec.loader)
        spec.loader = completed
        return spec


def _exists(path: str) -> bool:
    """Return True if there is a module of this path."""
    if path in sys.modules:
        return True
    package, _, _ = path.rpartition(".")
    if not _exists(package):
        return False
    spec = _FINDER.find_spec(path, None)
    around = getattr(import_module(package), "__path__", None)
    return spec is not None or (around is not None and _others(path, around, None) is not None)


def _others(
    fullname: str, path: Sequence[str] | None, target: ModuleType | None
) -> ModuleSpec | None:
    """Return the spec that the finders after this one find."""
    for finder in sys.meta_path:
        if finder is not _FINDER and hasattr(finder, "find_spec"):
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                return spec
    return None


_FINDER: Any = _Finder()


if _FINDER not in sys.meta_path:
    sys.meta_path.insert(0, _FINDER)
