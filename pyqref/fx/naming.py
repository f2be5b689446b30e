"""Names: of nodes from what they do, and of functions from where users find them."""

from __future__ import annotations

import builtins
import keyword
import re
import sys
from collections import Counter
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..library import Operator

__all__ = ["Namespace", "node_name", "qualified_name", "snake_case"]

# Names that generated code uses for other things.
RESERVED = frozenset({"inf", "nan", "NoneType", "pyqref", "torch", "device"})

_STANDARD = {"builtins", "math", "cmath", "operator"}


class Namespace:
    """Gives out names that are Python identifiers, and each but once.

    Examples
    --------
    >>> names = Namespace()
    >>> [names.create_name(each) for each in ("relu", "relu", "a.b", "sum", "for", "1x")]
    ['relu', 'relu_1', 'a_b', 'sum_1', 'for_1', '_1x']
    """

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._last_number: Counter[str] = Counter()

    def create_name(self, candidate: str) -> str:
        """A free name as near to ``candidate`` as can be; taken from now on."""
        candidate = re.sub(r"[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        found = re.fullmatch(r"(.+)_(\d+)", candidate)
        base, number = (found[1], int(found[2])) if found else (candidate, None)
        if number is None or candidate in self._used:
            number = self._last_number[base]
            if _is_illegal(candidate):
                number += 1
                candidate = f"{base}_{number}"
        while candidate in self._used:
            number += 1
            candidate = f"{base}_{number}"
        self._used.add(candidate)
        self._last_number[base] = number
        return candidate

    def __contains__(self, name: str) -> bool:
        return name in self._used


_BUILTINS = frozenset(dir(builtins)) - {"_"}
"""Names of Python's own; ``_`` is among them only while an interactive interpreter runs."""


def _is_illegal(name: str) -> bool:
    return keyword.iskeyword(name) or name in _BUILTINS or name in RESERVED


def snake_case(name: str) -> str:
    """``layerOne`` as ``layer_one``."""
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()


def node_name(target: object) -> str:
    """Return the name of a node before numbers are added."""
    name = target if isinstance(target, str) else getattr(target, "__name__", str(target))
    if len(name) > 4 and name.startswith("__") and name.endswith("__"):
        name = name[2:-2]
    return snake_case(name)


def qualified_name(function: Callable[..., Any]) -> str:
    """The dotted name under which users find a function or class.

    Examples
    --------
    >>> import operator, pyqref
    >>> qualified_name(pyqref.add), qualified_name(pyqref.nn.functional.relu)
    ('pyqref.add', 'pyqref.nn.functional.relu')
    >>> qualified_name(operator.add), qualified_name(getattr)
    ('operator.add', 'builtins.getattr')
    """
    if isinstance(function, Operator):
        return f"pyqref.ops.{function.name.replace('::', '.')}"
    own = getattr(function, "__name__", repr(function))
    name = str(getattr(function, "__qualname__", None) or own)
    module = getattr(function, "__module__", None) or ""
    if module == "_operator":
        return f"operator.{name}"
    if module.split(".")[0] == "pyqref":
        for place in _public_places(module):
            if getattr(place, name, None) is function:
                return f"{place.__name__}.{name}"
    return f"{module}.{name}" if module else str(name)


def _public_places(module: str) -> list[ModuleType]:
    """The packages around a module, the most natural one for a user first."""
    parts = module.split(".")
    names = [".".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]
    if module.startswith("pyqref.tensor"):
        names.reverse()
    names.append(module)
    return [sys.modules[name] for name in names if name in sys.modules]


def importable(function: Callable[..., Any]) -> str | None:
    """The qualified name if generated code can simply use it, else None."""
    name = qualified_name(function)
    root = name.split(".")[0]
    if root not in _STANDARD and root != "pyqref":
        return None
    found: Any = sys.modules.get(root)
    for step in name.split(".")[1:]:
        found = getattr(found, step, None)
    return name if found is function or isinstance(function, Operator) else None
