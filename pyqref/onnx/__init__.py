"""``torch.onnx`` for libraries that register operations there when they are imported.

Nothing here writes ONNX: :func:`pyqref.export.onnx` does, and ``torch.onnx.export`` says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._lazy import on_first_use
from . import symbolic_helper as symbolic_helper
from . import symbolic_opset11 as symbolic_opset11

__all__ = [
    "is_in_onnx_export",
    "register_custom_op_symbolic",
    "symbolic_helper",
    "symbolic_opset11",
]


def is_in_onnx_export() -> bool:
    """Return False: models are not exported to ONNX by tracing.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.onnx.is_in_onnx_export()
    False
    """
    return False


def register_custom_op_symbolic(
    symbolic_name: str, symbolic_fn: Callable[..., Any], opset_version: int
) -> None:
    """Accept how an operation would be written to ONNX; it is never used.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.onnx.register_custom_op_symbolic("mylib::halve", lambda graph, x: x, 11)
    """


if not TYPE_CHECKING:  # a type checker knows the names that are there
    __getattr__ = on_first_use(__name__)
