"""Operations by namespace: ``quantized``, and those that users register.

``pyqref.ops.quantized`` has the operations of quantized tensors;
``pyqref.ops.mylib`` those that :func:`pyqref.library.register` put there.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..library import namespace
from . import quantized as quantized

if TYPE_CHECKING:
    from . import quantized_decomposed as quantized_decomposed

__all__ = ["load_library", "quantized", "quantized_decomposed"]


def load_library(path: str) -> None:
    """Refuse a compiled library of operations: it is written for torch's own compiled part.

    Raises
    ------
    OSError
        Always; libraries that can do without catch it.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.ops.load_library("lib.so")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    OSError: lib.so is compiled for torch itself; write the operation in Python and ...
    """
    raise OSError(
        f"{path} is compiled for torch itself; write the operation in Python and register it with "
        "pyqref.library.register('mylib::name')"
    )


def __getattr__(name: str) -> Any:
    """A namespace of registered operations."""
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "quantized_decomposed":
        return import_module(f".{name}", __name__)
    return namespace(name)
