"""The command line: ``pyqref run``, ``check``, ``demo``, ``kernels``, ``course``."""

from .main import main as main

__all__ = ["main"]
