"""Repair of float models that lose too much when they are quantized, one equation each."""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
