"""The command line: ``pyqref run``, ``check``, ``inspect``, ``explain``, ``verify`` and others."""

from .main import main as main

__all__ = ["main"]
