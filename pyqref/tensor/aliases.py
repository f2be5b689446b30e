"""A second name of a function, which a graph can tell from the first."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar, cast

from .._insides.code_objects import twin_of

__all__ = ["alias", "canonical"]

Function = TypeVar("Function", bound=Callable[..., Any])


def alias(function: Function, name: str) -> Function:
    """Return the function under another name.

    It is an object of its own with the same code, so that a traced graph holds the name that the
    model calls, and so that conventions that treat two names differently can do so.

    Parameters
    ----------
    function
        A function of this library.
    name
        The other name.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.concat.__name__, pyqref.concat is pyqref.cat
    ('concat', False)
    """
    first = cast(FunctionType, function)
    second = twin_of(first, name)
    second.__doc__ = f"Alias of :func:`{first.__name__}`: {first.__doc__}"
    second._alias_of = first  # type: ignore[attr-defined]
    return cast(Function, second)


def canonical(function: Any) -> Any:
    """The function of which another one is an alias, or the function itself.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.tensor.aliases import canonical
    >>> canonical(pyqref.concat) is pyqref.cat, canonical(pyqref.cat) is pyqref.cat
    (True, True)
    """
    return (
        getattr(function, "_alias_of", function) if isinstance(function, FunctionType) else function
    )
