"""Errors of NumPy and Python, said again in the words of the function that was called.

A function checks what it can check cheaply. What it does not check ends in NumPy or in Python:
``'int' object has no attribute '_array'``. :func:`explained` turns such an error into one that
names the function, the argument, what came and what is accepted. It runs only after a failure, so
that a right call pays nothing for it: :func:`~pyqref.tensor.dispatch.apply` asks it for every
operation, and the modules whose functions take microseconds anyway end with
:func:`explain_errors`. The quick ones (sums, comparisons, views) check their tensor themselves,
since a wrapper would cost them several percent.

What pyqref raises itself passes untouched, and so does what the user's own code raises.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from types import FunctionType, TracebackType
from typing import Any

import numpy as np

from .._insides.bytecode import was_raised
from .._insides.numpy_errors import ERRORS, IGNORED
from .._typing import Function
from ..dtypes import dtype
from .arguments import described, refused_number
from .base import TensorBase
from .foreign import is_torch_tensor, kind_of

__all__ = ["RAW", "explain_errors", "explained", "explains_errors", "is_raw"]

RAW = (AttributeError, TypeError, ValueError, IndexError, ArithmeticError, KeyError)
"""Errors of NumPy and Python for arguments that they cannot take."""

_PACKAGE = os.path.dirname(os.path.dirname(__file__))
_NUMPY = (os.path.dirname(np.__file__), "numpy/")
#: Compiled files call themselves by a relative path.
_OURS = (_PACKAGE, "pyqref/", *_NUMPY)

#: Arguments that are tensors wherever they have these names.
_FIRST = frozenset({"input", "tensor", "condition", "mat1", "x1", "input1", "query", "elements"})
_TENSORS = frozenset(
    {
        *("other", "target", "weight", "bias", "index", "indices", "mask", "source", "src"),
        *("values", "value", "key", "x2", "input2", "mat2", "vec", "vec1", "vec2", "tensor1"),
        *("tensor2", "batch1", "batch2", "boundaries", "sorted_sequence", "running_mean"),
        *("running_var", "pos_weight", "out", "attn_mask", "key_padding_mask"),
        *("in_proj_weight", "in_proj_bias", "static_k", "static_v", "anchor", "positive"),
        *("negative", "test_elements", "end_values", "from_", "weights"),
        *("per_sample_weights"),
    }
)
_WORDS = {"bool": "True or False", "int": "an integer", "float": "a number", "str": "a text"}


def is_raw(error: BaseException) -> bool:
    """Return True if an error comes from NumPy or Python itself, not from a ``raise`` of pyqref.

    Examples
    --------
    >>> import pyqref
    >>> try:
    ...     pyqref.ones(2, 3).reshape(5)
    ... except RuntimeError as error:
    ...     is_raw(error)
    False
    """
    last: TracebackType | None = error.__traceback__
    if last is None:
        return False
    while last.tb_frame.f_code.co_filename.startswith(_OURS):
        if last.tb_next is None:
            break
        last = last.tb_next
    else:
        return False  # the user's own code stands between
    code = last.tb_frame.f_code
    if code.co_filename.startswith(_NUMPY):
        return True
    if code in _WRAPPERS:
        return False  # too many arguments, or too few
    return isinstance(error, AttributeError) or not was_raised(last)


def explained(
    name: str, given: Mapping[str, Any], error: Exception, kinds: Mapping[str, str] | None = None
) -> Exception:
    """An error that says which argument of a call is wrong; a raw one is the reason for it.

    Parameters
    ----------
    name
        The function that was called.
    given
        Its arguments by name.
    error
        What the call raised.
    kinds
        What an argument must be, by name: ``"int"``, ``"float"``, ``"bool"`` or ``"str"``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.trace(5)
    Traceback (most recent call last):
        ...
    TypeError: trace(): argument 'input' must be Tensor, not int
    """
    foreign = _foreign(name, given)
    if foreign is not None:
        return foreign
    for is_sure in (True, False):
        for argument, value in given.items():
            wanted = _wanted(argument, value, (kinds or {}).get(argument, ""), is_sure)
            if wanted == "Tensor":
                return TypeError(
                    f"{name}(): argument '{argument}' must be Tensor, not {kind_of(value)}"
                )
            if wanted:
                return TypeError(
                    f"{name}(): argument '{argument}' must be {wanted}, got {refused_number(value)}"
                )
    shown = ", ".join(f"{key}={described(value)}" for key, value in given.items())
    text = f"{name}() cannot take its arguments together: got {shown}"
    if isinstance(error, (ValueError, ArithmeticError)) and str(error):
        text = f"{text} ({str(error).splitlines()[0]})"
    if isinstance(error, (ArithmeticError, AttributeError, KeyError)):
        return ValueError(text)
    return next(each for each in (IndexError, ValueError, TypeError) if isinstance(error, each))(
        text
    )


def _foreign(name: str, given: Mapping[str, Any]) -> TypeError | None:
    """The error for a tensor of torch among the arguments, or in a list of them."""
    for argument, value in given.items():
        for each in value if isinstance(value, (list, tuple)) else (value,):
            if is_torch_tensor(each):
                return TypeError(
                    f"{name}(): argument '{argument}' must be Tensor, not {kind_of(each)}"
                )
    return None


def _wanted(argument: str, value: Any, kind: str, is_sure: bool) -> str:
    """Describe what an argument must be, if it is not; with doubtful cases unless ``is_sure``."""
    is_tensor = isinstance(value, TensorBase)
    if argument in _FIRST and not is_tensor:
        return "Tensor"
    if argument == "dtype" and not isinstance(value, (dtype, type(None))):
        return "a pyqref.dtype"
    if value is None or (is_tensor and argument in _TENSORS):
        return "" if is_sure or not kind else _WORDS[kind]
    if kind == "bool" and not isinstance(value, (bool, int, np.bool_)):
        return _WORDS[kind]
    if kind == "str" and not isinstance(value, str):
        return _WORDS[kind]
    if kind in ("int", "float") and isinstance(value, (list, tuple)):
        return "" if is_sure or _are_numbers(value) else "an integer or several"
    if kind == "int" and not isinstance(value, (int, np.integer)):
        return "" if is_sure and is_tensor else _WORDS[kind]
    if kind == "float" and not isinstance(value, (int, float, np.number)):
        return "" if is_sure and is_tensor else _WORDS[kind]
    if is_sure or is_tensor:
        return ""
    if argument in _TENSORS:
        return "Tensor"
    is_plain = isinstance(value, (bool, int, float, str, dtype, np.generic))
    is_list = isinstance(value, (list, tuple)) and _are_numbers(value)
    return "" if is_plain or is_list else "a tensor, a number or several of them"


def _are_numbers(values: Any) -> bool:
    return all(isinstance(each, (int, float, TensorBase, np.number)) for each in values)


@functools.cache
def _kinds(function: Callable[..., Any]) -> dict[str, str]:
    """The kinds of a function's arguments, from its annotations, else its defaults."""
    found: dict[str, str] = {}
    for each in inspect.signature(function).parameters.values():
        written = str(each.annotation).replace(" | None", "")
        if each.annotation is not each.empty and written in _WORDS:
            found[each.name] = written
        elif type(each.default).__name__ in _WORDS:
            found[each.name] = type(each.default).__name__
    return found


def _arguments(function: Callable[..., Any], args: Any, kwargs: Any) -> dict[str, Any]:
    """The arguments of a call that failed, by name."""
    return inspect.signature(function).bind(*args, **kwargs).arguments


def _refused_foreign(function: Callable[..., Any], args: Any, kwargs: Any) -> TypeError | None:
    """The error for a tensor of torch among the arguments of a call that failed."""
    if "torch" not in sys.modules:
        return None
    try:
        return _foreign(function.__name__, _arguments(function, args, kwargs))
    except TypeError:
        return None


def _better(
    function: Callable[..., Any], args: Any, kwargs: Any, error: Exception
) -> Exception | None:
    """Return a better error than the one that a call raised, or None if that is clear."""
    name = function.__name__
    if isinstance(error, MemoryError):
        return RuntimeError(f"{name}(): the memory does not suffice: {error}")
    if isinstance(error, RAW) and is_raw(error):
        return explained(name, _arguments(function, args, kwargs), error, _kinds(function))
    # Also of dtypes or shapes that do not fit: the reason may be another.
    return _refused_foreign(function, args, kwargs)


_FAILURES = (*RAW, RuntimeError, MemoryError)


def explains_errors(function: Function, quiet: bool = True) -> Function:
    """The function, whose raw errors name its arguments.

    Parameters
    ----------
    function
        What may be called with wrong arguments.
    quiet
        Whether NumPy is silent of overflows in it. A function whose arithmetic is done by
        :func:`~pyqref.tensor.dispatch.apply` need not ask for that, which takes a fifth of a
        microsecond.

    Examples
    --------
    >>> @explains_errors
    ... def double(input):
    ...     return input._array * 2
    >>> double.__name__
    'double'
    """

    @functools.wraps(function)
    def explaining(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except _FAILURES as error:
            better = _better(function, args, kwargs, error)
            if better is None:
                raise
            raise better from None

    @functools.wraps(function)
    def quietly(*args: Any, **kwargs: Any) -> Any:
        token = ERRORS.set(IGNORED)
        try:
            return function(*args, **kwargs)
        except _FAILURES as error:
            better = _better(function, args, kwargs, error)
            if better is None:
                raise
            raise better from None
        finally:
            ERRORS.reset(token)

    result: Any = quietly if quiet else explaining
    return result


_WRAPPERS = tuple([explains_errors(explained, quiet).__code__ for quiet in (True, False)])


def explain_errors(module: dict[str, Any], quiet: bool = True) -> None:
    """Let every function that a module defines for others explain its errors.

    Called at a module's end, before anyone imports from it, so that each function stays one object.

    Parameters
    ----------
    module
        Its ``globals()``.
    quiet
        As in :func:`explains_errors`.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.trace(5)
    Traceback (most recent call last):
        ...
    TypeError: trace(): argument 'input' must be Tensor, not int
    """
    made: dict[Any, Any] = {}
    for name, function in list(module.items()):
        is_own = isinstance(function, FunctionType) and function.__module__ == module["__name__"]
        if is_own and not name.startswith("_"):
            made[function] = made.get(function) or explains_errors(function, quiet)
            module[name] = made[function]
