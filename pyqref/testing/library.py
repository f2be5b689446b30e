"""Functions of shared libraries, called through ctypes with the arguments of a case."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from os import PathLike, fspath
from typing import Any

import numpy as np

from .case import Case
from .operation import Arguments

__all__ = ["FromLibrary", "from_library"]

#: ``name``, ``name.size``, ``name.shape[0]``, ``name[0]``, each with an optional type.
_WORD = re.compile(r"(\w+)(\.size|\.ndim|\.shape\[(-?\d+)\]|\[(-?\d+)\])?(?:\s*:\s*(\w+))?")
_TYPES: dict[str, Any] = {
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    "size_t": ctypes.c_size_t,
    **{
        f"{sign}int{bits}": getattr(ctypes, f"c_{sign}int{bits}")
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
}


class FromLibrary:
    """A function of a shared library as :func:`pyqref.testing.check_implementation` calls it.

    Made by :func:`from_library`.

    Examples
    --------
    >>> import ctypes
    >>> from pyqref.testing import from_library
    >>> from_library(ctypes.CDLL(None), "memcpy", "y, x, x.size : size_t")
    <memcpy(y, x, x.size: size_t)>
    """

    def __init__(
        self, function: Any, name: str, words: list[tuple[str, str, str]], has_status: bool
    ) -> None:
        self._function, self._name, self._words = function, name, words
        self._has_status = has_status

    def answers(self, cases: list[Case]) -> list[Any]:
        """The result of each case, or what went wrong."""
        return [self._answer(case) for case in cases]

    def _answer(self, case: Case) -> Any:
        expected = case.expected
        y = np.zeros(expected.shape, expected.dtype)
        given: Arguments = {**case.arguments, "y": y}
        kept: list[Any] = []
        values = [self._value(word, given, case, kept) for word in self._words]
        code = self._function(*values)
        if self._has_status and code:
            return f"{self._name} returned {code}, not 0"
        return y

    def _value(self, word: tuple[str, str, str], given: Arguments, case: Case, kept: Any) -> Any:
        name, part, kind = word
        if name not in given:
            names = ", ".join((*case.arguments, "y"))
            raise TypeError(f"arguments names {name}; {case.operation} has {names}")
        value = given[name]
        if part:
            value = _part(name, value, part)
        if value is None:
            return ctypes.c_void_p(None)
        if isinstance(value, np.ndarray | tuple):
            dtype = np.int32 if isinstance(value, tuple) else None
            array = np.ascontiguousarray(value, dtype)
            if kind:
                array = array.astype(kind if kind not in ("float", "double") else _FLOATS[kind])
            kept.append(array)  # until the function has returned
            return ctypes.c_void_p(array.ctypes.data)
        if kind:
            is_real = kind in ("float", "double")
            return _TYPES[kind](float(value) if is_real else int(value))
        if isinstance(value, float | np.floating):
            return ctypes.c_float(float(value))
        return ctypes.c_int32(int(value))

    def __repr__(self) -> str:
        words = (
            f"{name}{part}" + (f": {kind}" if kind else "") for name, part, kind in self._words
        )
        return f"<{self._name}({', '.join(words)})>"


_FLOATS = {"float": np.float32, "double": np.float64}


def _part(name: str, value: Any, part: str) -> int:
    array = np.asarray(value)
    try:
        if part == ".size":
            return int(array.size)
        if part == ".ndim":
            return int(array.ndim)
        place = int(part[part.index("[") + 1 : -1])
        return int(array.shape[place]) if part.startswith(".shape") else int(array[place])
    except IndexError as error:
        raise TypeError(f"arguments asks for {name}{part}, but {name} is {value!r}") from error


def from_library(
    library: Any, function: str, arguments: str, *, has_status: bool = False
) -> FromLibrary:
    """A function of a shared library, to be checked.

    Parameters
    ----------
    library
        Path of the library, or what ``ctypes.CDLL`` gave.
    function
        Name of the function. It writes its result where ``y`` points to.
    arguments
        What to give it, in order, divided by commas: names of the arguments of a case, and ``y``.
        Arrays are given as pointers to their elements in C order, tuples as pointers to int32,
        None as a null pointer, other numbers as int32 or float. ``x.size``, ``x.ndim``,
        ``x.shape[0]`` and ``stride[0]`` are integers. A type after a colon converts: ``float``,
        ``double``, ``size_t``, ``int8`` to ``uint64``; of an array it is that of its elements.
    has_status
        Whether it returns an int, which is 0 if all went well. What else it returns is ignored.

    Returns
    -------
    FromLibrary
        To be given to :func:`check_implementation`.

    Raises
    ------
    OSError
        There is no such library.
    ValueError
        It has no such function, or the arguments cannot be read.

    Examples
    --------
    >>> import ctypes
    >>> from pyqref.testing import check_implementation, from_library
    >>> copy = from_library(ctypes.CDLL(None), "memcpy", "y, accumulator, y.size: size_t")
    >>> copy
    <memcpy(y, accumulator, y.size: size_t)>
    """
    loaded = library
    if isinstance(library, str | PathLike):
        loaded = ctypes.CDLL(fspath(library))
    try:
        found: Callable[..., Any] = getattr(loaded, function)
    except AttributeError as error:
        raise ValueError(
            f"function must be one of the library's, which has no {function!r}"
        ) from error
    words = []
    for each in arguments.split(","):
        matched = _WORD.fullmatch(each.strip())
        if matched is None or (matched[5] and matched[5] not in _TYPES):
            kinds = ", ".join(_TYPES)
            raise ValueError(
                "arguments must be names divided by commas, each with .size, .ndim, .shape[0] or "
                f"[0] if needed, and a type among {kinds} after a colon, got {each.strip()!r}"
            )
        words.append((matched[1], matched[2] or "", matched[5] or ""))
    return FromLibrary(found, function, words, has_status)
