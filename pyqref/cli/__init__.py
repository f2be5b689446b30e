"""The command line: ``pyqref demo``, ``pyqref kernels``, ``pyqref course``."""

from .main import main as main

__all__ = ["main"]
