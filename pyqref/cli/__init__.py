"""The command line: ``pyqref run``, ``check``, ``inspect``, ``demo``, ``kernels``, ``course``."""

from .main import main as main

__all__ = ["main"]
