"""Operations by namespace: ``quantized``, and those that users register.

``pyqref.ops.quantized`` has the operations of quantized tensors;
``pyqref.ops.mylib`` those that :func:`pyqref.library.register` put there.
"""

from __future__ import annotations

from typing import Any

from ..library import namespace
from . import quantized as quantized

__all__ = ["quantized"]


def __getattr__(name: str) -> Any:
    """A namespace of registered operations."""
    if name.startswith("__"):
        raise AttributeError(name)
    return namespace(name)
