"""The command line: ``pyqref demo``, ``kernels``, ``course``, ``inspect``."""

from .main import main as main

__all__ = ["main"]
