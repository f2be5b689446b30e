"""Functional forms of the quantized layers; those that round take output parameters."""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
