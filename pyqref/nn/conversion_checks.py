"""What a layer must have to be converted; the error names the method and what it got."""

from __future__ import annotations

from typing import Any

from pyqref.tensor.arguments import described

from .modules import Module

__all__ = ["require_members"]


def require_members(cls: type, method: str, mod: Any, *members: str) -> None:
    """Raise unless ``mod`` is a module with all of ``members``.

    Parameters
    ----------
    cls, method
        The class whose method was called, and the method's name.
    mod
        What was passed.
    *members
        Names of parameters, buffers, methods or attributes that conversion reads.

    Raises
    ------
    TypeError
        It is no module, or a member is missing.
    """
    name = f"{cls.__module__}.{cls.__name__}.{method}"
    if not isinstance(mod, Module):
        raise TypeError(f"{name} takes a module, got {described(mod)}")
    for member in members:
        if not hasattr(mod, member):
            raise TypeError(
                f"{name} takes a layer with {', '.join(members)}; got {type(mod).__module__}."
                f"{type(mod).__name__}, which has no {member}"
            )
