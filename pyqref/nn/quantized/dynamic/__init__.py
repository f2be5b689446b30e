"""Layers with a quantized weight that quantize their float input while running."""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
