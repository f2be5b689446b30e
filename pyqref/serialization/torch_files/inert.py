"""Inert descriptions of the values in a pickle.

Numbers, strings, lists and tuples stand for themselves. A name is a :class:`Named`, a call of
it a :class:`Call`, a dictionary :class:`Pairs`, a reference to bytes outside of the pickle a
:class:`Reference`. Nothing in this file imports, looks up or calls anything.
"""

from __future__ import annotations

import reprlib
from typing import Any

__all__ = ["Call", "Named", "Pairs", "Reference", "printable", "short"]

_REPR = reprlib.Repr()
_REPR.maxlevel = 3


def short(value: object) -> str:
    """A value of a file as errors show it; few levels, for tuples may double at each.

    Examples
    --------
    >>> short((1, (2, (3, (4,)))))
    '(1, (2, (...)))'
    """
    text = _REPR.repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def printable(text: str) -> str:
    r"""A text of a file as it may be printed: what steers a terminal is escaped.

    Examples
    --------
    >>> print(printable("fc.weight"), printable("a\x1b[2J"))
    fc.weight a\x1b[2J
    """
    return text if text.isprintable() else repr(text)[1:-1]


class Named:
    """A global name of a pickle, such as ``torch.FloatStorage``; only its text.

    Examples
    --------
    >>> Named("os", "system").text
    'os.system'
    """

    __slots__ = ("text",)

    def __init__(self, module: str, name: str) -> None:
        module = _RENAMED.get(module, module)
        self.text = f"{module}.{name}"


class Call:
    """A name with arguments, and the state that the pickle sets afterwards; it is not called."""

    __slots__ = ("args", "name", "state")

    def __init__(self, name: str, args: tuple[Any, ...]) -> None:
        self.name = name
        self.args = args
        self.state: Any = None


class Pairs:
    """A dictionary, as the list of its pairs; a state of it is kept beside them."""

    __slots__ = ("kind", "pairs", "state")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.pairs: list[tuple[Any, Any]] = []
        self.state: Any = None

    def get(self, key: str) -> object:
        """The value of a string key, the last one as in a dictionary; None if there is none."""
        return next((value for name, value in reversed(self.pairs) if name == key), None)


class Reference:
    """A persistent id: it names a storage outside of the pickle."""

    __slots__ = ("parts",)

    def __init__(self, parts: object) -> None:
        self.parts = parts


#: Names of modules in Python 2 and in older NumPy.
_RENAMED = {
    "__builtin__": "builtins",
    "copy_reg": "copyreg",
    "numpy.core.multiarray": "numpy._core.multiarray",
    "numpy.core.numeric": "numpy._core.numeric",
}
