"""A second name of a function, which a graph can tell from the first, and its in-place form."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, cast

from .._insides.code_objects import twin_of
from .._typing import Function

__all__ = ["alias", "canonical", "same_elements"]


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


def canonical(function: Callable[..., Any] | None) -> Any:
    """The function that an alias stands for, or the function itself.

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


def same_elements(function: Function) -> Function:
    """The in-place form of a view: the tensor itself takes the new shape."""

    def changed(input: Any, *args: Any) -> Any:
        result = function(input, *args)
        input._array = result._array
        if input.is_quantized:
            input._quantizer = result._quantizer  # whose axis went with the channels
        if not result.is_leaf:
            input._goes_to = result._goes_to
        return input

    changed.__name__ = changed.__qualname__ = f"{function.__name__}_"
    changed.__doc__ = f"In-place form of :func:`{function.__name__}`."
    result: Any = changed
    return result
