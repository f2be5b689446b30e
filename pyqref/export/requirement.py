"""The package ``onnx``, which only some users have."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

__all__ = ["require_onnx"]


def require_onnx(name: str) -> ModuleType:
    """Return the package ``onnx``.

    Parameters
    ----------
    name
        Of the function that needs it, for the message.

    Raises
    ------
    ImportError
        It is not installed; the message has the command that installs it.
    """
    try:
        for part in ("helper", "numpy_helper", "checker", "shape_inference"):
            import_module(f"onnx.{part}")
        return import_module("onnx")
    except ImportError as error:
        raise ImportError(
            f"{name} needs the package onnx, which is not installed; "
            "run: pip install 'pyqref[onnx]'"
        ) from error
