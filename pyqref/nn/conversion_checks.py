"""Checks of a layer before its conversion, and of constructor arguments; errors name them."""

from __future__ import annotations

import math

from pyqref.tensor.arguments import as_integer, described

from .modules import Module

__all__ = ["require_members", "sizes_of"]

#: Elements of a weight; the kernels count them in 32 bits.
MOST_ELEMENTS = 2**31


def require_members(cls: type, method: str, mod: object, *members: str) -> None:
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


def sizes_of(name: str, **sizes: object) -> tuple[int, ...]:
    """The positive integers that make the shape of a weight, in the order given.

    Raises
    ------
    TypeError
        One is no integer.
    ValueError
        One is not positive, or the weight would have 2**31 elements.
    """
    found = tuple(as_integer(value, f"{name}: {label}", 1) for label, value in sizes.items())
    if math.prod(found) >= MOST_ELEMENTS:
        raise ValueError(
            f"{name}: {', '.join(sizes)} make a weight of 2**31 elements or more, got {found}"
        )
    return found
