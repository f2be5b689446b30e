"""A package that is a function, too: ``pyqref.tensor``."""

from __future__ import annotations

from types import ModuleType
from typing import Any

__all__ = ["CallablePackage"]


class CallablePackage(ModuleType):
    """``pyqref.tensor`` names a package and its function ``tensor``: the package is callable.

    The name stands for the function; tools that import the package again, and so put it
    in the place of the function, do no harm.
    """

    def __call__(self, data: object, **options: Any) -> Any:
        return self.tensor(data, **options)
