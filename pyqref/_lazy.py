"""Names of a package that are imported when they are first asked for.

So ``import pyqref`` takes the time of what a script uses, not of all there is. A package
imports such names under ``if TYPE_CHECKING``, where readers and type checkers find them as
any other, and says with ``__getattr__ = on_first_use(...)`` which module has which.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["on_first_use"]


def on_first_use(
    package: str, names: Mapping[str, Iterable[str]], modules: Iterable[str] = ()
) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package: Python calls it for names that are not there yet.

    Parameters
    ----------
    package
        Its ``__name__``.
    names
        For each module, as ``".elementwise"``, the names that the package has from it.
    modules
        Modules of the package that are such names themselves.
    """
    homes = {name: module for module, its_names in names.items() for name in its_names}
    whole = frozenset(modules)

    def found(name: str) -> Any:
        """Import what has the name, and keep it: the next use finds it at once."""
        if name in whole:
            return import_module(f".{name}", package)
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name], package), name)
        setattr(sys.modules[package], name, value)
        return value

    return found
