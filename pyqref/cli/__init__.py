"""The command line: ``pyqref demo``, ``pyqref kernels``."""

from .main import main as main

__all__ = ["main"]
